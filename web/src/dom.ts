// Elements. Whatever is said goes in as text, never as markup: names of tasks come from anywhere.

type Content = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | null | ((event: Event) => void)>;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...content: Content[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      made.addEventListener(name, value);
    } else if (typeof value === "boolean") {
      made.toggleAttribute(name, value);
    } else if (value !== null) {
      made.setAttribute(name, String(value));
    }
  }
  made.append(...content.filter((one) => one !== null && one !== undefined));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(
  tag: string,
  attributes: Record<string, string | number>,
  ...content: Node[]
): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, String(value));
  }
  made.append(...content);
  return made;
}

/** A part of the page with a heading, to which the page's contents link. */
export function section(id: string, title: string, ...content: Content[]): HTMLElement {
  return element(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title` }, title),
    ...content,
  );
}
