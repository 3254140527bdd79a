// Draws a stretch of a timeline.
//
// Where slices are narrower than a pixel, a column of pixels shows how large a part of its time the row was
// busy, exactly: rows keep sums, so two look-ups give it. So a frame costs what it shows, however many events
// there are. Columns lie on multiples of their width in time: they do not flicker while one pans.
import { shortly } from "../format.ts";
import type { Palette } from "./colours.ts";
import { type Layout, type Placed, RULER, type View } from "./layout.ts";
import { lastUpTo, type Row, State, type Stretches, type Timeline, taskName } from "./model.ts";

export interface Selected {
  kind: "cpu" | "task";
  number: number;
  /** A moment in the row. */
  time: number;
}

export interface Shown {
  arrows: boolean;
  locks: boolean;
  interrupts: boolean;
}

export interface Scene {
  timeline: Timeline;
  layout: Layout;
  view: View;
  /** Of the canvas, CSS pixels. */
  width: number;
  height: number;
  /** Room for names. */
  gutter: number;
  /** How far the rows are scrolled. */
  scroll: number;
  palette: Palette;
  selected: Selected | null;
  /** The task whose slices stand out; 0: all. */
  emphasised: number;
  shown: Shown;
  hover: { x: number; y: number } | null;
}

const FONT = "11px system-ui, sans-serif";
/** Slices at least as wide, in pixels, are drawn one by one. */
const WIDE = 1.5;

/** What decides how the slices look, but for where the view begins. */
interface Drawn {
  timeline: Timeline;
  layout: Layout;
  palette: Palette;
  from: number;
  span: number;
  width: number;
  height: number;
  gutter: number;
  scroll: number;
  emphasised: number;
  shown: string;
  ratio: number;
}

/** Keeps the slices of the last frame: who pans sees most of them again. */
export class Renderer {
  private readonly layer = document.createElement("canvas");
  private drawn: Drawn | null = null;

  draw(context: CanvasRenderingContext2D, asked: Scene, ratio: number): void {
    const scene = { ...asked, view: snapped(asked) };
    this.slices(scene, ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.layer, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const painter = new Painter(context, scene, scene.view);
    inParts(context, scene, (rows) => {
      rows.forEach((placed) => {
        painter.texts(placed);
      });
      painter.selection(rows);
      rows.forEach((placed) => {
        painter.label(placed);
      });
    });
    painter.border();
    painter.moments();
    if (scene.shown.arrows) {
      painter.arrows();
    }
    painter.ruler();
  }

  /** Brings the layer up to date: by as little as the view has moved, or anew. */
  private slices(scene: Scene, ratio: number): void {
    const { layer } = this;
    const { view, width, gutter, ...others } = scene;
    const now: Drawn = {
      timeline: others.timeline,
      layout: others.layout,
      palette: others.palette,
      from: view.from,
      span: view.to - view.from,
      width,
      height: others.height,
      gutter,
      scroll: others.scroll,
      emphasised: others.emphasised,
      shown: JSON.stringify(others.shown),
      ratio,
    };
    const context = layer.getContext("2d", { alpha: false })!;
    const before = this.drawn;
    this.drawn = now;
    const perPixel = now.span / (width - gutter);
    const by = before ? Math.round((now.from - before.from) / perPixel) : 0;
    const isMoved = before !== null && Math.abs(by) < width - gutter && isAlike(before, now);
    if (!isMoved) {
      layer.width = Math.round(width * ratio);
      layer.height = Math.round(now.height * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      paint(context, scene, view);
    } else if (by !== 0) {
      const [kept, copied] = [
        Math.round(gutter * ratio),
        Math.round((width - gutter - Math.abs(by)) * ratio),
      ];
      const shift = Math.round(by * ratio);
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.drawImage(
        layer,
        kept + Math.max(0, shift),
        0,
        copied,
        layer.height,
        kept + Math.max(0, -shift),
        0,
        copied,
        layer.height,
      );
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      // One column more: what is narrow at the seam may have been cut.
      const strip = (Math.abs(by) + 1) * perPixel;
      const shown =
        by > 0 ? { from: view.to - strip, to: view.to } : { from: view.from, to: view.from + strip };
      context.save();
      context.beginPath();
      const left = by > 0 ? width - Math.abs(by) - 1 : gutter;
      context.rect(left, 0, Math.abs(by) + 1, now.height);
      context.clip();
      paint(context, scene, shown);
      context.restore();
    }
  }
}

function isAlike(before: Drawn, now: Drawn): boolean {
  const keys = Object.keys(now) as (keyof Drawn)[];
  const isNear = Math.abs(before.span - now.span) < 1e-6 * now.span;
  return isNear && keys.every((key) => key === "from" || key === "span" || before[key] === now[key]);
}

/** The view moved to a multiple of a pixel: columns of pixels then lie on pixels, whatever one pans to. */
function snapped({ view, width, gutter }: Scene): View {
  const perPixel = (view.to - view.from) / (width - gutter);
  const by = Math.round(view.from / perPixel) * perPixel - view.from;
  return { from: view.from + by, to: view.to + by };
}

/** The rows that stay in place, and those that are scrolled, each in its part of the canvas. */
function inParts(context: CanvasRenderingContext2D, scene: Scene, act: (rows: Placed[]) => void): void {
  const { layout, width, height, scroll } = scene;
  const isPinned = ({ top }: Placed) => top < layout.pinned;
  const isSeen = ({ top, height: h }: Placed) => top + h - scroll > layout.pinned && top - scroll < height;
  const scrolled = layout.placed.filter((placed) => !isPinned(placed) && isSeen(placed));
  for (const [rows, from, to] of [
    [scrolled, layout.pinned, height],
    [layout.placed.filter(isPinned), RULER, layout.pinned],
  ] as const) {
    context.save();
    context.beginPath();
    context.rect(0, from, width, to - from);
    context.clip();
    act(rows);
    context.restore();
  }
}

/** The slices of a stretch of what is in view. */
function paint(context: CanvasRenderingContext2D, scene: Scene, range: View): void {
  context.fillStyle = scene.palette.back;
  context.fillRect(0, 0, scene.width, scene.height);
  const painter = new Painter(context, scene, range);
  inParts(context, scene, (rows) => {
    rows.forEach((placed) => {
      painter.row(placed);
    });
    painter.throttles(rows);
  });
}

/** Steps of an axis: 1, 2 or 5 of a power of ten. */
export function tickStep(span: number, pixels: number): number {
  const rough = (span * 90) / pixels;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5, 10].find((step) => step * power >= rough) ?? 10);
}

