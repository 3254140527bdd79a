// The wakeups that waited longest, each with its place in the timeline.
import { element, section } from "../dom.ts";
import { duration, exactly } from "../format.ts";
import { who } from "../timeline/details.ts";
import type { Timeline } from "../timeline/model.ts";
import type { TimelineView } from "../timeline/view.ts";

const MOST = 12;

/** Numbers of the wakeups that waited longest, the longest first. */
export function worst(timeline: Timeline, most: number): number[] {
  const { at, ran } = timeline.wakeups;
  const best: number[] = [];
  let least = -1;
  for (let i = 0; i < at.length; i += 1) {
    const lasts = ran[i] - at[i];
    if (best.length < most || lasts > least) {
      best.push(i);
      best.sort((a, b) => ran[b] - at[b] - (ran[a] - at[a]) || a - b);
      best.length = Math.min(best.length, most);
      const last = best[best.length - 1];
      least = ran[last] - at[last];
    }
  }
  return best;
}

export function worstSection(view: TimelineView): HTMLElement | null {
  const table = element("table", { class: "numbers" });
  const show = () => {
    const { timeline } = view;
    const { wakeups, head } = timeline;
    const header = ["waited", "task", "woken at", "by", "ran on"];
    table.replaceChildren(
      element("caption", {}, `The wakeups that waited longest, ${timeline.name}`),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          ...header.map((name) =>
            element("th", { scope: "col", class: /^(task|by)$/.test(name) ? "words" : null }, name),
          ),
        ),
      ),
      element(
        "tbody",
        {},
        ...worst(timeline, MOST).map((n) => {
          const lasts = wakeups.ran[n] - wakeups.at[n];
          const to = { kind: "task", number: wakeups.task[n], time: wakeups.at[n] + lasts / 2 } as const;
          const around = { from: wakeups.at[n] - lasts, to: wakeups.ran[n] + lasts };
          const by = wakeups.inInterrupt[n]
            ? `interrupt, CPU ${wakeups.fromCpu[n]}`
            : who(timeline, wakeups.waker[n]);
          return element(
            "tr",
            {},
            element("td", {}, element("a", { href: view.linkTo(to, around) }, duration(lasts))),
            element("th", { scope: "row" }, who(timeline, wakeups.task[n])),
            element("td", {}, exactly(wakeups.at[n] + head.start_ns)),
            element("td", { class: "words" }, by),
            element("td", {}, `CPU ${wakeups.onCpu[n]}`),
          );
        }),
      ),
    );
  };
  view.onChoice(show);
  show();
  return section("worst", "Longest waits", element("div", { class: "wide" }, table));
}
