// How one moves through a timeline: what is in view, kept inside of it.
import type { View } from "./layout.ts";

/** As close as one can look, nanoseconds. */
const LEAST = 200;

export function clamped(view: View, length: number): View {
  const span = Math.min(Math.max(view.to - view.from, Math.min(LEAST, length)), Math.max(length, 1));
  const from = Math.min(Math.max(view.from, 0), Math.max(length - span, 0));
  return { from, to: from + span };
}

/** So many times as close, with `at` where it is. */
export function zoomed(view: View, times: number, at: number, length: number): View {
  const factor = 1 / times;
  return clamped({ from: at - (at - view.from) * factor, to: at + (view.to - at) * factor }, length);
}

export function moved(view: View, by: number, length: number): View {
  return clamped({ from: view.from + by, to: view.to + by }, length);
}

export function around(time: number, width: number, length: number): View {
  return clamped({ from: time - width / 2, to: time + width / 2 }, length);
}
