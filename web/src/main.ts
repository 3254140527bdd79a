// A page of schedlab.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import type { Content } from "./content.ts";
import { unpack } from "./data.ts";
import { element, section } from "./dom.ts";
import { value } from "./format.ts";
import { blameSection } from "./parts/blame.ts";
import { comparisonSection } from "./parts/comparison.ts";
import { curvesSection } from "./parts/curves.ts";
import { latencySection } from "./parts/latency.ts";
import { migrationSection } from "./parts/matrix.ts";
import { tableElement } from "./parts/tables.ts";
import { locksSection, usageSection } from "./parts/usage.ts";
import { whySection } from "./parts/why.ts";
import { worstSection } from "./parts/worst.ts";
import { startTheme, toggleTheme } from "./theme.ts";
import { build } from "./timeline/model.ts";
import { TimelineView } from "./timeline/view.ts";

function header(content: Content): HTMLElement {
  const facts = content.facts.map(({ name, value }) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value)),
  );
  return element(
    "header",
    {},
    element(
      "div",
      { class: "title" },
      element("h1", {}, content.title),
      element(
        "button",
        {
          type: "button",
          class: "theme",
          "aria-label": "Dark or light",
          title: "Dark or light",
          click: toggleTheme,
        },
        "◐",
      ),
    ),
    element("dl", { class: "facts" }, ...facts),
    content.command ? element("p", { class: "command" }, element("code", {}, content.command)) : null,
    ...content.warnings.map((text) => element("p", { class: "warning", role: "note" }, text)),
    element(
      "ul",
      { class: "figures", "aria-label": "Main figures" },
      ...content.figures.map((figure) =>
        element(
          "li",
          {},
          element("strong", {}, value(figure.value, figure.unit)),
          element("span", {}, figure.label),
        ),
      ),
    ),
  );
}

function figures(content: Content): (HTMLElement | null)[] {
  const texts = content.texts.map(({ title, text }) =>
    element("figure", { class: "text" }, element("figcaption", {}, title), element("pre", {}, text)),
  );
  return [
    texts.length > 0 ? section("reports", "What the loads report", ...texts) : null,
    content.tables.length > 0 ? section("tables", "Tables", ...content.tables.map(tableElement)) : null,
    content.notes.length > 0
      ? section("notes", "Notes", element("ul", {}, ...content.notes.map((note) => element("li", {}, note))))
      : null,
  ];
}

async function start(): Promise<void> {
  startTheme();
  const data = document.getElementById("data")!;
  const { content, columns } = await unpack(data.textContent!.trim());
  data.remove();
  const timelines = content.timelines.map((head, number) => build(head, columns[number]));
  const view = timelines.length > 0 ? new TimelineView(timelines) : null;
  if (view) {
    view.root.querySelector("h2")!.after(element("p", { class: "hint" }, view.summary()));
  }
  const comparison = comparisonSection(content.variants, content.method);
  const parts = [
    comparison,
    whySection(content.why),
    blameSection(content.why),
    curvesSection(content.charts),
    view ? view.root : null,
    view ? worstSection(view) : null,
    view ? latencySection(timelines) : null,
    view ? usageSection(timelines, view) : null,
    view ? locksSection(timelines, view) : null,
    view ? migrationSection(timelines, view) : null,
    ...figures(content),
  ].filter((part) => part !== null);
  const links = parts.map((part) =>
    element("li", {}, element("a", { href: `#${part.id}` }, part.querySelector("h2")!.textContent)),
  );
  document.body.prepend(
    element("a", { class: "skip", href: "#main" }, "To the content"),
    header(content),
    element("nav", { "aria-label": "Contents" }, element("ul", {}, ...links)),
    element("main", { id: "main" }, ...parts),
    element("footer", {}, `schedlab ${content.version}`),
  );
  view?.start();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
  // For tests, and for whoever measures.
  Object.assign(window, { schedlab: { content, timelines, view } });
}

start().catch((error: unknown) => {
  document.body.prepend(
    element(
      "p",
      { class: "warning", role: "alert" },
      `This page cannot be shown: ${String(error)}. A browser of 2023 or newer is needed.`,
    ),
  );
});