class Painter {
  private readonly c: CanvasRenderingContext2D;
  private readonly s: Scene;
  private readonly perPixel: number;
  private readonly right: number;
  /** The part of the view that is drawn. */
  private readonly range: View;

  constructor(context: CanvasRenderingContext2D, scene: Scene, range: View) {
    this.range = range;
    this.c = context;
    this.s = scene;
    this.right = scene.width;
    this.perPixel = (scene.view.to - scene.view.from) / (scene.width - this.s.gutter);
    context.font = FONT;
    context.textBaseline = "middle";
  }

  private x(time: number): number {
    return this.s.gutter + (time - this.s.view.from) / this.perPixel;
  }

  private y(placed: Placed): number {
    return this.s.layout.y(placed, this.s.scroll);
  }

  row(placed: Placed): void {
    const { timeline, shown } = this.s;
    const { kind, number } = placed.lane;
    if (kind === "cpu") {
      this.slices(placed, timeline.cpus[number], 3, placed.height - 6);
      if (shown.interrupts) {
        this.strip(placed, timeline.interrupts, number, 1, 2, this.s.palette.interrupt);
      }
      if (shown.locks) {
        this.strip(placed, timeline.locks, number, placed.height - 3, 3, this.s.palette.lock);
      }
    } else {
      this.slices(placed, timeline.tasks[number], 2, placed.height - 4);
    }
    this.c.fillStyle = this.s.palette.line;
    this.c.fillRect(0, this.y(placed) + placed.height - 0.5, this.right, 0.5);
  }

