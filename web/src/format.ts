// Numbers as people read them.
import type { Cell, Unit } from "./content.ts";

const STEPS: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

function digits(number: number): string {
  const size = Math.abs(number);
  return number.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

/** A duration to three digits: `12.4 µs`. */
export function duration(ns: number): string {
  if (ns === 0) {
    return "0";
  }
  const [scale, unit] = STEPS.find(([scale]) => Math.abs(ns) >= 0.9995 * scale) ?? [1, "ns"];
  const number = ns / scale;
  return `${unit === "ns" && Number.isInteger(number) ? number : digits(number)} ${unit}`;
}

/** A duration on an axis: as short as its value allows. */
export function shortly(ns: number): string {
  if (ns === 0) {
    return "0";
  }
  const [scale, unit] = STEPS.find(([scale]) => Math.abs(ns) >= 0.9995 * scale) ?? [1, "ns"];
  return `${Number((ns / scale).toPrecision(4))} ${unit}`;
}

/** A duration to the nanosecond: `1 007.837 µs`. */
export function precisely(ns: number): string {
  const whole = Math.round(ns);
  const text =
    whole < 1000
      ? `${whole} ns`
      : `${count(Math.floor(whole / 1000))}.${String(whole % 1000).padStart(3, "0")} µs`;
  return text.replaceAll(" ", "\u00a0");
}

/** A moment to as many digits as a step of this length can be told by. */
export function moment(ns: number, step: number): string {
  const decimals = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(Math.max(step, 1)))));
  return `${(ns / 1e9).toFixed(decimals)} s`;
}

/** A moment exactly, its digits in groups of three. */
export function exactly(ns: number): string {
  const whole = Math.floor(ns / 1e9);
  const rest = String(Math.round(ns - whole * 1e9)).padStart(9, "0");
  return `${whole}.${rest.slice(0, 3)} ${rest.slice(3, 6)} ${rest.slice(6)} s`;
}

/** A number of things. */
export function count(number: number): string {
  if (Number.isInteger(number)) {
    return number < 1e15 ? number.toLocaleString("en").replaceAll(",", " ") : String(number);
  }
  return Math.abs(number) >= 1000 ? count(Math.round(number)) : Number(number.toPrecision(3)).toString();
}

export function share(part: number): string {
  const percent = part * 100;
  return `${percent === 0 || Math.abs(percent) >= 9.95 ? percent.toFixed(percent % 1 === 0 ? 0 : 1) : percent.toPrecision(2)} %`;
}

export function value(number: number, unit: Unit): string {
  return unit === "id"
    ? String(number)
    : unit === "ns"
      ? duration(number)
      : unit === "share"
        ? share(number)
        : count(number);
}

export function signed(number: number, unit: Unit): string {
  return `${number > 0 ? "+" : number < 0 ? "−" : ""}${value(Math.abs(number), unit)}`;
}

export function cell(cell: Cell, unit: Unit): string {
  return cell === null ? "–" : typeof cell === "string" ? cell : value(cell, unit);
}

/** A priority of the kernel as `chrt` and `nice` say it. */
export function priority(prio: number | null): string {
  if (prio === null) {
    return "";
  }
  return prio < 0 ? "deadline" : prio < 100 ? `RT ${99 - prio}` : prio < 140 ? `nice ${prio - 120}` : "idle";
}

export function plural(number: number, name: string): string {
  return `${count(number)} ${name}${number === 1 ? "" : name.endsWith("ch") ? "es" : "s"}`;
}
