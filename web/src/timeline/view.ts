// The timelines of a page: choose one, move through it, select, search, link.
import { element, section } from "../dom.ts";
import { count, duration, moment, plural } from "../format.ts";
import { onTheme } from "../theme.ts";
import { type Palette, palette, stateVariable } from "./colours.ts";
import { details, wakeupBefore, who } from "./details.ts";
import { Renderer } from "./draw.ts";
import type { Scene, Selected, Shown } from "./frame.ts";
import { listen } from "./input.ts";
import { gutterOf, type Lane, Layout, lanes, RULER, type View } from "./layout.ts";
import { command, STATE_NAMES, sliceAt, type Timeline } from "./model.ts";
import { around, clamped } from "./navigate.ts";
import { drawOverview, type Series, series } from "./overview.ts";
import { parsePlace, placeText } from "./place.ts";

const OVERVIEW = 46;

export class TimelineView {
  readonly root: HTMLElement;
  /** How long each frame took to draw, milliseconds: the last thousand. */
  readonly frames: number[] = [];
  private readonly timelines: Timeline[];
  private number = 0;
  private layout: Layout;
  private lanes: Lane[];
  private view: View;
  private series: Series;
  private palette: Palette;
  private readonly renderer = new Renderer();
  private selected: Selected | null = null;
  private hovered: { x: number; y: number } | null = null;
  private readonly shown: Shown = { arrows: true, locks: true, interrupts: true };
  private readonly canvas: HTMLCanvasElement;
  private readonly overview: HTMLCanvasElement;
  private readonly scroller: HTMLElement;
  private readonly spacer: HTMLElement;
  private readonly panel: HTMLElement;
  private readonly status: HTMLElement;
  private readonly searchBox: HTMLInputElement;
  private readonly found: HTMLElement;
  private readonly leftOut: HTMLElement;
  private readonly legend: HTMLElement;
  private readonly chooser: HTMLSelectElement;
  private wanted = 0;
  private linkTimer: ReturnType<typeof setTimeout> | undefined;
  private width = 800;
  private readonly listeners: ((number: number) => void)[] = [];