  /** The slices of a row: one by one where they are wide, else by columns of pixels. */
  private slices(placed: Placed, row: Row, inset: number, height: number): void {
    const view = this.range;
    const { starts, keys } = row;
    const top = this.y(placed) + inset;
    const wide = WIDE * this.perPixel;
    const end = keys.length;
    let i = Math.max(0, lastUpTo(starts, view.from, 0, end));
    const isCpu = placed.lane.kind === "cpu";
    while (i < end && starts[i] < view.to) {
      const length = starts[i + 1] - starts[i];
      if (length >= wide) {
        this.wideSlice(row, i, isCpu, top, height);
        i += 1;
        continue;
      }
      // As far as no wide slice comes.
      let j = i + 1;
      const limit = Math.min(end, i + 64);
      while (j < limit && starts[j + 1] - starts[j] < wide && starts[j] < view.to) {
        j += 1;
      }
      const reach = j === limit ? this.narrowUntil(row, j, wide) : j;
      i = this.columns(row, i, reach, isCpu, top, height);
    }
  }

  /** The first slice from `i` on that is wide, found by columns: what lies in one column is not looked at. */
  private narrowUntil(row: Row, from: number, wide: number): number {
    const { starts, keys } = row;
    let i = from;
    while (i < keys.length && starts[i] < this.range.to && starts[i + 1] - starts[i] < wide) {
      // Whatever begins and ends within the next column is narrow.
      i = Math.max(i + 1, gallop(starts, i, starts[i] + wide, keys.length));
    }
    return i;
  }

  private wideSlice(row: Row, i: number, isCpu: boolean, top: number, height: number): void {
    const { palette, emphasised } = this.s;
    const key = row.keys[i];
    const left = Math.max(this.s.gutter, Math.round(this.x(row.starts[i])));
    const right = Math.min(this.right, Math.round(this.x(row.starts[i + 1])));
    if (right <= left) {
      return;
    }
    if (isCpu) {
      if (key === 0) {
        return;
      }
      this.c.fillStyle = (emphasised === 0 || key === emphasised ? palette.tasks : palette.dimmed)[key];
      this.c.fillRect(left, top, right - left - (right - left > 3 ? 0.5 : 0), height);
      return;
    }
    if (key === State.absent) {
      return;
    }
    this.c.fillStyle = palette.states[key];
    const thin = key === State.sleeping || key === State.blocked;
    const inset = thin ? height / 2 - 1.5 : 0;
    this.c.fillRect(left, top + inset, right - left, height - 2 * inset);
  }

  /** The names in slices that have room for them. */
  texts(placed: Placed): void {
    const { timeline, palette, gutter, view, emphasised } = this.s;
    const { kind, number } = placed.lane;
    const row = kind === "cpu" ? timeline.cpus[number] : timeline.tasks[number];
    const wide = (kind === "cpu" ? 26 : 38) * this.perPixel;
    const colour = palette.dark ? "#0b0f14" : "#ffffff";
    let i = Math.max(0, lastUpTo(row.starts, view.from, 0, row.keys.length));
    while (i < row.keys.length && row.starts[i] < view.to) {
      if (row.starts[i + 1] - row.starts[i] < wide) {
        i = Math.max(i + 1, gallop(row.starts, i, row.starts[i] + wide, row.keys.length));
        continue;
      }
      const left = Math.max(gutter, this.x(row.starts[i]));
      const right = Math.min(this.right, this.x(row.starts[i + 1]));
      const middle = this.y(placed) + placed.height / 2;
      const key = row.keys[i];
      const standsOut = emphasised === 0 || key === emphasised;
      if (kind === "cpu" && key !== 0) {
        this.text(
          taskName(timeline.head.tasks[key]),
          left,
          right,
          middle,
          standsOut ? colour : palette.faint,
        );
      } else if (kind === "task" && key === State.running && row.cpus) {
        this.text(`CPU ${row.cpus[i]}`, left, right, middle, colour);
      }
      i += 1;
    }
  }

  private text(text: string, left: number, right: number, y: number, colour: string): void {
    this.c.fillStyle = colour;
    const room = right - left - 8;
    // Some six pixels a letter; measuring each would cost more than drawing.
    const letters = Math.floor(room / 6);
    if (letters >= 2) {
      this.c.fillText(
        text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text,
        left + 4,
        y + 0.5,
        room,
      );
    }
  }

