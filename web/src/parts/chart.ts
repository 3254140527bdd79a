// A chart by uPlot: its size follows the page, its colours the theme.
import uPlot from "uplot";
import { element } from "../dom.ts";
import { onTheme } from "../theme.ts";

export interface Line {
  name: string;
  values: (number | null)[];
  /** Number of its colour. */
  colour: number;
  stepped?: boolean;
  dashed?: boolean;
  points?: boolean;
  /** From least to most, at each place. */
  band?: { low: (number | null)[]; high: (number | null)[] };
}

export interface Axis {
  label: string;
  text: (value: number) => string;
  log?: boolean;
  /** Where it is labelled, if not anywhere. */
  splits?: (low: number, high: number) => number[];
}

export interface Drawn {
  x: number[];
  xAxis: Axis;
  yAxis: Axis;
  lines: Line[];
  height?: number;
  /** Of what happens in time: charts with the same key move their cursors together. */
  sync?: string;
  onClick?: (x: number) => void;
  /** In words, for those who do not see it. */
  summary: string;
}

export function colour(number: number): string {
  return getComputedStyle(document.documentElement)
    .getPropertyValue(`--series-${number % 7}`)
    .trim();
}

/** Powers of ten and, where there is room, their doubles and fivefolds. */
export function decades(low: number, high: number): number[] {
  const out: number[] = [];
  const steps = Math.log10(high / low) > 4 ? [1] : [1, 2, 5];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) {
    out.push(...steps.map((step) => step * power).filter((value) => value >= low && value <= high));
  }
  return out;
}

/** Draws anew whenever the theme or the width changes. */
export class Chart {
  readonly root: HTMLElement;
  private readonly holder: HTMLElement;
  private plot: uPlot | null = null;
  private drawn: Drawn | null = null;
  private width = 0;

  constructor(title: string) {
    this.holder = element("div", { class: "plot", role: "img" });
    this.root = element("figure", { class: "chart" }, element("figcaption", {}, title), this.holder);
    onTheme(() => this.render());
    new ResizeObserver(() => {
      if (Math.abs(this.holder.clientWidth - this.width) > 2) {
        this.render();
      }
    }).observe(this.holder);
  }

  show(drawn: Drawn): void {
    this.drawn = drawn;
    this.holder.setAttribute("aria-label", drawn.summary);
    this.render();
  }

  private render(): void {
    const { drawn } = this;
    this.width = this.holder.clientWidth;
    if (!drawn || this.width < 50) {
      return;
    }
    this.plot?.destroy();
    const style = getComputedStyle(document.documentElement);
    const of = (name: string) => style.getPropertyValue(name).trim();
    const axis = (axis: Axis, side: "x" | "y"): uPlot.Axis => ({
      label: axis.label,
      labelSize: 18,
      labelFont: "11px system-ui, sans-serif",
      font: "11px system-ui, sans-serif",
      stroke: of("--faint"),
      grid: { stroke: of("--line"), width: 1 },
      ticks: { stroke: of("--line"), width: 1, size: 4 },
      // Without a size of its own, long labels are cut off.
      ...(side === "y" ? { size: 62 } : { size: 36, space: 64 }),
      values: (_, splits) => splits.map((value) => (value === null ? "" : axis.text(value))),
      // uPlot would label the powers of a logarithmic axis only.
      filter: (_self, splits) => splits,
      ...(axis.splits
        ? { splits: (_self: uPlot, _index: number, low: number, high: number) => axis.splits!(low, high) }
        : {}),
    });
    const data: (number | null)[][] = [drawn.x];
    const series: uPlot.Series[] = [
      { label: drawn.xAxis.label, value: (_, value) => (value === null ? "" : drawn.xAxis.text(value)) },
    ];
    const bands: uPlot.Band[] = [];
    for (const line of drawn.lines) {
      const stroke = colour(line.colour);
      if (line.band) {
        bands.push({
          series: [series.length, series.length + 1],
          fill: `color-mix(in srgb, ${stroke} 18%, transparent)`,
        });
        data.push(line.band.high, line.band.low);
        series.push({
          label: `${line.name}, most`,
          stroke: "transparent",
          class: "band",
          points: { show: false },
        });
        series.push({
          label: `${line.name}, least`,
          stroke: "transparent",
          class: "band",
          points: { show: false },
        });
      }
      data.push(line.values);
      series.push({
        label: line.name,
        stroke,
        width: 1.75,
        spanGaps: line.points ?? false,
        ...(line.dashed ? { dash: [5, 4] } : {}),
        points: { show: line.points ?? false, size: 6 },
        ...(line.stepped
          ? {
              paths: uPlot.paths.stepped!({ align: 1 }),
              fill: `color-mix(in srgb, ${stroke} 14%, transparent)`,
            }
          : {}),
        value: (_, value) => (value === null ? "" : drawn.yAxis.text(value)),
      });
    }
    const plot = new uPlot(
      {
        width: this.width,
        height: drawn.height ?? 220,
        // On the right, room for half of a label that stands at the end of the axis.
        padding: [10, 30, 0, 0],
        cursor: { drag: { x: false, y: false }, ...(drawn.sync ? { sync: { key: drawn.sync } } : {}) },
        legend: { show: drawn.lines.length > 1 },
        scales: {
          x: { time: false, distr: drawn.xAxis.log ? 3 : 1 },
          y: drawn.yAxis.log
            ? { distr: 3 }
            : { range: (_self, _low, high) => [0, high > 0 ? high * 1.08 : 1] },
        },
        axes: [axis(drawn.xAxis, "x"), axis(drawn.yAxis, "y")],
        series,
        bands,
      },
      data as uPlot.AlignedData,
      this.holder,
    );
    if (drawn.onClick) {
      plot.over.addEventListener("click", () => {
        const { left } = plot.cursor;
        if (left !== undefined && left >= 0) {
          drawn.onClick!(plot.posToVal(left, "x"));
        }
      });
    }
    this.plot = plot;
  }
}
