// The rows of a timeline: slices of CPUs and tasks, interrupts, waits for locks, used-up budgets.
//
// Where slices are narrower than a pixel, a column of pixels shows how large a part of its time the row was
// busy, exactly: rows keep sums, so two look-ups give it. So a frame costs what it shows, however many events
// there are. Columns lie on multiples of their width in time: they do not flicker while one pans.
import { Frame } from "./frame.ts";
import type { Placed } from "./layout.ts";
import { lastUpTo, type Row, State, type Stretches, taskName } from "./model.ts";

/** Slices at least as wide, in pixels, are drawn one by one. */
const WIDE = 1.5;

export class Slices extends Frame {
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
