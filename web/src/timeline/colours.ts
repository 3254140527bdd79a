// Colours: of commands by their names, of states from the style sheet.
import type { Task } from "../content.ts";
import { command, STATE_NAMES } from "./model.ts";

export interface Palette {
  dark: boolean;
  back: string;
  gutter: string;
  line: string;
  text: string;
  faint: string;
  accent: string;
  idle: string;
  lock: string;
  interrupt: string;
  arrow: string;
  states: string[];
  /** By the task's number; the idle task's is that of idle CPUs. */
  tasks: string[];
  /** The same beside a task that stands out. */
  dimmed: string[];
}

const STATES = ["absent", "running", "runnable", "preempted", "sleeping", "blocked", "throttled"];

export function stateVariable(state: number): string {
  return `--state-${STATES[state]}`;
}

/** A number for a name, the same on every machine. */
function hash(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  }
  return hash >>> 0;
}

// Hues that are told apart beside each other, those of the states left out as far as that goes.
const HUES = [211, 262, 172, 318, 142, 28, 190, 285, 95, 230, 350, 55];

export function palette(tasks: Task[]): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(name).trim();
  const dark = of("--is-dark") === "1";
  // Commands take hues in the order in which they come, so that few commands never share one.
  const hues = new Map<string, number>();
  const colour = (task: Task, alpha: number) => {
    const name = command(task);
    const place = hues.get(name) ?? hues.size;
    hues.set(name, place);
    const hue = place < HUES.length ? HUES[place] : hash(name) % 360;
    const shade = (hash(name) >>> 8) % 3;
    return dark
      ? `hsl(${hue} 42% ${52 + 5 * shade}% / ${alpha})`
      : `hsl(${hue} 48% ${57 + 5 * shade}% / ${alpha})`;
  };
  const all = (alpha: number) =>
    tasks.map((task, number) => (number === 0 ? of("--idle") : colour(task, alpha)));
  return {
    dark,
    back: of("--surface"),
    gutter: of("--back"),
    line: of("--line"),
    text: of("--text"),
    faint: of("--faint"),
    accent: of("--accent"),
    idle: of("--idle"),
    lock: of("--lock"),
    interrupt: of("--interrupt"),
    arrow: of("--arrow"),
    states: STATE_NAMES.map((_, state) => of(stateVariable(state))),
    tasks: all(1),
    dimmed: all(0.3),
  };
}
