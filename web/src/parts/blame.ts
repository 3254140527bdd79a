// What all latencies are due to: as flames, and as a table for each name of tasks.
import type { Blamed, Table, Why } from "../content.ts";
import { element, section } from "../dom.ts";
import { duration, plural, share } from "../format.ts";
import { tableElement } from "./tables.ts";

/** Narrower boxes, as a part of the whole, nobody sees. */
const NARROWEST = 0.0003;
/** The tables of more victims are folded. */
const UNFOLDED = 4;

export interface Flame {
  /** 0: the victim; 1: a kind of causes; 2: a cause. */
  level: 0 | 1 | 2;
  from: number;
  length: number;
  text: string;
  /** Of the cause; -1 of a victim. */
  kind: number;
}

/** Below each victim the kinds of its causes, below each kind the causes; all as wide as their time. */
export function flames(blame: readonly Blamed[], kinds: readonly string[]): Flame[] {
  const out: Flame[] = [];
  let from = 0;
  for (const { victim, total_ns: total, rows } of blame) {
    out.push({ level: 0, from, length: total, text: victim, kind: -1 });
    let at = from;
    kinds.forEach((name, kind) => {
      const of = rows.filter((row) => row.kind === kind && row.all_ns > 0);
      const length = of.reduce((sum, row) => sum + row.all_ns, 0);
      if (length > 0) {
        out.push({ level: 1, from: at, length, text: name, kind });
      }
      for (const row of of) {
        out.push({ level: 2, from: at, length: row.all_ns, text: row.due_to, kind });
        at += row.all_ns;
      }
    });
    from += total;
  }
  return out;
}

export function blameSection(why: Why | null): HTMLElement | null {
  const late = why?.blame.filter(({ total_ns: total }) => total > 0) ?? [];
  if (!why || late.length === 0) {
    return null;
  }
  const picture = element("div", { class: "flames", role: "img" });
  const show = (shown: readonly Blamed[]) => {
    const total = shown.reduce((sum, { total_ns: total }) => sum + total, 0);
    const names = shown.map(({ victim, total_ns: own }) => `${victim} ${share(own / total)}`);
    picture.setAttribute(
      "aria-label",
      `${duration(total)} late in all: ${names.join(", ")}. The tables below say what is due to what.`,
    );
    picture.replaceChildren(
      ...flames(shown, why.kinds)
        .filter(({ length }) => length >= NARROWEST * total)
        .map((flame) => box(flame, total)),
    );
  };
  const chooser = element("select", { "aria-label": "Whose latencies" });
  chooser.append(element("option", { value: -1 }, "all tasks"));
  late.forEach(({ victim, total_ns: total }, n) => {
    chooser.append(element("option", { value: n }, `${victim}, ${duration(total)}`));
  });
  chooser.addEventListener("change", () => {
    const chosen = late[Number(chooser.value)];
    show(chosen ? [chosen] : late);
  });
  show(late);
  return section(
    "blame",
    "What latencies are due to",
    late.length > 1 ? element("p", { class: "choice" }, chooser) : null,
    element(
      "figure",
      { class: "chart" },
      element(
        "figcaption",
        {},
        "Below each command the kinds of causes, below each kind the causes with their culprits, as wide as their time",
      ),
      picture,
    ),
    ...late.slice(0, UNFOLDED).map(table),
    late.length > UNFOLDED
      ? element(
          "details",
          { class: "keys" },
          element("summary", {}, `${plural(late.length - UNFOLDED, "command")} more`),
          ...late.slice(UNFOLDED).map(table),
        )
      : null,
  );
}

function box({ level, from, length, text, kind }: Flame, total: number): HTMLElement {
  const words = `${text} ${share(length / total)}`;
  const colour = kind < 0 ? "var(--line)" : `color-mix(in srgb, var(--cause-${kind}) 55%, var(--surface))`;
  return element(
    "span",
    {
      title: `${words}, ${duration(length)}`,
      style: `left: ${(100 * from) / total}%; width: ${(100 * length) / total}%; top: ${level * 26}px; background: ${colour}`,
    },
    words,
  );
}

function table(of: Blamed): HTMLElement {
  const note = `${plural(of.tasks, "task")}, ${plural(of.wakeups, "wakeup")}: ${duration(of.total_ns)} late in all, 99 of 100 at most ${duration(of.p99_ns)}, the longest ${duration(of.max_ns)}`;
  const all: Table = {
    title: of.victim,
    note,
    columns: [
      { label: "due to", unit: "text" },
      { label: "of all", unit: "share" },
      { label: "time", unit: "ns" },
      { label: "in the p99", unit: "ns" },
      { label: "above it", unit: "ns" },
      { label: "times", unit: "count" },
    ],
    rows: of.rows.map((row) => [
      row.due_to,
      row.all_ns / of.total_ns,
      row.all_ns,
      row.p99_ns,
      row.tail_ns,
      row.times,
    ]),
  };
  return tableElement(all);
}