  /** Narrow slices from `i` to before `end`, column by column of pixels. Returns the slice that comes next. */
  private columns(row: Row, i: number, end: number, isCpu: boolean, top: number, height: number): number {
    const { palette, emphasised } = this.s;
    const view = this.range;
    const { starts, busy, waited, keys } = row;
    const step = this.perPixel;
    const until = Math.min(starts[end], view.to);
    let column = Math.floor(Math.max(starts[i], view.from) / step);
    const first = Math.max(starts[i], column * step);
    let at = gallop(starts, i, first, end);
    let ran = sumAt(starts, busy, at, first);
    let late = waited ? sumAt(starts, waited, at, first) : 0;
    // Equal neighbours are one rectangle.
    let [left, right, part, latePart] = [this.x(first), this.x(first), -1, -1];
    let colour = palette.states[State.running];
    for (; column * step < until; column += 1) {
      const from = Math.max(first, column * step);
      const to = Math.min(starts[end], (column + 1) * step);
      if (to <= from) {
        continue;
      }
      let nextColour = colour;
      if (isCpu) {
        at = gallop(starts, at, (from + to) / 2, end);
        // Of an idle middle, the one that comes next.
        const who = keys[at] !== 0 || at + 1 >= keys.length ? keys[at] : keys[at + 1];
        nextColour = (emphasised === 0 || who === emphasised ? palette.tasks : palette.dimmed)[who];
      }
      at = gallop(starts, at, to, end);
      const ranNow = sumAt(starts, busy, at, to);
      const lateNow = waited ? sumAt(starts, waited, at, to) : 0;
      const nextPart = Math.ceil(((ranNow - ran) / (to - from)) * 12 - 0.01) / 12;
      const nextLate = Math.ceil(((lateNow - late) / (to - from)) * 12 - 0.01) / 12;
      if (nextPart !== part || nextLate !== latePart || nextColour !== colour) {
        this.column(left, right, top, height, colour, part, latePart, isCpu);
        [left, part, latePart, colour] = [this.x(from), nextPart, nextLate, nextColour];
      }
      [ran, late, right] = [ranNow, lateNow, this.x(to)];
    }
    this.column(left, right, top, height, colour, part, latePart, isCpu);
    return starts[end] <= view.to ? end : keys.length;
  }

  private column(
    l: number,
    r: number,
    top: number,
    height: number,
    colour: string,
    busy: number,
    late: number,
    isCpu: boolean,
  ): void {
    const left = Math.max(this.s.gutter, Math.round(l));
    const width = Math.min(this.right, Math.round(r)) - left;
    if (width <= 0 || busy < 0) {
      return;
    }
    const { palette } = this.s;
    if (!isCpu && busy < 1 && late < 1) {
      this.c.fillStyle = palette.states[State.sleeping];
      this.c.fillRect(left, top + height / 2 - 1.5, width, 3);
    }
    const h = height * busy;
    this.c.fillStyle = colour;
    this.c.fillRect(left, top + height - h, width, h);
    if (late > 0) {
      const above = Math.min(height - h, height * late);
      this.c.fillStyle = palette.states[State.preempted];
      this.c.fillRect(left, top + height - h - above, width, above);
    }
  }

  /** Stretches as a strip along the row of a CPU: at most one rectangle for each pixel. */
  private strip(
    placed: Placed,
    all: Stretches,
    cpu: number,
    inset: number,
    height: number,
    colour: string,
  ): void {
    const [first, end] = [all.first[cpu], all.first[cpu + 1]];
    const top = this.y(placed) + inset;
    this.c.fillStyle = colour;
    let i = lastUpTo(all.until, this.range.from, first, end) + 1;
    while (i < end && all.from[i] < this.range.to) {
      const left = Math.max(this.s.gutter, this.x(all.from[i]));
      const right = Math.min(this.right, Math.max(left + 1, this.x(all.until[i])));
      this.c.fillRect(left, top, right - left, height);
      // Those that end within this pixel are under it.
      i = Math.max(
        i + 1,
        gallop(all.until, i, this.s.view.from + (right - this.s.gutter) * this.perPixel, end),
      );
    }
  }

  /** A band along the CPUs on which somebody has used up a budget. */
  throttles(rows: readonly Placed[]): void {
    const { throttles } = this.s.timeline;
    this.c.fillStyle = this.s.palette.states[State.throttled];
    for (let i = 0; i < throttles.from.length; i += 1) {
      if (throttles.cpu[i] < 0 || throttles.until[i] < this.range.from || throttles.from[i] > this.range.to) {
        continue;
      }
      const placed = rows.find(({ lane }) => lane.kind === "cpu" && lane.number === throttles.cpu[i]);
      if (placed) {
        const left = Math.max(this.s.gutter, this.x(throttles.from[i]));
        const right = Math.min(this.right, Math.max(left + 1, this.x(throttles.until[i])));
        this.c.fillRect(left, this.y(placed) + placed.height - 8, right - left, 4);
      }
    }
  }

