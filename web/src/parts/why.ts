// Why single wakeups were late: stretches that follow each other, as a bar and as a table, each with its place in
// the timeline.
import type { Explained, Stretch, Why } from "../content.ts";
import { element, section } from "../dom.ts";
import { count, duration, exactly, plural, precisely, share } from "../format.ts";
import { placeText } from "../timeline/place.ts";
import { tableElement } from "./tables.ts";

/** So many stretches are shown where not all are wanted. */
const FOLDED = 24;

export function whySection(why: Why | null): HTMLElement | null {
  if (!why || why.explanations.length === 0) {
    return null;
  }
  const told =
    why.explanations.length === why.wakeups
      ? plural(why.wakeups, "wakeup")
      : `${count(why.explanations.length)} of ${plural(why.wakeups, "wakeup")}`;
  const meanings = why.decisions.map(({ name, meaning }) => [
    element("dt", { id: `decision-${name}` }, name),
    element("dd", {}, meaning),
  ]);
  return section(
    "why",
    "Why they were late",
    element(
      "p",
      { class: "hint" },
      `${told}. The stretches of each add up to its latency, and lead to their places in the timeline.`,
    ),
    ...why.explanations.map((one, place) => explained(one, place + 1, why.kinds)),
    meanings.length > 0 ? element("h3", {}, "What the scheduler's decisions mean") : null,
    meanings.length > 0 ? element("dl", { class: "decisions" }, ...meanings.flat()) : null,
  );
}

/** Leads to a stretch of the timeline, the task selected at the moment `at`; nowhere if there is no room for it. */
function place(of: Explained, from: number, to: number, at: number): string | null {
  return of.timeline === null
    ? null
    : placeText({
        time: (from + to) / 2,
        width: 1.8 * Math.max(to - from, 100),
        task: of.pid,
        at,
        timeline: of.timeline,
      });
}

/** Numbers of those that take longest, in their order. */
export function longest(stretches: readonly Stretch[], most: number): number[] {
  const lasts = (n: number) => stretches[n].to_ns - stretches[n].from_ns;
  return stretches
    .map((_, n) => n)
    .sort((a, b) => lasts(b) - lasts(a) || a - b)
    .slice(0, most)
    .sort((a, b) => a - b);
}

function explained(of: Explained, number: number, kinds: readonly string[]): HTMLElement {
  const latency = of.first_ns - of.due_ns;
  const title = `why-${number}`;
  const main = of.stretches[longest(of.stretches, 1)[0]];
  const at = main ? (main.from_ns + main.to_ns) / 2 : of.first_ns;
  const href = place(of, of.due_ns, of.first_ns, at);
  const when = of.clock ? ` (${of.clock} on the recording's clock)` : "";
  return element(
    "article",
    { class: "explained", "aria-labelledby": title },
    element("h3", { id: title }, `${number}. ${of.who} executed ${precisely(latency)} after ${of.due}`),
    element(
      "p",
      { class: "where" },
      `At ${exactly(of.due_ns)}${when}, on CPU ${of.cpu}. `,
      href
        ? element("a", { href }, "Show it in the timeline")
        : "The page has no room for that part of the timeline.",
    ),
    bar(of, latency, kinds),
    stretchTable(of, latency),
    ...of.notes.map((note) => element("p", { class: "note" }, note)),
    ...of.tables.map(tableElement),
  );
}

/** Each stretch as wide as its time; below it what the kinds of causes come to. */
function bar(of: Explained, latency: number, kinds: readonly string[]): HTMLElement {
  const sums = kinds.map(() => 0);
  const parts = of.stretches.map((stretch) => {
    const lasts = stretch.to_ns - stretch.from_ns;
    sums[stretch.kind] += lasts;
    const at = (stretch.from_ns + stretch.to_ns) / 2;
    const title = `${precisely(lasts)}: ${stretch.text}`;
    const style = `flex-grow: ${lasts}; background: var(--cause-${stretch.kind})`;
    const href = place(of, stretch.from_ns, stretch.to_ns, at);
    // The table has the same links: nobody has to step through both.
    return href ? element("a", { href, title, style, tabindex: -1 }) : element("span", { title, style });
  });
  const legend = kinds
    .map((name, kind) => ({ name, kind, sum: sums[kind] }))
    .filter(({ sum }) => sum > 0)
    .sort((a, b) => b.sum - a.sum)
    .map(({ name, kind, sum }) =>
      element(
        "li",
        {},
        element("span", { class: "swatch", style: `background: var(--cause-${kind})` }),
        `${name} ${duration(sum)}, ${share(sum / latency)}`,
      ),
    );
  return element(
    "div",
    {},
    element("div", { class: "bar", "aria-hidden": "true" }, ...parts),
    element("ul", { class: "legend", "aria-label": "Kinds of causes" }, ...legend),
  );
}

function stretchTable(of: Explained, latency: number): HTMLElement {
  const row = (stretch: Stretch) => {
    const lasts = stretch.to_ns - stretch.from_ns;
    const href = place(of, stretch.from_ns, stretch.to_ns, (stretch.from_ns + stretch.to_ns) / 2);
    const decisions = stretch.decisions.flatMap((name, n) => [
      n === 0 ? " (" : ", ",
      element("a", { class: "quiet", href: `#decision-${name}` }, name),
    ]);
    return element(
      "tr",
      {},
      element("td", {}, precisely(stretch.from_ns - of.due_ns)),
      element("td", {}, href ? element("a", { href }, precisely(lasts)) : precisely(lasts)),
      element("td", {}, stretch.cpu === null ? "" : String(stretch.cpu)),
      element(
        "th",
        { scope: "row", class: "why" },
        element("span", { class: "swatch", style: `background: var(--cause-${stretch.kind})` }),
        stretch.text,
        ...decisions,
        decisions.length > 0 ? ")" : null,
      ),
    );
  };
  const sum = (takes: number, text: Node | string) =>
    element(
      "tr",
      {},
      element("td"),
      element("td", {}, precisely(takes)),
      element("td"),
      element("th", { scope: "row", class: "why" }, text),
    );
  const body = element("tbody");
  const fill = (isFolded: boolean) => {
    const shown = isFolded ? longest(of.stretches, FOLDED) : of.stretches.map((_, n) => n);
    const rest = of.stretches.filter((_, n) => !shown.includes(n));
    const more = element(
      "button",
      { type: "button", class: "more", click: () => fill(false) },
      `${plural(rest.length, "shorter stretch")}: show all`,
    );
    body.replaceChildren(
      ...shown.map((n) => row(of.stretches[n])),
      ...(rest.length > 0
        ? [
            sum(
              rest.reduce((all, { from_ns: from, to_ns: to }) => all + to - from, 0),
              more,
            ),
          ]
        : []),
      sum(latency, "in all"),
      ...of.afterwards.map(row),
    );
  };
  fill(of.stretches.length > FOLDED);
  const heads = ["after", "takes", "CPU"].map((name) => element("th", { scope: "col" }, name));
  return element(
    "div",
    { class: "wide" },
    element(
      "table",
      { class: "numbers stretches" },
      element("caption", {}, "What the latency is made of"),
      element(
        "thead",
        {},
        element("tr", {}, ...heads, element("th", { scope: "col", class: "words" }, "why")),
      ),
      body,
    ),
  );
}
