// What a variant changes, with the interval of each difference as a picture beside its numbers.
import type { Difference, Variant } from "../content.ts";
import { element, section, svg } from "../dom.ts";
import { count, signed, value } from "../format.ts";

const WIDTH = 190;
const HEIGHT = 18;
/** The ends of the picture: as many times as much, or as little. */
const MOST = Math.log(32);

type Kind = "better" | "worse" | "neutral" | "doubtful" | "same";

export function kindOf(one: Difference): Kind {
  if (one.verdict !== "changed" && one.verdict !== "untested") {
    return "same";
  }
  if (one.doubtful) {
    return "doubtful";
  }
  if (one.metric.better === "neutral") {
    return "neutral";
  }
  return one.difference < 0 === (one.metric.better === "lower") ? "better" : "worse";
}

const MARKS: Record<Kind, string> = { better: "+", worse: "−", neutral: "*", doubtful: "~", same: "" };

/** A relative change as people say it. */
export function change(one: Difference): string {
  if (one.base <= 0) {
    return "–";
  }
  const share = one.difference / one.base;
  if (share >= 9) {
    return `×${Number((1 + share).toPrecision(3))}`;
  }
  const percent = share * 100;
  return `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${Math.abs(percent).toFixed(Math.abs(percent) < 99.95 ? 1 : 0)} %`;
}

/** Where a value stands between the ends: by its ratio to the base. */
function place(one: Difference, difference: number): number {
  const ratio = Math.max((one.base + difference) / one.base, 1 / 1e6);
  const part = Math.max(-1, Math.min(1, Math.log(ratio) / MOST));
  // The root: small changes are what one wants to tell apart.
  return WIDTH / 2 + Math.sign(part) * Math.sqrt(Math.abs(part)) * (WIDTH / 2 - 6);
}

function picture(one: Difference): SVGElement | null {
  if (one.base <= 0) {
    return null;
  }
  const kind = kindOf(one);
  const y = HEIGHT / 2;
  const parts: SVGElement[] = [
    svg("line", { x1: WIDTH / 2, x2: WIDTH / 2, y1: 0, y2: HEIGHT, class: "zero" }),
  ];
  for (const times of [1.1, 2, 8]) {
    for (const x of [place(one, one.base * (times - 1)), place(one, one.base * (1 / times - 1))]) {
      parts.push(svg("line", { x1: x, x2: x, y1: HEIGHT - 3, y2: HEIGHT, class: "tick" }));
    }
  }
  if (one.interval) {
    const [left, right] = [place(one, one.interval.low), place(one, one.interval.high)];
    parts.push(
      svg("rect", { x: left, y: y - 2, width: Math.max(1.5, right - left), height: 4, rx: 2, class: kind }),
    );
  }
  parts.push(svg("circle", { cx: place(one, one.difference), cy: y, r: 3.2, class: kind }));
  return svg(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      width: WIDTH,
      height: HEIGHT,
      "aria-hidden": "true",
      class: "interval",
    },
    ...parts,
  );
}

function row(one: Difference): HTMLElement {
  const { unit } = one.metric;
  const kind = kindOf(one);
  const interval = one.interval
    ? `${signed(one.interval.low, unit)} to ${signed(one.interval.high, unit)}`
    : "–";
  return element(
    "tr",
    { class: kind },
    element("td", { class: `mark ${kind}`, title: kind }, MARKS[kind]),
    element("th", { scope: "row" }, one.metric.label),
    element("td", {}, value(one.base, unit)),
    element("td", {}, value(one.variant, unit)),
    element("td", {}, signed(one.difference, unit)),
    element("td", {}, interval),
    element("td", {}, change(one)),
    element("td", { class: "picture" }, picture(one)),
  );
}

const MOST_ROWS = 40;

function variantTable(variant: Variant): HTMLElement {
  const body = element("tbody");
  const box = element("input", { type: "checkbox" });
  const filter = element("input", {
    type: "search",
    placeholder: "figure",
    "aria-label": `Figures of ${variant.name} to show`,
  });
  const rest = element("p", { class: "hint" });
  const fill = () => {
    const words = filter.value.toLowerCase();
    const meant = variant.differences.filter(
      (one) => one.metric.label.toLowerCase().includes(words) || one.metric.key.includes(words),
    );
    const changed = meant.filter((one) => kindOf(one) !== "same");
    const shown = box.checked || words !== "" ? meant : changed.slice(0, MOST_ROWS);
    body.replaceChildren(...shown.map(row));
    const hidden = meant.length - shown.length;
    rest.textContent =
      hidden > 0
        ? `${count(hidden)} more figures: ${count(meant.filter((one) => one.verdict === "identical").length)} identical under every seed, ${count(meant.filter((one) => one.verdict === "not_significant").length)} not told from chance`
        : "";
  };
  box.addEventListener("change", fill);
  filter.addEventListener("input", fill);
  fill();
  const header = [
    "",
    "figure",
    "base",
    "with",
    "differs",
    "95 % interval",
    "change",
    "÷8 · ÷2 · base · ×2 · ×8",
  ];
  return element(
    "article",
    {},
    element("h3", {}, variant.verdict),
    element("ul", { class: "sentences" }, ...variant.sentences.map((text) => element("li", {}, text))),
    element("p", { class: "choice" }, filter, element("label", {}, box, "unchanged ones, too")),
    element(
      "div",
      { class: "wide" },
      element(
        "table",
        { class: "numbers comparison" },
        element("caption", {}, `${variant.name}: what changed`),
        element(
          "thead",
          {},
          element("tr", {}, ...header.map((name) => element("th", { scope: "col" }, name))),
        ),
        body,
      ),
    ),
    rest,
  );
}

export function comparisonSection(variants: Variant[], method: string | null): HTMLElement | null {
  if (variants.length === 0) {
    return null;
  }
  return section(
    "comparison",
    "What changed",
    ...variants.map(variantTable),
    method ? element("p", { class: "hint" }, method) : null,
  );
}
