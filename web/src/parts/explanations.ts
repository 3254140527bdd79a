// Why single wakeups were late: stretches that follow each other, each with its place in the timeline.
import type { Explanation } from "../content.ts";
import { element, section } from "../dom.ts";
import { duration } from "../format.ts";
import { placeText } from "../timeline/place.ts";

export function explanationsSection(explanations: Explanation[]): HTMLElement | null {
  return explanations.length === 0 ? null : section("why", "Why", ...explanations.map(explained));
}

function explained(explanation: Explanation): HTMLElement {
  const stretches = explanation.stretches.map(({ text, from_ns: from, to_ns: to }) => {
    const lasts = to - from;
    const href = placeText({
      time: from + lasts / 2,
      width: 3 * Math.max(lasts, 100),
      task: explanation.pid,
      at: from,
      timeline: explanation.timeline,
    });
    return element("li", {}, element("a", { href }, duration(lasts)), ` ${text}`);
  });
  return element(
    "article",
    { class: "explained" },
    element("h3", {}, explanation.title),
    element("ol", {}, ...stretches),
  );
}
