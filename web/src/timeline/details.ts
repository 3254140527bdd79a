// What is said of the selected moment of a row.
import { element } from "../dom.ts";
import { duration, exactly, priority } from "../format.ts";
import type { Selected } from "./frame.ts";
import { lastUpTo, type Row, STATE_NAMES, State, sliceAt, type Timeline, taskName } from "./model.ts";

export interface Actions {
  /** Selects and shows. */
  go(selected: Selected, width?: number): void;
  link(selected: Selected): string;
}

/** The wakeup that ended before or at a time, of a task; -1 without one. */
export function wakeupBefore(timeline: Timeline, task: number, time: number): number {
  const { wakeups } = timeline;
  for (let i = lastUpTo(wakeups.at, time); i >= 0; i -= 1) {
    if (wakeups.task[i] === task) {
      return i;
    }
    // Not further back than the task's own last slices.
    if (time - wakeups.at[i] > 1e9 && i % 4096 === 0) {
      break;
    }
  }
  return -1;
}

export function who(timeline: Timeline, number: number): string {
  const task = timeline.head.tasks[number];
  return number === 0 ? "idle" : `${taskName(task)} (${task.pid})`;
}

/** A lock of the kernel by its kind, with whose it is. */
export function lockName(timeline: Timeline, kind: number, of: number): string {
  const name = timeline.head.lock_names[kind];
  const whose = [`of CPU ${of}`, "", `of mutex ${of}`, "", `of CPU ${of}`, `of channel ${of}`][kind];
  return kind === PI_LOCK ? `${name} of ${who(timeline, of)}` : `${name} ${whose}`.trim();
}

/** The kind of lock that is a task's. */
const PI_LOCK = 1;

export function details(timeline: Timeline, selected: Selected, actions: Actions): HTMLElement {
  const zero = timeline.head.start_ns;
  const row = selected.kind === "cpu" ? timeline.cpus[selected.number] : timeline.tasks[selected.number];
  const i = sliceAt(row, selected.time);
  const [from, until] = [row.starts[i], row.starts[i + 1]];
  const list = element("dl");
  const say = (name: string, ...value: (string | Node)[]) => {
    list.append(element("dt", {}, name), element("dd", {}, ...value));
  };
  const jump = (text: string, to: Selected) =>
    element(
      "a",
      {
        href: actions.link(to),
        click: (event) => {
          event.preventDefault();
          actions.go(to);
        },
      },
      text,
    );
  const task = selected.kind === "cpu" ? row.keys[i] : selected.number;
  const title =
    selected.kind === "cpu"
      ? `CPU ${selected.number}: ${who(timeline, row.keys[i])}`
      : who(timeline, selected.number);
  if (selected.kind === "task") {
    const state = row.keys[i];
    const on = state === State.running || state === State.runnable || state === State.preempted;
    say("state", `${STATE_NAMES[state]}${on && row.cpus ? `, CPU ${row.cpus[i]}` : ""}`);
  }
  if (task !== 0) {
    say("priority", priority(timeline.head.tasks[task].prio) || "not known");
  }
  say("from", exactly(from + zero));
  say("to", exactly(until + zero));
  say("for", duration(until - from));
  if (task !== 0) {
    const woken = wakeupBefore(timeline, task, until);
    if (woken >= 0) {
      const w = timeline.wakeups;
      const by = w.inInterrupt[woken]
        ? `an interrupt on CPU ${w.fromCpu[woken]}`
        : who(timeline, w.waker[woken]);
      const at: Selected = { kind: "cpu", number: w.fromCpu[woken], time: w.at[woken] };
      say("last woken by", jump(by, at), ` at ${exactly(w.at[woken] + zero)}`);
      say("ran after", duration(w.ran[woken] - w.at[woken]));
    }
    if (selected.kind === "cpu") {
      say("task", jump(who(timeline, task), { kind: "task", number: task, time: selected.time }));
    }
    const of = timeline.tasks[task];
    say(
      "in all",
      `${duration(of.busy[of.busy.length - 1])} running, ${duration(of.waited?.at(-1) ?? 0)} waiting`,
    );
  }
  const around = nearby(timeline, selected, row, i, task);
  return element("div", { class: "details" }, element("h3", {}, title), list, ...around);
}