  constructor(timelines: Timeline[]) {
    this.timelines = timelines;
    this.lanes = lanes(this.timeline);
    this.layout = new Layout(this.lanes);
    this.view = { from: 0, to: this.timeline.length };
    this.series = series(this.timeline, 600);
    this.palette = palette(this.timeline.head.tasks);
    this.canvas = element("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label": "Timeline of CPUs and tasks",
      "aria-describedby": "timeline-keys",
    });
    this.overview = element("canvas", { class: "overview", "aria-hidden": "true" });
    this.spacer = element("div", { class: "spacer" }, this.canvas);
    this.scroller = element("div", { class: "rows" }, this.spacer);
    this.panel = element("div", { class: "panel", "aria-live": "polite" });
    this.status = element("output", { class: "status", "aria-live": "off" });
    this.searchBox = element("input", {
      type: "search",
      placeholder: "task, pid or CPU",
      "aria-label": "Search for a task or CPU",
    });
    this.found = element("ul", {
      class: "found",
      role: "listbox",
      "aria-label": "Found tasks",
      hidden: true,
    });
    this.leftOut = element("p", { class: "warning", hidden: true });
    this.legend = element("ul", { class: "legend", "aria-label": "Colours" });
    this.chooser = element("select", { "aria-label": "Which run" });
    this.root = section(
      "timeline",
      "Timeline",
      this.leftOut,
      this.toolbar(),
      this.overview,
      this.scroller,
      this.legend,
      this.keys(),
      this.panel,
    );
    this.connect();
  }

  get timeline(): Timeline {
    return this.timelines[this.number];
  }

  private get gutter(): number {
    return gutterOf(this.width);
  }

  /** Is told when another timeline is chosen. */
  onChoice(listener: (number: number) => void): void {
    this.listeners.push(listener);
  }

  private toolbar(): HTMLElement {
    const button = (text: string, label: string, act: () => void) =>
      element("button", { type: "button", title: label, "aria-label": label, click: act }, text);
    const zoom = (times: number) => {
      const { from, to } = this.view;
      const half = (to - from) / 2 / times;
      this.show(clamped({ from: (from + to) / 2 - half, to: (from + to) / 2 + half }, this.timeline.length));
    };
    const toggle = (name: keyof Shown, text: string) => {
      const box = element("input", { type: "checkbox", checked: true });
      box.addEventListener("change", () => {
        this.shown[name] = box.checked;
        this.redraw();
      });
      return element("label", {}, box, text);
    };
    this.timelines.forEach((timeline, number) => {
      this.chooser.append(element("option", { value: number }, timeline.name));
    });
    this.chooser.hidden = this.timelines.length < 2;
    this.chooser.addEventListener("change", () => this.choose(Number(this.chooser.value)));
    return element(
      "div",
      { class: "toolbar" },
      this.chooser,
      element("div", { class: "search" }, this.searchBox, this.found),
      button("−", "Zoom out", () => zoom(1 / 2)),
      button("+", "Zoom in", () => zoom(2)),
      button("all", "Show all of it", () => this.show({ from: 0, to: this.timeline.length })),
      toggle("arrows", "wakeups"),
      toggle("locks", "lock waits"),
      toggle("interrupts", "interrupts"),
      this.status,
    );
  }

  private keys(): HTMLElement {
    return element(
      "details",
      { class: "keys", id: "timeline-keys" },
      element("summary", {}, "How to move"),
      element(
        "p",
        {},
        "Drag to pan; Ctrl and the wheel (or the wheel over the ruler), or two fingers, to zoom; Shift and drag to " +
          "zoom to a stretch; click to select, double-click to look close. Keys: arrows or A and D pan, + and − or W " +
          "and S zoom, 0 shows all, up and down go from row to row, comma and full stop from slice to slice, Enter " +
          "looks close, F goes to who woke the task, / searches, Esc clears the selection. The address of the page " +
          "always leads back to what is shown.",
      ),
    );
  }

  private connect(): void {
    listen(this.canvas, {
      view: () => this.view,
      length: () => this.timeline.length,
      width: () => this.width,
      gutter: () => this.gutter,
      focus: () => {
        const { from, to } = this.view;
        const time = this.selected?.time ?? -1;
        return time >= from && time <= to ? time : (from + to) / 2;
      },
      show: (view) => this.show(view),
      scrollRows: (by) => {
        this.scroller.scrollTop += by;
      },
      pick: (x, y) => this.pick(x, y),
      hover: (at) => {
        this.hovered = at;
        this.redraw();
      },
      step: (by) => this.step(by),
      row: (by) => this.row(by),
      closeUp: () => this.closeUp(),
      toWaker: () => this.toWaker(),
      clear: () => this.select(null),
      search: () => this.searchBox.focus(),
    });
    const aim = (event: PointerEvent) => {
      if (event.buttons === 1) {
        const share = (event.offsetX - this.gutter) / (this.width - this.gutter);
        this.show(around(share * this.timeline.length, this.view.to - this.view.from, this.timeline.length));
      }
    };
    this.overview.addEventListener("pointerdown", (event) => {
      this.overview.setPointerCapture(event.pointerId);
      aim(event);
    });
    this.overview.addEventListener("pointermove", aim);
    this.scroller.addEventListener("scroll", () => this.redraw(), { passive: true });
    new ResizeObserver(() => this.resize()).observe(this.scroller);
    onTheme(() => {
      this.palette = palette(this.timeline.head.tasks);
      // At once: paper does not wait for the next frame.
      this.resize();
    });
    this.searchBox.addEventListener("input", () => this.search());
    this.searchBox.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        this.found.querySelector("button")?.click();
      } else if (event.key === "Escape") {
        this.searchBox.value = "";
        this.search();
        this.canvas.focus();
      } else if (event.key === "ArrowDown") {
        event.preventDefault();
        this.found.querySelector("button")?.focus();
      }
    });
    addEventListener("hashchange", () => this.visit());
    // A link to where the address leads already changes no address.
    document.addEventListener("click", ({ target }) => {
      const link = target instanceof Element ? target.closest("a") : null;
      if (link?.hash && link.hash === location.hash) {
        this.visit();
      }
    });
  }

  /** To be called once the root stands in the page. */
  start(): void {
    this.changed();
    this.resize();
    this.follow();
  }

  choose(number: number): void {
    if (number === this.number || !this.timelines[number]) {
      return;
    }
    const { from, to } = this.view;
    this.number = number;
    this.chooser.value = String(number);
    this.lanes = lanes(this.timeline);
    this.layout = new Layout(this.lanes);
    this.series = series(this.timeline, 600);
    this.palette = palette(this.timeline.head.tasks);
    this.selected = null;
    this.panel.replaceChildren();
    this.view = clamped({ from, to }, this.timeline.length);
    this.changed();
    this.resize();
    this.linkSoon();
    for (const listener of this.listeners) {
      listener(number);
    }
  }

  private changed(): void {
    const { head } = this.timeline;
    this.leftOut.hidden = head.left_out.length === 0;
    this.leftOut.textContent = `Left out for want of room: ${head.left_out.join(", ")}. A shorter stretch has room for all.`;
    const entry = (variable: string, text: string) =>
      element("li", {}, element("span", { class: "swatch", style: `background: var(${variable})` }), text);
    this.legend.replaceChildren(
      ...STATE_NAMES.map((name, state) => (state === 0 ? null : entry(stateVariable(state), name))).filter(
        (one) => one !== null,
      ),
      entry("--lock", "spinning for a lock"),
      entry("--interrupt", "interrupt"),
    );
  }

  private resize(): void {
    const ratio = devicePixelRatio || 1;
    const width = Math.max(320, this.scroller.clientWidth);
    const most = document.documentElement.hasAttribute("data-printing") ? 700 : innerHeight * 0.62;
    const height = Math.min(this.layout.height, Math.max(240, Math.round(most)));
    this.width = width;
    this.scroller.style.height = `${height}px`;
    this.spacer.style.height = `${this.layout.height}px`;
    for (const [canvas, w, h] of [
      [this.canvas, width, height],
      [this.overview, width, OVERVIEW],
    ] as const) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
      canvas.style.width = `${w}px`;
      canvas.style.height = `${h}px`;
    }
    this.drawNow();
  }

  show(view: View): void {
    this.view = view;
    this.redraw();
    this.linkSoon();
  }

  redraw(): void {
    if (this.wanted === 0) {
      this.wanted = requestAnimationFrame(() => {
        this.wanted = 0;
        this.drawNow();
      });
    }
  }

  private emphasised(): number {
    const { selected } = this;
    if (!selected) {
      return 0;
    }
    return selected.kind === "task" ? selected.number : 0;
  }

  private scene(): Scene {
    return {
      timeline: this.timeline,
      layout: this.layout,
      view: this.view,
      width: this.width,
      height: this.canvas.height / (devicePixelRatio || 1),
      gutter: this.gutter,
      scroll: this.scroller.scrollTop,
      palette: this.palette,
      selected: this.selected,
      emphasised: this.emphasised(),
      shown: this.shown,
      hover: this.hovered,
    };
  }

  private drawNow(): void {
    const began = performance.now();
    const ratio = devicePixelRatio || 1;
    const context = this.canvas.getContext("2d", { alpha: false })!;
    this.renderer.draw(context, this.scene(), ratio);
    const small = this.overview.getContext("2d", { alpha: false })!;
    small.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawOverview(
      small,
      this.series,
      this.timeline.length,
      this.view,
      this.palette,
      this.width,
      OVERVIEW,
      this.gutter,
    );
    const zero = this.timeline.head.start_ns;
    const span = this.view.to - this.view.from;
    this.status.textContent =
      this.hovering() ?? `${moment(this.view.from + zero, span / 50)} + ${duration(span)}`;
    this.frames.push(performance.now() - began);
    if (this.frames.length > 1000) {
      this.frames.shift();
    }
  }

  /** What lies under the pointer, in words. */
  private hovering(): string | null {
    const at = this.hovered && this.under(this.hovered.x, this.hovered.y);
    if (!at) {
      return null;
    }
    const row = at.kind === "cpu" ? this.timeline.cpus[at.number] : this.timeline.tasks[at.number];
    const i = sliceAt(row, at.time);
    const lasts = duration(row.starts[i + 1] - row.starts[i]);
    return at.kind === "cpu"
      ? `CPU ${at.number}: ${who(this.timeline, row.keys[i])} for ${lasts}`
      : `${who(this.timeline, at.number)}: ${STATE_NAMES[row.keys[i]]} for ${lasts}`;
  }

  private under(x: number, y: number): Selected | null {
    if (y < RULER) {
      return null;
    }
    const placed = this.layout.at(y, this.scroller.scrollTop);
    const share = Math.max(0, x - this.gutter) / (this.width - this.gutter);
    const time = this.view.from + share * (this.view.to - this.view.from);
    return placed ? { kind: placed.lane.kind, number: placed.lane.number, time } : null;
  }

  private pick(x: number, y: number): void {
    const at = this.under(x, y);
    if (at && x < this.gutter) {
      // A name: the row as a whole, at the middle of what is in view.
      at.time = (this.view.from + this.view.to) / 2;
    }
    this.select(at);
  }

  select(selected: Selected | null): void {
    this.selected = selected;
    this.panel.replaceChildren();
    if (selected) {
      this.panel.append(
        details(this.timeline, selected, {
          go: (to, width) => this.go(to, width),
          link: (to) => this.linkTo(to),
        }),
      );
    }
    this.redraw();
    this.linkSoon();
  }

  /** Selects a moment of a row and brings it into view. */
  go(selected: Selected, width?: number): void {
    const span = this.view.to - this.view.from;
    if (
      width !== undefined ||
      selected.time < this.view.from + span * 0.05 ||
      selected.time > this.view.to - span * 0.05
    ) {
      this.view = around(selected.time, width ?? span, this.timeline.length);
    }
    this.select(selected);
    this.reveal(selected);
  }

  private reveal(selected: Selected): void {
    const placed = this.layout.of(selected.kind, selected.number);
    if (placed && placed.top >= this.layout.pinned) {
      const y = this.layout.y(placed, this.scroller.scrollTop);
      const height = this.scroller.clientHeight;
      if (y < this.layout.pinned || y + placed.height > height) {
        this.scroller.scrollTop = placed.top - (height + this.layout.pinned) / 2;
      }
    }
  }

  private rowOf(selected: Selected) {
    return selected.kind === "cpu"
      ? this.timeline.cpus[selected.number]
      : this.timeline.tasks[selected.number];
  }

  private step(by: 1 | -1): void {
    const { selected } = this;
    if (selected) {
      const row = this.rowOf(selected);
      const i = Math.max(0, Math.min(row.keys.length - 1, sliceAt(row, selected.time) + by));
      this.go({ ...selected, time: (row.starts[i] + row.starts[i + 1]) / 2 });
    }
  }

  private row(by: 1 | -1): void {
    const { selected } = this;
    const now = this.lanes.findIndex(
      (lane) => lane.kind === selected?.kind && lane.number === selected.number,
    );
    const next = this.lanes[Math.max(0, Math.min(this.lanes.length - 1, now + by))];
    if (next) {
      this.go({ ...next, time: selected?.time ?? (this.view.from + this.view.to) / 2 });
    }
  }

  private closeUp(): void {
    if (this.selected) {
      const row = this.rowOf(this.selected);
      const i = sliceAt(row, this.selected.time);
      const lasts = Math.max(row.starts[i + 1] - row.starts[i], 100);
      this.show(around(row.starts[i] + lasts / 2, lasts * 3, this.timeline.length));
    }
  }

  private toWaker(): void {
    const { selected } = this;
    const task =
      selected?.kind === "task"
        ? selected.number
        : selected
          ? this.rowOf(selected).keys[sliceAt(this.rowOf(selected), selected.time)]
          : 0;
    const woken = selected && task > 0 ? wakeupBefore(this.timeline, task, selected.time) : -1;
    if (woken >= 0) {
      const { wakeups } = this.timeline;
      this.go({ kind: "cpu", number: wakeups.fromCpu[woken], time: wakeups.at[woken] });
    }
  }

  private search(): void {
    const words = this.searchBox.value.trim().toLowerCase();
    this.found.hidden = words === "";
    const { head } = this.timeline;
    const cpu = /^cpu ?(\d+)$/.exec(words);
    const hits: { text: string; to: Lane }[] = [];
    if (cpu && Number(cpu[1]) < head.cpus) {
      hits.push({ text: `CPU ${Number(cpu[1])}`, to: { kind: "cpu", number: Number(cpu[1]) } });
    }
    for (const lane of words === "" ? [] : this.lanes) {
      if (lane.kind === "task") {
        const task = head.tasks[lane.number];
        if (String(task.pid) === words || task.names.some((name) => name.toLowerCase().includes(words))) {
          hits.push({ text: who(this.timeline, lane.number), to: lane });
        }
      }
    }
    const most = 12;
    this.found.replaceChildren(
      ...hits.slice(0, most).map(({ text, to }) => {
        const act = () => {
          this.found.hidden = true;
          this.go({ ...to, time: this.momentIn(to) });
          this.canvas.focus({ preventScroll: true });
        };
        return element("li", {}, element("button", { type: "button", click: act }, text));
      }),
      element(
        "li",
        { class: "faint" },
        hits.length === 0
          ? "no such task or CPU"
          : `${plural(hits.length, "match")}${hits.length > most ? `, the first ${most}` : ""}`,
      ),
    );
  }

  /** A moment at which the row has something to show: in view, if there is one. */
  private momentIn(lane: Lane): number {
    const row = lane.kind === "cpu" ? this.timeline.cpus[lane.number] : this.timeline.tasks[lane.number];
    for (let i = sliceAt(row, this.view.from); i < row.keys.length; i += 1) {
      if (row.keys[i] === 1 || (lane.kind === "cpu" && row.keys[i] !== 0)) {
        return Math.max(row.starts[i], 0) + Math.min(1, row.starts[i + 1] - row.starts[i]) / 2;
      }
    }
    return (this.view.from + this.view.to) / 2;
  }

  // ----- links

  /** To a moment: the view as it is if that shows it. */
  linkTo(selected: Selected, view = this.view): string {
    const isShown = selected.time >= view.from && selected.time <= view.to;
    const to = isShown ? view : around(selected.time, view.to - view.from, this.timeline.length);
    return this.placeOf(to, selected);
  }

  private placeOf(view: View, selected: Selected | null): string {
    const { head } = this.timeline;
    return placeText({
      time: (view.from + view.to) / 2 + head.start_ns,
      width: view.to - view.from,
      task: selected?.kind === "task" ? head.tasks[selected.number].pid : null,
      cpu: selected?.kind === "cpu" ? selected.number : null,
      at: selected ? selected.time + head.start_ns : null,
      timeline: this.number,
    });
  }

  private linkSoon(): void {
    clearTimeout(this.linkTimer);
    this.linkTimer = setTimeout(
      () => history.replaceState(null, "", this.placeOf(this.view, this.selected)),
      200,
    );
  }

  /** Goes where the address leads, if that is a moment; keys then move through the timeline. */
  private visit(): void {
    if (this.follow()) {
      this.canvas.focus({ preventScroll: true });
      this.root.scrollIntoView({ block: "start" });
    }
  }

  /** Shows what the address says; whether it names a moment. */
  follow(): boolean {
    const place = parsePlace(location.hash);
    if (place.timeline !== null) {
      this.choose(place.timeline);
    }
    const { head, length } = this.timeline;
    const zero = head.start_ns;
    if (place.time !== null || place.at !== null) {
      const width = place.width ?? Math.min(length, 1e6);
      this.view = around((place.time ?? place.at!) - zero, width, length);
    }
    const time = (place.at ?? place.time ?? zero) - zero;
    const task = place.task === null ? -1 : head.tasks.findIndex(({ pid }) => pid === place.task);
    if (task > 0) {
      this.select({ kind: "task", number: task, time });
    } else if (place.cpu !== null && place.cpu >= 0 && place.cpu < head.cpus) {
      this.select({ kind: "cpu", number: place.cpu, time });
    }
    if (this.selected) {
      this.reveal(this.selected);
    }
    this.redraw();
    return place.time !== null || place.at !== null;
  }

  /** In words, for the head of the section. */
  summary(): string {
    const { head, size } = this.timeline;
    const names = new Set(head.tasks.slice(1).map(command)).size;
    return `${plural(head.cpus, "CPU")}, ${plural(head.tasks.length - 1, "task")} of ${plural(names, "command")}, ${count(size)} events, ${duration(head.length_ns)}`;
  }
}