  border(): void {
    const { layout, palette, width } = this.s;
    if (layout.pinned > RULER) {
      this.c.fillStyle = palette.line;
      this.c.fillRect(0, layout.pinned - 2, width, 2);
    }
  }

  /** Settings that changed, over all rows. */
  moments(): void {
    const { settings } = this.s.timeline.head;
    for (const { time_ns: time, text } of settings) {
      const x = this.x(time);
      if (x >= this.s.gutter && x <= this.right) {
        this.c.fillStyle = this.s.palette.accent;
        this.c.fillRect(x, RULER, 1, this.s.height);
        this.c.fillText(text, x + 4, RULER + 8);
      }
    }
  }

  /** From who woke to who ran: those of the selected task, or all where few are in view. */
  arrows(): void {
    const { timeline, view, emphasised, layout, palette } = this.s;
    const { wakeups } = timeline;
    // A wakeup in view may have begun before it.
    let i = Math.max(0, lastUpTo(wakeups.at, view.from - (view.to - view.from)) + 1);
    const end = lastUpTo(wakeups.at, view.to) + 1;
    const most = emphasised === 0 ? 60 : 600;
    if (end - i > 60_000) {
      return;
    }
    const drawn: number[] = [];
    for (; i < end; i += 1) {
      const isMeant = emphasised === 0 || wakeups.task[i] === emphasised || wakeups.waker[i] === emphasised;
      // Of all tasks only those that begin in view, too: long ones would cover the rest.
      const isWhole = emphasised !== 0 || wakeups.at[i] >= view.from;
      if (
        isMeant &&
        isWhole &&
        wakeups.ran[i] >= view.from &&
        (wakeups.ran[i] - wakeups.at[i]) / this.perPixel > 2
      ) {
        drawn.push(i);
      }
    }
    if (drawn.length > most) {
      return;
    }
    this.c.strokeStyle = palette.arrow;
    this.c.fillStyle = palette.arrow;
    this.c.lineWidth = 1.2;
    this.c.globalAlpha = emphasised === 0 ? 0.45 : 0.9;
    for (const n of drawn) {
      const from = layout.of("cpu", wakeups.fromCpu[n]);
      const to = layout.of("cpu", wakeups.onCpu[n]);
      if (from && to) {
        this.arrow(
          this.x(wakeups.at[n]),
          this.y(from) + from.height / 2,
          this.x(wakeups.ran[n]),
          this.y(to) + to.height / 2,
        );
      }
    }
    this.c.globalAlpha = 1;
  }

  private arrow(x0: number, y0: number, x1: number, y1: number): void {
    const bend = Math.min(40, Math.max(8, (x1 - x0) / 2));
    this.c.save();
    this.c.beginPath();
    this.c.rect(this.s.gutter, RULER, this.right - this.s.gutter, this.s.height);
    this.c.clip();
    this.c.beginPath();
    this.c.moveTo(x0, y0);
    const lift = y0 === y1 ? -12 : 0;
    this.c.bezierCurveTo(x0 + bend, y0 + lift, x1 - bend, y1 + lift, x1, y1);
    this.c.stroke();
    this.c.beginPath();
    this.c.moveTo(x1, y1);
    this.c.lineTo(x1 - 6, y1 - 3);
    this.c.lineTo(x1 - 6, y1 + 3);
    this.c.fill();
    this.c.beginPath();
    this.c.arc(x0, y0, 2, 0, 7);
    this.c.fill();
    this.c.restore();
  }

