// How long woken tasks waited until they ran: how often, and how many waited longer.
import { element, section } from "../dom.ts";
import { count, duration, shortly } from "../format.ts";
import { command, type Timeline } from "../timeline/model.ts";
import { Chart, decades, type Line } from "./chart.ts";

/** Latencies of the tasks of a command, ascending; of all without one. */
export function latencies(timeline: Timeline, of: string | null): Float64Array {
  const { wakeups, head } = timeline;
  const meant = head.tasks.map((task) => of === null || command(task) === of);
  const out: number[] = [];
  for (let i = 0; i < wakeups.at.length; i += 1) {
    if (meant[wakeups.task[i]]) {
      out.push(wakeups.ran[i] - wakeups.at[i]);
    }
  }
  return Float64Array.from(out).sort();
}

/** So many bins for each tenfold. */
const BINS = 12;

/** Bounds that hold all of these, equal steps of their logarithm apart. */
export function bounds(all: Float64Array[]): number[] {
  const least = Math.max(1, Math.min(...all.filter((one) => one.length > 0).map((one) => one[0])));
  const most = Math.max(least, ...all.map((one) => one[one.length - 1] ?? 0));
  const first = Math.floor(Math.log10(least) * BINS);
  const last = Math.ceil(Math.log10(most + 1) * BINS);
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** ((first + i) / BINS));
}

/** How many of ascending numbers are below each bound. */
export function below(sorted: Float64Array, limits: number[]): number[] {
  let i = 0;
  return limits.map((limit) => {
    while (i < sorted.length && sorted[i] < limit) {
      i += 1;
    }
    return i;
  });
}

function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

export function latencySection(timelines: Timeline[]): HTMLElement | null {
  if (timelines.every(({ wakeups }) => wakeups.at.length === 0)) {
    return null;
  }
  const histogram = new Chart("How often");
  const tail = new Chart("Share of wakeups that waited longer");
  const table = element("table", { class: "numbers" });
  const totals = new Map<string, number>();
  for (const { head, wakeups } of timelines) {
    for (const task of wakeups.task) {
      const name = command(head.tasks[task]);
      totals.set(name, (totals.get(name) ?? 0) + 1);
    }
  }
  const names = [...totals].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const choice = element(
    "select",
    {},
    element("option", { value: "" }, "all tasks"),
    ...names.slice(0, 200).map((name, number) => element("option", { value: number + 1 }, name)),
  );
  const show = () => {
    const of = choice.value === "" ? null : names[Number(choice.value) - 1];
    const all = timelines.map((timeline) => latencies(timeline, of));
    const whose = of ?? "all tasks";
    const header = ["", "wakeups", "median", "p90", "p99", "p99.9", "max"];
    table.replaceChildren(
      element("caption", {}, `Wakeup latency of ${whose}`),
      element("thead", {}, element("tr", {}, ...header.map((name) => element("th", { scope: "col" }, name)))),
      element(
        "tbody",
        {},
        ...all.map((sorted, number) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, timelines[number].name),
            element("td", {}, count(sorted.length)),
            ...[0.5, 0.9, 0.99, 0.999, 1].map((share) =>
              element("td", {}, sorted.length ? duration(quantile(sorted, share)) : "–"),
            ),
          ),
        ),
      ),
    );
    if (all.every((one) => one.length === 0)) {
      return;
    }
    const x = bounds(all);
    const counts: Line[] = [];
    const longer: Line[] = [];
    all.forEach((sorted, number) => {
      const under = below(sorted, x);
      const { name } = timelines[number];
      const each = under.map((until, i) => (i + 1 < under.length ? under[i + 1] - until : 0));
      counts.push({ name, colour: number, stepped: true, values: each });
      const share = under.map((until) =>
        until < sorted.length ? (sorted.length - until) / sorted.length : null,
      );
      longer.push({ name, colour: number, values: share });
    });
    const xAxis = { label: "from wakeup to running", text: shortly, log: true, splits: decades };
    const summary = all
      .map(
        (sorted, i) =>
          `${timelines[i].name}: median ${duration(quantile(sorted, 0.5))}, longest ${duration(quantile(sorted, 1))}`,
      )
      .join("; ");
    histogram.show({
      x,
      xAxis,
      yAxis: { label: "wakeups", text: count },
      lines: counts,
      summary: `Histogram of wakeup latencies. ${summary}`,
    });
    const percent = (share: number) => `${Number((share * 100).toPrecision(2))} %`;
    tail.show({
      x,
      xAxis,
      yAxis: {
        label: "later",
        text: percent,
        log: true,
        splits: (low, high) => decades(low, high).filter((v) => /^1/.test(v.toExponential())),
      },
      lines: longer,
      summary: `Share of wakeups that waited longer. ${summary}`,
    });
  };
  choice.addEventListener("change", show);
  queueMicrotask(show);
  return section(
    "latency",
    "Wakeup latency",
    element("p", { class: "choice" }, element("label", {}, "of ", choice)),
    element("div", { class: "charts" }, histogram.root, tail.root),
    element("div", { class: "wide" }, table),
  );
}
