// Tables that can be sorted.
import type { Cell, Table } from "../content.ts";
import { element } from "../dom.ts";
import { count, cell as words } from "../format.ts";

/** Longer ones are folded. */
const MOST = 25;

export function compared(a: Cell, b: Cell): number {
  if (a === null || b === null) {
    return a === b ? 0 : a === null ? 1 : -1;
  }
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b), "en", { numeric: true });
}

export function tableElement(table: Table): HTMLElement {
  const body = element("tbody");
  const more = element("button", { type: "button", class: "more" });
  const named = Math.max(
    0,
    table.columns.findIndex((column) => column.unit === "text"),
  );
  let rows = table.rows;
  let all = rows.length <= MOST + 5;
  const fill = () => {
    const shown = all ? rows : rows.slice(0, MOST);
    body.replaceChildren(
      ...shown.map((row) =>
        element(
          "tr",
          {},
          ...row.map((one, n) => {
            const text = words(one, table.columns[n].unit);
            const isWords = table.columns[n].unit === "text";
            return n === named && isWords
              ? element("th", { scope: "row" }, text)
              : element("td", { class: isWords ? (text.length > 30 ? "words long" : "words") : null }, text);
          }),
        ),
      ),
    );
    more.hidden = all;
    more.textContent = `show all ${count(rows.length)} rows`;
  };
  more.addEventListener("click", () => {
    all = true;
    fill();
  });
  const heads = table.columns.map((column, n) => {
    const head = element("th", { scope: "col", class: column.unit === "text" ? "words" : null });
    const sort = () => {
      const falls = head.getAttribute("aria-sort") !== "descending";
      for (const other of heads) {
        other.removeAttribute("aria-sort");
      }
      head.setAttribute("aria-sort", falls ? "descending" : "ascending");
      const sign = falls ? -1 : 1;
      rows = [...table.rows].sort((a, b) => sign * compared(a[n], b[n]));
      fill();
    };
    head.append(element("button", { type: "button", click: sort }, column.label));
    return head;
  });
  fill();
  return element(
    "div",
    { class: "wide" },
    element(
      "table",
      { class: "numbers sorted" },
      element("caption", {}, table.title, table.note ? element("small", {}, ` ${table.note}`) : null),
      element("thead", {}, element("tr", {}, ...heads)),
      body,
    ),
    more,
  );
}
