// What is drawn of a timeline, and where on the canvas that is.
import type { Palette } from "./colours.ts";
import type { Layout, Placed, View } from "./layout.ts";
import type { Timeline } from "./model.ts";

export interface Selected {
  kind: "cpu" | "task";
  number: number;
  /** A moment in the row. */
  time: number;
}

export interface Shown {
  arrows: boolean;
  locks: boolean;
  interrupts: boolean;
}

export interface Scene {
  timeline: Timeline;
  layout: Layout;
  view: View;
  /** Of the canvas, CSS pixels. */
  width: number;
  height: number;
  /** Room for names. */
  gutter: number;
  /** How far the rows are scrolled. */
  scroll: number;
  palette: Palette;
  selected: Selected | null;
  /** The task whose slices stand out; 0: all. */
  emphasised: number;
  shown: Shown;
  hover: { x: number; y: number } | null;
}

const FONT = "11px system-ui, sans-serif";

/** A canvas on which a part of the view is drawn: where its times and rows are. */
export class Frame {
  protected readonly c: CanvasRenderingContext2D;
  protected readonly s: Scene;
  protected readonly perPixel: number;
  protected readonly right: number;
  /** The part of the view that is drawn. */
  protected readonly range: View;

  constructor(context: CanvasRenderingContext2D, scene: Scene, range: View) {
    this.range = range;
    this.c = context;
    this.s = scene;
    this.right = scene.width;
    this.perPixel = (scene.view.to - scene.view.from) / (scene.width - this.s.gutter);
    context.font = FONT;
    context.textBaseline = "middle";
  }

  protected x(time: number): number {
    return this.s.gutter + (time - this.s.view.from) / this.perPixel;
  }

  protected y(placed: Placed): number {
    return this.s.layout.y(placed, this.s.scroll);
  }
}
