// A place in the page's timelines as the part of an address behind #: `t=1.25s&w=2ms&task=1001`.

export interface Place {
  /** The middle of what is shown, nanoseconds on the reader's clock. */
  time: number | null;
  /** How much is shown, nanoseconds. */
  width: number | null;
  /** Pid of the selected task. */
  task: number | null;
  cpu: number | null;
  /** The selected moment. */
  at: number | null;
  /** Number of the timeline, from 0. */
  timeline: number | null;
}

const UNITS: Record<string, number> = { s: 1e9, ms: 1e6, us: 1e3, ns: 1 };

function span(text: string | null): number | null {
  const found = /^(-?\d+(?:\.\d+)?)(s|ms|us|ns)?$/.exec(text ?? "");
  // Without a unit: seconds.
  return found ? Math.round(Number(found[1]) * UNITS[found[2] ?? "s"]) : null;
}

function whole(text: string | null): number | null {
  return text !== null && /^-?\d+$/.test(text) ? Number(text) : null;
}

export function parsePlace(hash: string): Place {
  const of = new URLSearchParams(hash.replace(/^#/, ""));
  return {
    time: span(of.get("t")),
    width: span(of.get("w")),
    task: whole(of.get("task")),
    cpu: whole(of.get("cpu")),
    at: span(of.get("at")),
    timeline: whole(of.get("timeline")),
  };
}

/** A time without rounding. */
function exact(ns: number): string {
  const rounded = Math.round(ns);
  const [unit, scale] = (Object.entries(UNITS) as [string, number][]).find(
    ([, scale]) => rounded % scale === 0,
  )!;
  return `${rounded / scale}${unit}`;
}

export function placeText(place: Partial<Place>): string {
  const parts: string[] = [];
  const say = (name: string, value: string | null) => {
    if (value !== null) {
      parts.push(`${name}=${value}`);
    }
  };
  const time = (value: number | null | undefined) =>
    value === null || value === undefined ? null : exact(value);
  const number = (value: number | null | undefined) =>
    value === null || value === undefined ? null : String(value);
  say("t", time(place.time));
  say("w", time(place.width));
  say("task", number(place.task));
  say("cpu", number(place.cpu));
  say("at", time(place.at));
  say("timeline", place.timeline ? String(place.timeline) : null);
  return `#${parts.join("&")}`;
}
