import { describe, expect, it } from "vitest";
import type { Difference, Stretch } from "../../src/content.ts";
import { count, duration, exactly, precisely, priority, share, shortly, signed } from "../../src/format.ts";
import { flames } from "../../src/parts/blame.ts";
import { change, kindOf } from "../../src/parts/comparison.ts";
import { below, bounds } from "../../src/parts/latency.ts";
import { compared } from "../../src/parts/tables.ts";
import { longest } from "../../src/parts/why.ts";
import { clamped, moved, zoomed } from "../../src/timeline/navigate.ts";
import { parsePlace, placeText } from "../../src/timeline/place.ts";

describe("numbers", () => {
  it("stand in units that people read", () => {
    expect([0, 7, 999, 1000, 12_345, 2_500_000, 131_072, 45e9].map(duration)).toEqual([
      "0",
      "7 ns",
      "999 ns",
      "1.00 µs",
      "12.3 µs",
      "2.50 ms",
      "131 µs",
      "45.0 s",
    ]);
    expect([2_500_000, 1e6, 250].map(shortly)).toEqual(["2.5 ms", "1 ms", "250 ns"]);
    expect(exactly(1_234_567_891)).toBe("1.234 567 891 s");
    expect([1234567, 0.5, 1502.25].map(count)).toEqual(["1 234 567", "0.5", "1 502"]);
    expect([0, 0.5, 0.077, 0.0012].map(share)).toEqual(["0 %", "50 %", "7.7 %", "0.12 %"]);
    expect([52, 945_791, 1_007_837].map(precisely)).toEqual([
      "52\u00a0ns",
      "945.791\u00a0µs",
      "1\u00a0007.837\u00a0µs",
    ]);
    expect(signed(-1500, "ns")).toBe("−1.50 µs");
    expect([-1, 9, 120, 139, null].map(priority)).toEqual(["deadline", "RT 90", "nice 0", "nice 19", ""]);
  });
});

describe("moving", () => {
  it("stays inside, and zooms where one looks", () => {
    expect(clamped({ from: -50, to: 950 }, 10_000)).toEqual({ from: 0, to: 1000 });
    expect(zoomed({ from: 0, to: 10_000 }, 4, 8000, 10_000)).toEqual({ from: 6000, to: 8500 });
    expect(zoomed({ from: 0, to: 10_000 }, 0.5, 8000, 10_000)).toEqual({ from: 0, to: 10_000 });
    expect(moved({ from: 0, to: 1000 }, 50_000, 10_000)).toEqual({ from: 9000, to: 10_000 });
  });
});

describe("an address", () => {
  it("says a place, and is read again", () => {
    const place = {
      time: 1_250_000_000,
      width: 2_000_000,
      task: 1001,
      cpu: null,
      at: 1_250_000_333,
      timeline: 2,
    };
    const text = placeText(place);
    expect(text).toBe("#t=1250ms&w=2ms&task=1001&at=1250000333ns&timeline=2");
    expect(parsePlace(text)).toEqual(place);
  });

  it("may be written by hand, and need not make sense", () => {
    expect(parsePlace("#t=1.5&task=7").time).toBe(1_500_000_000);
    expect(parsePlace("#latency").time).toBe(null);
    expect(parsePlace("#t=soon&task=x&cpu=")).toEqual(parsePlace(""));
  });
});

describe("latencies", () => {
  it("fall between bounds, none outside", () => {
    const of = Float64Array.from([5, 50, 50, 700]);
    const limits = bounds([of]);
    const under = below(of, limits);
    expect(under[0]).toBe(0);
    expect(under.at(-1)).toBe(4);
    expect(limits[0]).toBeLessThanOrEqual(5);
    expect(limits.at(-1)).toBeGreaterThan(700);
  });
});

describe("an explanation", () => {
  const stretch = (from: number, to: number): Stretch => ({
    text: "",
    kind: 0,
    cpu: null,
    from_ns: from,
    to_ns: to,
    decisions: [],
  });

  it("shows the longest stretches in the order of time", () => {
    expect(longest([stretch(0, 5), stretch(5, 6), stretch(6, 16), stretch(16, 18)], 3)).toEqual([0, 2, 3]);
    expect(longest([stretch(0, 5), stretch(5, 10)], 1)).toEqual([0]);
  });
});

describe("flames", () => {
  const row = (due_to: string, kind: number, all_ns: number) => ({
    due_to,
    kind,
    times: 1,
    all_ns,
    p99_ns: 0,
    tail_ns: 0,
  });
  const victim = (name: string, rows: ReturnType<typeof row>[]) => ({
    victim: name,
    tasks: 1,
    wakeups: 1,
    total_ns: rows.reduce((sum, { all_ns }) => sum + all_ns, 0),
    p99_ns: 0,
    max_ns: 0,
    rows,
  });

  it("stand below what they are a part of", () => {
    const all = flames(
      [
        victim("a", [row("hog runs", 1, 60), row("late", 0, 30), row("make runs", 1, 10)]),
        victim("b", [row("late", 0, 5)]),
      ],
      ["timer", "others"],
    );
    expect(all.map(({ level, from, length, text }) => [level, from, length, text])).toEqual([
      [0, 0, 100, "a"],
      [1, 0, 30, "timer"],
      [2, 0, 30, "late"],
      [1, 30, 70, "others"],
      [2, 30, 60, "hog runs"],
      [2, 90, 10, "make runs"],
      [0, 100, 5, "b"],
      [1, 100, 5, "timer"],
      [2, 100, 5, "late"],
    ]);
  });
});

describe("a difference", () => {
  const of = (more: Partial<Difference>): Difference => ({
    metric: { key: "k", label: "l", unit: "ns", better: "lower" },
    base: 100,
    variant: 50,
    difference: -50,
    verdict: "changed",
    doubtful: false,
    ...more,
  });

  it("is better, worse or neither", () => {
    expect(kindOf(of({}))).toBe("better");
    expect(kindOf(of({ difference: 50 }))).toBe("worse");
    expect(kindOf(of({ metric: { key: "k", label: "l", unit: "count", better: "higher" } }))).toBe("worse");
    expect(kindOf(of({ doubtful: true }))).toBe("doubtful");
    expect(kindOf(of({ verdict: "not_significant" }))).toBe("same");
  });

  it("is told in per cent, from tenfold on as a factor", () => {
    expect([of({}), of({ difference: 3.2 }), of({ difference: 6630 }), of({ base: 0 })].map(change)).toEqual([
      "−50.0 %",
      "+3.2 %",
      "×67.3",
      "–",
    ]);
  });
});

describe("cells", () => {
  it("are sorted as numbers or words, missing ones last", () => {
    expect([3, null, 10, 1].sort(compared)).toEqual([1, 3, 10, null]);
    expect(["t10", "t9"].sort(compared)).toEqual(["t9", "t10"]);
  });
});