  selection(rows: readonly Placed[]): void {
    const { selected, layout, palette, hover, timeline } = this.s;
    if (selected) {
      const x = this.x(selected.time);
      if (x >= this.s.gutter) {
        this.c.fillStyle = palette.accent;
        this.c.globalAlpha = 0.6;
        this.c.fillRect(x - 0.5, RULER, 1, this.s.height);
        this.c.globalAlpha = 1;
      }
      const placed = layout.of(selected.kind, selected.number);
      if (placed && rows.includes(placed)) {
        const row =
          selected.kind === "cpu" ? timeline.cpus[selected.number] : timeline.tasks[selected.number];
        const i = Math.max(0, lastUpTo(row.starts, selected.time, 0, row.keys.length));
        const left = Math.max(this.s.gutter, this.x(row.starts[i]) - 1);
        const right = Math.min(this.right - 1, Math.max(this.x(row.starts[i + 1]) + 1, left + 3));
        if (right > left) {
          this.c.strokeStyle = palette.text;
          this.c.lineWidth = 1.5;
          this.c.strokeRect(left, this.y(placed) + 1, right - left, placed.height - 2);
        }
      }
    }
    if (hover && hover.x > this.s.gutter) {
      this.c.fillStyle = palette.faint;
      this.c.fillRect(hover.x, RULER, 0.5, this.s.height);
    }
  }

  label(placed: Placed): void {
    const { timeline, palette, selected } = this.s;
    const { kind, number } = placed.lane;
    const y = this.y(placed);
    const isSelected = selected?.kind === kind && selected.number === number;
    this.c.fillStyle = isSelected ? palette.accent : palette.gutter;
    this.c.fillRect(0, y, this.s.gutter - 1, placed.height - 0.5);
    this.c.fillStyle = isSelected ? palette.back : palette.text;
    const middle = y + placed.height / 2 + 0.5;
    if (kind === "cpu") {
      this.c.fillText(`CPU ${number}`, 10, middle);
      return;
    }
    const task = timeline.head.tasks[number];
    if (!isSelected) {
      this.c.fillStyle = palette.tasks[number];
      this.c.fillRect(4, y + 3, 3, placed.height - 6);
      this.c.fillStyle = palette.text;
    }
    const pid = String(task.pid);
    const room = this.s.gutter - 24 - 6.2 * pid.length;
    const name = taskName(task);
    const letters = Math.floor(room / 6);
    this.c.fillText(name.length > letters ? `${name.slice(0, letters - 1)}…` : name, 12, middle, room);
    this.c.fillStyle = isSelected ? palette.back : palette.faint;
    this.c.textAlign = "right";
    this.c.fillText(pid, this.s.gutter - 8, middle);
    this.c.textAlign = "left";
  }

  ruler(): void {
    const { view, palette, width, timeline } = this.s;
    this.c.fillStyle = palette.gutter;
    this.c.fillRect(0, 0, width, RULER);
    this.c.fillStyle = palette.line;
    this.c.fillRect(0, RULER - 1, width, 1);
    const step = tickStep(view.to - view.from, width - this.s.gutter);
    const zero = timeline.head.start_ns;
    // Where ticks are close for how late they are, they count from a moment that stands on the left.
    const first = Math.ceil((view.from + zero) / step) * step;
    const base = step * 2000 < first ? Math.floor((view.from + zero) / (step * 1000)) * step * 1000 : 0;
    this.c.fillStyle = palette.text;
    this.c.fillText(base > 0 ? `${shortly10(base)} +` : "", 10, RULER / 2);
    for (let time = first; time <= view.to + zero; time += step) {
      const x = this.x(time - zero);
      this.c.fillStyle = palette.line;
      this.c.fillRect(x, RULER - 8, 1, 8);
      this.c.fillStyle = palette.faint;
      if (x + 60 < width) {
        this.c.fillText(shortly(Math.round(time - base)), x + 4, RULER / 2);
      }
    }
  }
}

/** A moment with all its digits, in the unit that suits. */
function shortly10(ns: number): string {
  const [scale, unit] = ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  return `${Number((ns / scale).toPrecision(12))} ${unit}`;
}

/** The last slice that begins at or before a time, looked for from `from` on in growing steps. */
function gallop(starts: Float64Array, from: number, time: number, end: number): number {
  let step = 1;
  let low = from;
  while (low + step < end && starts[low + step] <= time) {
    low += step;
    step *= 2;
  }
  return Math.max(from, lastUpTo(starts, time, low, Math.min(end, low + step + 1)));
}

function sumAt(starts: Float64Array, sums: Float64Array, i: number, time: number): number {
  const lasts = starts[i + 1] - starts[i];
  const part = lasts > 0 ? Math.min(1, Math.max(0, (time - starts[i]) / lasts)) : 0;
  return sums[i] + (sums[i + 1] - sums[i]) * part;
}
