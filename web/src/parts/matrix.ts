// Who went from which CPU to which.
import { element, section } from "../dom.ts";
import { count, plural } from "../format.ts";
import type { Timeline } from "../timeline/model.ts";
import type { TimelineView } from "../timeline/view.ts";

/** More CPUs than this share rows and columns. */
const MOST = 32;

export function migrationSection(timelines: Timeline[], view: TimelineView): HTMLElement | null {
  if (timelines.every(({ migrations }) => migrations.every((number) => number === 0))) {
    return null;
  }
  // No caption of the table: it would make few CPUs as wide as itself.
  const title = element("p", { class: "table-title", id: "migrations-what" });
  const table = element("table", { class: "matrix", "aria-labelledby": "migrations-what" });
  const show = () => {
    const { timeline } = view;
    const { cpus } = timeline.head;
    const each = Math.ceil(cpus / MOST);
    const size = Math.ceil(cpus / each);
    const sums = new Float64Array(size * size);
    timeline.migrations.forEach((number, i) => {
      sums[Math.floor(Math.floor(i / cpus) / each) * size + Math.floor((i % cpus) / each)] += number;
    });
    const most = Math.max(1, ...sums);
    const label = (n: number) =>
      each === 1 ? String(n) : `${n * each}–${Math.min(cpus, (n + 1) * each) - 1}`;
    const all = Array.from({ length: size }, (_, n) => n);
    const total = sums.reduce((sum, number) => sum + number, 0);
    const sum = `${plural(total, "migration")}, ${timeline.name}`;
    title.textContent = `${sum}: from CPU (down) to CPU (across)`;
    table.replaceChildren(
      element(
        "thead",
        {},
        element("tr", {}, element("td"), ...all.map((to) => element("th", { scope: "col" }, label(to)))),
      ),
      element(
        "tbody",
        {},
        ...all.map((from) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, label(from)),
            ...all.map((to) => {
              const number = sums[from * size + to];
              const cell = element(
                "td",
                { title: `${label(from)} to ${label(to)}: ${count(number)}` },
                number > 0 ? count(number) : "",
              );
              // The root makes few visible beside many.
              cell.style.setProperty("--part", `${Math.round(Math.sqrt(number / most) * 100)}%`);
              return cell;
            }),
          ),
        ),
      ),
    );
  };
  view.onChoice(show);
  show();
  return section("migrations", "Migrations", title, element("div", { class: "wide" }, table));
}
