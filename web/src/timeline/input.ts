// Mouse, wheel, fingers and keys.
import { RULER, type View } from "./layout.ts";
import { clamped, moved, zoomed } from "./navigate.ts";

export interface Target {
  view(): View;
  length(): number;
  width(): number;
  gutter(): number;
  /** What stays where it is when keys zoom. */
  focus(): number;
  show(view: View): void;
  scrollRows(by: number): void;
  pick(x: number, y: number): void;
  hover(at: { x: number; y: number } | null): void;
  /** The slice before or after the selected one. */
  step(by: 1 | -1): void;
  /** The row above or below the selected one. */
  row(by: 1 | -1): void;
  /** Shows the selected slice. */
  closeUp(): void;
  /** To who woke the selected task. */
  toWaker(): void;
  clear(): void;
  search(): void;
}

/** As far as a finger may move and still taps. */
const TAP = 5;

export function listen(canvas: HTMLCanvasElement, target: Target): void {
  const perPixel = () => (target.view().to - target.view().from) / (target.width() - target.gutter());
  const timeAt = (x: number) =>
    target.view().from + (Math.max(x, target.gutter()) - target.gutter()) * perPixel();
  const zoom = (times: number, at: number) => target.show(zoomed(target.view(), times, at, target.length()));
  const pan = (pixels: number) => target.show(moved(target.view(), pixels * perPixel(), target.length()));

  canvas.addEventListener(
    "wheel",
    (event) => {
      // Plain wheels scroll the rows and the page, but for the ruler: there is nothing to scroll.
      const zooms = event.ctrlKey || event.metaKey || event.altKey || event.offsetY < RULER;
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      if (zooms) {
        event.preventDefault();
        const lines = event.deltaMode === 1 ? 16 : 1;
        zoom(Math.exp(-event.deltaY * lines * 0.0022), timeAt(event.offsetX));
      } else if (sideways !== 0 && Math.abs(sideways) >= Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        event.preventDefault();
        pan(sideways);
      }
    },
    { passive: false },
  );

  const fingers = new Map<number, { x: number; y: number }>();
  let began: { x: number; y: number; view: View; marks: boolean } | null = null;
  let far = false;
  const apart = () => {
    const [a, b] = [...fingers.values()];
    return { distance: Math.max(20, Math.abs(a.x - b.x)), middle: (a.x + b.x) / 2 };
  };
  let pinch: { distance: number; time: number; view: View } | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.focus({ preventScroll: true });
    if (event.button !== 0) {
      return;
    }
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    far = false;
    began = { x: event.offsetX, y: event.offsetY, view: target.view(), marks: event.shiftKey };
    if (fingers.size === 2) {
      const { distance, middle } = apart();
      pinch = { distance, time: timeAt(middle), view: target.view() };
    }
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) {
      target.hover({ x: event.offsetX, y: event.offsetY });
      return;
    }
    const last = fingers.get(event.pointerId)!;
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (pinch && fingers.size === 2) {
      const now = apart();
      const span = ((pinch.view.to - pinch.view.from) * pinch.distance) / now.distance;
      const from = pinch.time - ((now.middle - target.gutter()) / (target.width() - target.gutter())) * span;
      target.show(clamped({ from, to: from + span }, target.length()));
    } else if (began) {
      far ||= Math.hypot(event.offsetX - began.x, event.offsetY - began.y) > TAP;
      if (far && !began.marks) {
        pan(last.x - event.offsetX);
        if (event.pointerType === "mouse") {
          target.scrollRows(last.y - event.offsetY);
        }
      }
    }
  });
  const end = (event: PointerEvent) => {
    const was = fingers.delete(event.pointerId);
    if (fingers.size < 2) {
      pinch = null;
    }
    if (was && began && event.type === "pointerup") {
      if (began.marks && far) {
        const [from, to] = [timeAt(began.x), timeAt(event.offsetX)];
        target.show(clamped({ from: Math.min(from, to), to: Math.max(from, to) }, target.length()));
      } else if (!far) {
        target.pick(event.offsetX, event.offsetY);
      }
    }
    began = fingers.size === 0 ? null : began;
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => target.hover(null));
  canvas.addEventListener("dblclick", () => target.closeUp());

  const keys: Record<string, () => void> = {
    ArrowLeft: () => pan(-80),
    ArrowRight: () => pan(80),
    a: () => pan(-80),
    d: () => pan(80),
    "+": () => zoom(1.5, target.focus()),
    "=": () => zoom(1.5, target.focus()),
    w: () => zoom(1.5, target.focus()),
    "-": () => zoom(1 / 1.5, target.focus()),
    s: () => zoom(1 / 1.5, target.focus()),
    "0": () => target.show({ from: 0, to: target.length() }),
    Home: () => target.show(moved(target.view(), -target.length(), target.length())),
    End: () => target.show(moved(target.view(), target.length(), target.length())),
    PageUp: () => pan(-(target.width() - target.gutter())),
    PageDown: () => pan(target.width() - target.gutter()),
    ArrowUp: () => target.row(-1),
    ArrowDown: () => target.row(1),
    ".": () => target.step(1),
    ",": () => target.step(-1),
    Enter: () => target.closeUp(),
    f: () => target.toWaker(),
    Escape: () => target.clear(),
    "/": () => target.search(),
  };
  canvas.addEventListener("keydown", (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
}
