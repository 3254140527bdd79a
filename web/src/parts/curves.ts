// What a sweep varies, as curves: simulated lines with the spread of their seeds, published crosses.
import type { Chart as Curves } from "../content.ts";
import { element, section } from "../dom.ts";
import { count, shortly, value } from "../format.ts";
import { Chart, decades, type Line } from "./chart.ts";

export function curvesSection(charts: Curves[]): HTMLElement | null {
  return charts.length === 0
    ? null
    : section("curves", "Curves", element("div", { class: "charts" }, ...charts.map(curve)));
}

function curve(of: Curves): HTMLElement {
  const chart = new Chart(of.title);
  const x = [...new Set(of.lines.flatMap((line) => line.points.map((point) => point.x)))].sort(
    (a, b) => a - b,
  );
  const lines: Line[] = of.lines.flatMap((line, number) => {
    const at = new Map(line.points.map((point) => [point.x, point]));
    const values = (pick: "y" | "low" | "high" | "published") =>
      x.map((place) => at.get(place)?.[pick] ?? null);
    const main: Line = {
      name: line.name || of.y_label,
      colour: number,
      values: values("y"),
      points: true,
      ...(line.points.some((point) => point.low !== point.high)
        ? { band: { low: values("low"), high: values("high") } }
        : {}),
    };
    const published = values("published");
    return published.every((one) => one === null)
      ? [main]
      : [
          main,
          { name: `${line.name}, published`, colour: number, values: published, dashed: true, points: true },
        ];
  });
  const all = of.lines.flatMap((line) => line.points.flatMap((point) => [point.low, point.high]));
  const named = of.x_names.length > 0;
  const isLog = (values: number[]) =>
    Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 10;
  const name = (place: number) => (Number.isInteger(place) ? (of.x_names[place] ?? "") : "");
  const unit = of.y_unit;
  queueMicrotask(() =>
    chart.show({
      x,
      xAxis: {
        label: of.x_label,
        text: named ? name : (number) => count(number),
        log: !named && isLog(x),
        splits: named ? () => of.x_names.map((_, place) => place) : () => x,
      },
      yAxis: {
        label: unit === "ns" ? "time" : "",
        text: unit === "ns" ? shortly : (number) => value(number, unit),
        log: isLog(all),
        ...(isLog(all) ? { splits: decades } : {}),
      },
      lines,
      height: 260,
      summary: `${of.title}: ${of.y_label} by ${of.x_label}`,
    }),
  );
  return chart.root;
}
