// Draws a stretch of a timeline, and keeps what can be shown again.
import type { Palette } from "./colours.ts";
import type { Scene } from "./frame.ts";
import { type Layout, type Placed, RULER, type View } from "./layout.ts";
import type { Timeline } from "./model.ts";
import { Overlay } from "./overlay.ts";
import { Slices } from "./slices.ts";

/** What decides how the slices look, but for where the view begins. */
interface Drawn {
  timeline: Timeline;
  layout: Layout;
  palette: Palette;
  from: number;
  span: number;
  width: number;
  height: number;
  gutter: number;
  scroll: number;
  emphasised: number;
  shown: string;
  ratio: number;
}

/** Keeps the slices of the last frame: who pans sees most of them again. */
export class Renderer {
  private readonly layer = document.createElement("canvas");
  private drawn: Drawn | null = null;

  draw(context: CanvasRenderingContext2D, asked: Scene, ratio: number): void {
    const scene = { ...asked, view: snapped(asked) };
    this.slices(scene, ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.layer, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const slices = new Slices(context, scene, scene.view);
    const overlay = new Overlay(context, scene, scene.view);
    inParts(context, scene, (rows) => {
      rows.forEach((placed) => {
        slices.texts(placed);
      });
      overlay.selection(rows);
      rows.forEach((placed) => {
        overlay.label(placed);
      });
    });
    overlay.border();
    overlay.moments();
    if (scene.shown.arrows) {
      overlay.arrows();
    }
    overlay.ruler();
  }

  /** Brings the layer up to date: by as little as the view has moved, or anew. */
  private slices(scene: Scene, ratio: number): void {
    const { layer } = this;
    const { view, width, gutter, ...others } = scene;
    const now: Drawn = {
      timeline: others.timeline,
      layout: others.layout,
      palette: others.palette,
      from: view.from,
      span: view.to - view.from,
      width,
      height: others.height,
      gutter,
      scroll: others.scroll,
      emphasised: others.emphasised,
      shown: JSON.stringify(others.shown),
      ratio,
    };
    const context = layer.getContext("2d", { alpha: false })!;
    const before = this.drawn;
    this.drawn = now;
    const perPixel = now.span / (width - gutter);
    const by = before ? Math.round((now.from - before.from) / perPixel) : 0;
    const isMoved = before !== null && Math.abs(by) < width - gutter && isAlike(before, now);
    if (!isMoved) {
      layer.width = Math.round(width * ratio);
      layer.height = Math.round(now.height * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      paint(context, scene, view);
    } else if (by !== 0) {
      const [kept, copied] = [
        Math.round(gutter * ratio),
        Math.round((width - gutter - Math.abs(by)) * ratio),
      ];
      const shift = Math.round(by * ratio);
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.drawImage(
        layer,
        kept + Math.max(0, shift),
        0,
        copied,
        layer.height,
        kept + Math.max(0, -shift),
        0,
        copied,
        layer.height,
      );
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      // One column more: what is narrow at the seam may have been cut.
      const strip = (Math.abs(by) + 1) * perPixel;
      const shown =
        by > 0 ? { from: view.to - strip, to: view.to } : { from: view.from, to: view.from + strip };
      context.save();
      context.beginPath();
      const left = by > 0 ? width - Math.abs(by) - 1 : gutter;
      context.rect(left, 0, Math.abs(by) + 1, now.height);
      context.clip();
      paint(context, scene, shown);
      context.restore();
    }
  }
}

function isAlike(before: Drawn, now: Drawn): boolean {
  const keys = Object.keys(now) as (keyof Drawn)[];
  const isNear = Math.abs(before.span - now.span) < 1e-6 * now.span;
  return isNear && keys.every((key) => key === "from" || key === "span" || before[key] === now[key]);
}

/** The view moved to a multiple of a pixel: columns of pixels then lie on pixels, whatever one pans to. */
function snapped({ view, width, gutter }: Scene): View {
  const perPixel = (view.to - view.from) / (width - gutter);
  const by = Math.round(view.from / perPixel) * perPixel - view.from;
  return { from: view.from + by, to: view.to + by };
}

/** The rows that stay in place, and those that are scrolled, each in its part of the canvas. */
function inParts(context: CanvasRenderingContext2D, scene: Scene, act: (rows: Placed[]) => void): void {
  const { layout, width, height, scroll } = scene;
  const isPinned = ({ top }: Placed) => top < layout.pinned;
  const isSeen = ({ top, height: h }: Placed) => top + h - scroll > layout.pinned && top - scroll < height;
  const scrolled = layout.placed.filter((placed) => !isPinned(placed) && isSeen(placed));
  for (const [rows, from, to] of [
    [scrolled, layout.pinned, height],
    [layout.placed.filter(isPinned), RULER, layout.pinned],
  ] as const) {
    context.save();
    context.beginPath();
    context.rect(0, from, width, to - from);
    context.clip();
    act(rows);
    context.restore();
  }
}

/** The slices of a stretch of what is in view. */
function paint(context: CanvasRenderingContext2D, scene: Scene, range: View): void {
  context.fillStyle = scene.palette.back;
  context.fillRect(0, 0, scene.width, scene.height);
  const slices = new Slices(context, scene, range);
  inParts(context, scene, (rows) => {
    rows.forEach((placed) => {
      slices.row(placed);
    });
    slices.throttles(rows);
  });
}