/** Whose time is used up: a group's, by its number; behind all groups' that of their real-time tasks; else all of these. */
export function throttledName(groups: readonly string[], number: number): string {
  if (number < 0) {
    return "real-time tasks";
  }
  return number < groups.length
    ? `group ${groups[number]}`
    : `real-time tasks of group ${groups[number - groups.length]}`;
}

/** What else happened in the slice: decisions about the task; waits for locks and interrupts on the CPU. */
function nearby(timeline: Timeline, selected: Selected, row: Row, i: number, task: number): Node[] {
  const most = 8;
  const [from, until] = [row.starts[i], row.starts[i + 1]];
  const zero = timeline.head.start_ns;
  const lines: { time: number; text: string; title: string }[] = [];
  const { decisions, locks, interrupts, throttles } = timeline;
  for (
    let n = lastUpTo(decisions.time, from - 1) + 1;
    n < decisions.time.length && decisions.time[n] <= until;
    n += 1
  ) {
    const isMeant =
      selected.kind === "task" ? decisions.task[n] === task : decisions.cpu[n] === selected.number;
    if (isMeant && lines.length < 4 * most) {
      const reason = timeline.head.reasons[decisions.reason[n]];
      lines.push({ time: decisions.time[n], text: reason.name, title: reason.meaning });
    }
  }
  const cpu = selected.kind === "cpu" ? selected.number : row.cpus ? row.cpus[i] : -1;
  if (cpu >= 0) {
    for (let n = lastUpTo(throttles.until, from) + 1; n < throttles.until.length; n += 1) {
      if (throttles.cpu[n] === cpu && throttles.from[n] < until && lines.length < 6 * most) {
        const whose = throttledName(timeline.head.groups, throttles.group[n]);
        const text = `throttled: ${whose}, for ${duration(throttles.until[n] - throttles.from[n])}`;
        lines.push({ time: throttles.from[n], text, title: "" });
      }
    }
    const end = locks.first[cpu + 1];
    for (
      let n = lastUpTo(locks.until, from, locks.first[cpu], end) + 1;
      n < end && locks.from[n] <= until;
      n += 1
    ) {
      const held = `${lockName(timeline, locks.kind[n], locks.of[n])}, held by CPU ${locks.holder[n]}`;
      const text = `waited ${duration(locks.until[n] - locks.from[n])} for the ${held}`;
      lines.push({ time: locks.from[n], text, title: "" });
      if (lines.length > 8 * most) {
        break;
      }
    }
    const last = interrupts.first[cpu + 1];
    for (
      let n = lastUpTo(interrupts.until, from, interrupts.first[cpu], last) + 1;
      n < last && interrupts.from[n] <= until;
      n += 1
    ) {
      const late = interrupts.waited[n] > 0 ? `, had waited ${duration(interrupts.waited[n])}` : "";
      const name = timeline.head.interrupt_names[interrupts.name[n]];
      const text = `interrupt: ${name}, ${duration(interrupts.until[n] - interrupts.from[n])}${late}`;
      lines.push({ time: interrupts.from[n], text, title: "" });
      if (lines.length > 12 * most) {
        break;
      }
    }
  }
  lines.sort((a, b) => a.time - b.time);
  if (lines.length === 0) {
    return [];
  }
  const shown = lines
    .slice(0, most)
    .map(({ time, text, title }) =>
      element(
        "li",
        { title: title || null },
        `${exactly(time + zero)}  `,
        element("span", {}, text),
        title ? `: ${title}` : null,
      ),
    );
  const rest = lines.length > most ? element("li", {}, "and more: look closer") : null;
  return [element("h4", {}, "meanwhile"), element("ul", {}, ...shown, rest)];
}
