// How busy the CPUs were, how many tasks waited, and how much was spun for locks, over time.
import { element, section } from "../dom.ts";
import { duration, shortly } from "../format.ts";
import { lockName } from "../timeline/details.ts";
import type { Timeline } from "../timeline/model.ts";
import { series } from "../timeline/overview.ts";
import type { TimelineView } from "../timeline/view.ts";
import { Chart } from "./chart.ts";

const STEPS = 300;

/** By one clock: the longest of the timelines. */
function clock(timelines: Timeline[]): { x: number[]; length: number; steps: number } {
  const length = Math.max(...timelines.map((timeline) => timeline.length));
  return { x: Array.from({ length: STEPS }, (_, i) => ((i + 0.5) * length) / STEPS), length, steps: STEPS };
}

function resampled(values: Float64Array, own: number, length: number): (number | null)[] {
  return Array.from({ length: STEPS }, (_, i) => {
    const at = ((i + 0.5) * length) / STEPS;
    return at > own ? null : values[Math.min(values.length - 1, Math.floor((at / own) * values.length))];
  });
}

/** How many CPUs spun for locks on average, in equal stretches. */
export function spinning(timeline: Timeline, steps: number): Float64Array {
  const { locks } = timeline;
  const step = timeline.length / steps;
  const out = new Float64Array(steps);
  for (let i = 0; i < locks.from.length; i += 1) {
    const [from, until] = [locks.from[i], locks.until[i]];
    for (let n = Math.max(0, Math.floor(from / step)); n < steps && n * step < until; n += 1) {
      out[n] += (Math.min(until, (n + 1) * step) - Math.max(from, n * step)) / step;
    }
  }
  return out;
}

export function usageSection(timelines: Timeline[], view: TimelineView): HTMLElement {
  const { x, length } = clock(timelines);
  const busy = new Chart("CPUs busy");
  const waiting = new Chart("Tasks that wait for a CPU");
  const all = timelines.map((timeline) => series(timeline, STEPS));
  const zero = timelines[0].head.start_ns;
  const xAxis = { label: "time", text: (at: number) => shortly(Math.round(at + zero)) };
  const onClick = (at: number) => {
    view.go({ kind: "cpu", number: 0, time: Math.min(at, view.timeline.length) }, length / 50);
    view.root.scrollIntoView({ block: "start" });
  };
  const line = (of: (one: (typeof all)[number]) => Float64Array) =>
    all.map((one, number) => ({
      name: timelines[number].name,
      colour: number,
      values: resampled(of(one), timelines[number].length, length),
    }));
  queueMicrotask(() => {
    const percent = (share: number) => `${Math.round(share * 100)} %`;
    const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const common = { x, xAxis, sync: "time", onClick, height: 190 };
    busy.show({
      ...common,
      yAxis: { label: "of all CPUs", text: percent },
      lines: line((one) => one.busy),
      summary: `CPUs busy over time; on average ${all.map((one) => percent(mean(one.busy))).join(", ")}`,
    });
    waiting.show({
      ...common,
      yAxis: { label: "tasks", text: (value) => String(Number(value.toFixed(2))) },
      lines: line((one) => one.waiting),
      summary: `Tasks that wait for a CPU; on average ${all.map((one) => mean(one.waiting).toFixed(2)).join(", ")}`,
    });
  });
  return section(
    "usage",
    "Over time",
    element("p", { class: "hint" }, "A click shows the moment in the timeline."),
    element("div", { class: "charts" }, busy.root, waiting.root),
  );
}

interface LockSum {
  name: string;
  waits: number;
  sum: number;
  most: number;
  longest: number;
  at: number;
  cpu: number;
}

/** What was waited for each lock, the most first. */
export function lockSums(timeline: Timeline): LockSum[] {
  const { locks, head } = timeline;
  const sums = new Map<string, LockSum>();
  for (let cpu = 0; cpu < head.cpus; cpu += 1) {
    for (let i = locks.first[cpu]; i < locks.first[cpu + 1]; i += 1) {
      // One task's lock is like another's.
      const name = locks.kind[i] === 1 ? "pi_lock of a task" : lockName(timeline, locks.kind[i], locks.of[i]);
      const sum = sums.get(name) ?? { name, waits: 0, sum: 0, most: 0, longest: 0, at: 0, cpu: 0 };
      const lasts = locks.until[i] - locks.from[i];
      sum.waits += 1;
      sum.sum += lasts;
      sum.most = Math.max(sum.most, locks.waiters[i] + 1);
      if (lasts > sum.longest) {
        Object.assign(sum, { longest: lasts, at: locks.from[i], cpu });
      }
      sums.set(name, sum);
    }
  }
  return [...sums.values()].sort((a, b) => b.sum - a.sum);
}

export function locksSection(timelines: Timeline[], view: TimelineView): HTMLElement | null {
  if (timelines.every(({ locks }) => locks.from.length === 0)) {
    return null;
  }
  const chart = new Chart("CPUs that spin for locks");
  const { x, length } = clock(timelines);
  const zero = timelines[0].head.start_ns;
  queueMicrotask(() => {
    chart.show({
      x,
      xAxis: { label: "time", text: (at) => shortly(Math.round(at + zero)) },
      yAxis: { label: "CPUs", text: (value) => String(Number(value.toPrecision(3))) },
      lines: timelines.map((timeline, number) => ({
        name: timeline.name,
        colour: number,
        values: resampled(spinning(timeline, STEPS), timeline.length, length),
      })),
      sync: "time",
      height: 190,
      onClick: (at) => {
        view.go({ kind: "cpu", number: 0, time: Math.min(at, view.timeline.length) }, length / 50);
        view.root.scrollIntoView({ block: "start" });
      },
      summary: "CPUs that spin for locks over time",
    });
  });
  const table = element("table", { class: "numbers" });
  const show = () => {
    const { timeline } = view;
    const sums = lockSums(timeline);
    const most = 15;
    const header = ["lock", "waits", "together", "longest", "most waiters"];
    table.replaceChildren(
      element(
        "caption",
        {},
        `Waits for locks, ${timeline.name}${sums.length > most ? `: the first ${most} of ${sums.length}` : ""}`,
      ),
      element("thead", {}, element("tr", {}, ...header.map((name) => element("th", { scope: "col" }, name)))),
      element(
        "tbody",
        {},
        ...sums.slice(0, most).map((lock) => {
          const to = { kind: "cpu", number: lock.cpu, time: lock.at } as const;
          return element(
            "tr",
            {},
            element("th", { scope: "row" }, lock.name),
            element("td", {}, String(lock.waits)),
            element("td", {}, duration(lock.sum)),
            element(
              "td",
              {},
              element(
                "a",
                {
                  href: view.linkTo(to, {
                    from: lock.at - 20 * lock.longest,
                    to: lock.at + 20 * lock.longest,
                  }),
                },
                duration(lock.longest),
              ),
            ),
            element("td", {}, String(lock.most)),
          );
        }),
      ),
    );
  };
  view.onChoice(show);
  show();
  return section(
    "locks",
    "Locks of the kernel",
    element("div", { class: "charts" }, chart.root, element("div", { class: "wide" }, table)),
  );
}
