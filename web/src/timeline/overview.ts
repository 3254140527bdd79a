// The whole timeline on a strip: how busy the CPUs are, how many tasks wait, and what is in view.
import type { Palette } from "./colours.ts";
import type { View } from "./layout.ts";
import { before, State, type Timeline } from "./model.ts";

/** Averages over equal stretches. */
export interface Series {
  step: number;
  /** Share of all CPUs, 0 to 1. */
  busy: Float64Array;
  /** Tasks that wait for a CPU. */
  waiting: Float64Array;
}

export function series(timeline: Timeline, steps: number): Series {
  const step = timeline.length / steps;
  const busy = new Float64Array(steps);
  const waiting = new Float64Array(steps);
  const add = (to: Float64Array, row: Timeline["cpus"][number], sums: Float64Array, parts: number) => {
    let last = 0;
    for (let i = 0; i < steps; i += 1) {
      const next = before(row, sums, (i + 1) * step);
      to[i] += (next - last) / (step * parts);
      last = next;
    }
  };
  for (const row of timeline.cpus) {
    add(busy, row, row.busy, timeline.cpus.length);
  }
  for (const row of timeline.tasks) {
    if (row.waited && row.waited[row.waited.length - 1] > 0) {
      add(waiting, row, row.waited, 1);
    }
  }
  return { step, busy, waiting };
}

export function drawOverview(
  context: CanvasRenderingContext2D,
  of: Series,
  length: number,
  view: View,
  palette: Palette,
  width: number,
  height: number,
  gutter: number,
): void {
  const w = width - gutter;
  const most = Math.max(1, ...of.waiting);
  context.fillStyle = palette.gutter;
  context.fillRect(0, 0, width, height);
  context.fillStyle = palette.back;
  context.fillRect(gutter, 0, w, height);
  const n = of.busy.length;
  for (let i = 0; i < n; i += 1) {
    const left = gutter + (i * w) / n;
    const h = of.busy[i] * (height - 4);
    context.fillStyle = palette.states[State.running];
    context.fillRect(left, height - h, w / n + 0.5, h);
  }
  context.strokeStyle = palette.states[State.preempted];
  context.lineWidth = 1.5;
  context.beginPath();
  for (let i = 0; i < n; i += 1) {
    context.lineTo(gutter + ((i + 0.5) * w) / n, height - 2 - (of.waiting[i] / most) * (height - 6));
  }
  context.stroke();
  const left = gutter + (view.from / length) * w;
  const right = gutter + (view.to / length) * w;
  context.fillStyle = palette.gutter;
  context.globalAlpha = 0.65;
  context.fillRect(gutter, 0, left - gutter, height);
  context.fillRect(right, 0, width - right, height);
  context.globalAlpha = 1;
  context.strokeStyle = palette.accent;
  context.strokeRect(left + 0.5, 0.5, Math.max(2, right - left - 1), height - 1);
  context.fillStyle = palette.text;
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.fillText("all of it", 10, height / 2 - 7);
  context.fillStyle = palette.faint;
  context.fillText("busy, and waiting", 10, height / 2 + 7);
}
