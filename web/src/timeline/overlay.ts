// What lies on the rows of a timeline: names, ruler, what is selected, arrows of wakeups, changed settings.
import { shortly } from "../format.ts";
import { Frame } from "./frame.ts";
import { type Placed, RULER } from "./layout.ts";
import { lastUpTo, taskName } from "./model.ts";

/** Steps of an axis: 1, 2 or 5 of a power of ten. */
function tickStep(span: number, pixels: number): number {
  const rough = (span * 90) / pixels;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5, 10].find((step) => step * power >= rough) ?? 10);
}

export class Overlay extends Frame {
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
