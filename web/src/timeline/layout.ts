// What stands where: rows from top to bottom, times from left to right.
import { command, type Timeline } from "./model.ts";

/** Room for the names of rows, on a canvas of this width. */
export function gutterOf(width: number): number {
  return width < 560 ? 96 : 148;
}

export const RULER = 30;
export const CPU_HEIGHT = 24;
export const TASK_HEIGHT = 17;
export const GAP = 10;

export type Lane = { kind: "cpu"; number: number } | { kind: "task"; number: number };

export interface Placed {
  lane: Lane;
  top: number;
  height: number;
}

/** A stretch of time on so many pixels. */
export interface View {
  from: number;
  to: number;
}

/** CPUs, then tasks: those of one command together, those that ran most first. */
export function lanes(timeline: Timeline): Lane[] {
  const ran = timeline.tasks.map((row) => row.busy[row.busy.length - 1]);
  const byCommand = new Map<string, number>();
  timeline.head.tasks.forEach((task, number) => {
    byCommand.set(command(task), (byCommand.get(command(task)) ?? 0) + ran[number]);
  });
  const shown = timeline.tasks
    .map((_, number) => number)
    .filter((number) => number > 0 && isSeen(timeline, number));
  const of = (number: number) => command(timeline.head.tasks[number]);
  shown.sort(
    (a, b) =>
      byCommand.get(of(b))! - byCommand.get(of(a))! || (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0) || a - b,
  );
  return [
    ...timeline.cpus.map((_, number) => ({ kind: "cpu", number }) as const),
    ...shown.map((number) => ({ kind: "task", number }) as const),
  ];
}

/** Whether anything is known of the task in this stretch. */
function isSeen(timeline: Timeline, number: number): boolean {
  const row = timeline.tasks[number];
  return row.keys.length > 1 || row.keys[0] !== 0;
}

/** As many CPUs stay in place while the tasks below them are scrolled. */
const MOST_PINNED = 12;

export class Layout {
  readonly placed: Placed[] = [];
  readonly height: number;
  /** Where the rows begin that are scrolled. */
  readonly pinned: number;
  private readonly places = new Map<string, Placed>();

  constructor(all: Lane[]) {
    let top = RULER;
    let last: Lane["kind"] = "cpu";
    for (const lane of all) {
      top += lane.kind === last ? 0 : GAP;
      last = lane.kind;
      const height = lane.kind === "cpu" ? CPU_HEIGHT : TASK_HEIGHT;
      const placed = { lane, top, height };
      this.placed.push(placed);
      this.places.set(`${lane.kind}${lane.number}`, placed);
      top += height;
    }
    this.height = top + GAP;
    const cpus = all.filter(({ kind }) => kind === "cpu").length;
    this.pinned = cpus <= MOST_PINNED ? RULER + cpus * CPU_HEIGHT + GAP / 2 : RULER;
  }

  /** Where a row stands on the canvas. */
  y(placed: Placed, scroll: number): number {
    return placed.top < this.pinned ? placed.top : placed.top - scroll;
  }

  of(kind: Lane["kind"], number: number): Placed | undefined {
    return this.places.get(`${kind}${number}`);
  }

  /** The row at a height of the canvas. */
  at(y: number, scroll: number): Placed | undefined {
    const of = y < this.pinned ? y : y + scroll;
    return this.placed.find(({ top, height }) => of >= top && of < top + height);
  }
}
