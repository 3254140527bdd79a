// A timeline as rows of slices: who ran on each CPU, and what state each task was in.
import type { Task, TimelineHead } from "../content.ts";
import { type Columns, summed } from "../data.ts";

export const State = {
  absent: 0,
  running: 1,
  runnable: 2,
  preempted: 3,
  sleeping: 4,
  blocked: 5,
  throttled: 6,
} as const;

export const STATE_NAMES = [
  "not there",
  "running",
  "woken, waiting for its CPU",
  "preempted, waiting for a CPU",
  "sleeping",
  "blocked",
  "throttled",
];

/** Slices that follow each other without gaps; each ends where the next begins. */
export interface Row {
  /** Where they begin; one more than there are, the end of the timeline. */
  starts: Float64Array;
  /** Of a CPU the task that runs, of a task its state. */
  keys: Uint32Array;
  /** Of a task, its CPU in each of them. */
  cpus: Uint16Array | null;
  /** How long the row was busy (a CPU not idle, a task running) before each slice. */
  busy: Float64Array;
  /** How long a task waited for a CPU before each slice. */
  waited: Float64Array | null;
}

/** Wakeups, by their time. */
export interface Wakeups {
  at: Float64Array;
  /** When the woken task ran. */
  ran: Float64Array;
  task: Uint32Array;
  /** Who woke it; the task that was interrupted where an interrupt did. */
  waker: Uint32Array;
  inInterrupt: Uint8Array;
  fromCpu: Uint16Array;
  onCpu: Uint16Array;
}

/** Stretches on CPUs, by CPU and then by their ends. */
export interface Stretches {
  from: Float64Array;
  until: Float64Array;
  /** By CPU: the first of its stretches; one more than there are CPUs. */
  first: Uint32Array;
}

export interface Locks extends Stretches {
  kind: Uint8Array;
  of: Uint32Array;
  holder: Uint16Array;
  waiters: Uint16Array;
}

export interface Interrupts extends Stretches {
  name: Uint16Array;
  waited: Float64Array;
}

export interface Throttles {
  from: Float64Array;
  until: Float64Array;
  /** -1 where it is a task's. */
  cpu: Int32Array;
  /** Of a queue the number of its group; -1: the real-time tasks. */
  group: Int32Array;
  task: Uint32Array;
}

export interface Decisions {
  time: Float64Array;
  cpu: Float64Array;
  task: Float64Array;
  reason: Float64Array;
}

export interface Timeline {
  head: TimelineHead;
  name: string;
  length: number;
  /** Number of switches, wakeups, migrations, waits, interrupts and decisions. */
  size: number;
  cpus: Row[];
  tasks: Row[];
  wakeups: Wakeups;
  /** Migrations from each CPU (row) to each (column). */
  migrations: Uint32Array;
  locks: Locks;
  interrupts: Interrupts;
  throttles: Throttles;
  decisions: Decisions;
}

const SWITCH = 0;
const WAKING = 1;
const MIGRATE = 4;

interface Events {
  time: Float64Array;
  kind: Float64Array;
  cpu: Float64Array;
  task: Float64Array;
  detail: Float64Array;
}

function column(columns: Columns, name: string): Float64Array {
  return columns.get(name) ?? new Float64Array(0);
}

export function build(head: TimelineHead, columns: Columns): Timeline {
  const events: Events = {
    time: summed(column(columns, "event.time")),
    kind: column(columns, "event.kind"),
    cpu: column(columns, "event.cpu"),
    task: column(columns, "event.task"),
    detail: column(columns, "event.detail"),
  };
  const throttles = readThrottles(columns);
  const made = replay(head, events, throttles);
  return {
    head,
    name: head.name,
    length: head.length_ns,
    size: [...columns].reduce((sum, [name, of]) => sum + (/\.(time|until)$/.test(name) ? of.length : 0), 0),
    ...made,
    locks: readLocks(head, columns),
    interrupts: readInterrupts(head, columns),
    throttles,
    decisions: {
      time: summed(column(columns, "decision.time")),
      cpu: column(columns, "decision.cpu"),
      task: column(columns, "decision.task"),
      reason: column(columns, "decision.reason"),
    },
  };
}

/** Where a row of each CPU or task begins in arrays for all of them. */
function places(counts: Uint32Array): Uint32Array {
  const first = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i += 1) {
    first[i + 1] = first[i] + counts[i];
  }
  return first;
}

/** Goes through the events once to count what comes of them, and once more to keep it. */
function replay(head: TimelineHead, events: Events, throttles: Throttles) {
  const counted = new Counter(head);
  walk(head, events, throttles, counted);
  const kept = new Keeper(head, counted);
  walk(head, events, throttles, kept);
  return kept.finish();
}

interface Visitor {
  onCpu(cpu: number, time: number, task: number): void;
  state(task: number, time: number, state: number, cpu: number): void;
  wakeup(
    at: number,
    ran: number,
    task: number,
    waker: number,
    inInterrupt: boolean,
    from: number,
    on: number,
  ): void;
  migration(from: number, to: number): void;
}

function walk(head: TimelineHead, events: Events, throttles: Throttles, visitor: Visitor): void {
  const tasks = head.tasks.length;
  const current = new Uint32Array(head.cpus);
  const state = new Uint8Array(tasks);
  const cpuOf = new Uint16Array(tasks);
  const wakingAt = new Float64Array(tasks).fill(-1);
  const wakingBy = new Uint32Array(tasks);
  const wakingFrom = new Uint16Array(tasks);
  const wakingIrq = new Uint8Array(tasks);
  const change = (task: number, time: number, to: number, cpu: number) => {
    if (task !== 0 && (state[task] !== to || cpuOf[task] !== cpu)) {
      state[task] = to;
      cpuOf[task] = cpu;
      visitor.state(task, time, to, cpu);
    }
  };
  for (let task = 1; task < tasks; task += 1) {
    state[task] = head.tasks[task].state;
    cpuOf[task] = head.tasks[task].cpu;
    visitor.state(task, 0, state[task], cpuOf[task]);
  }
  for (let cpu = 0; cpu < head.cpus; cpu += 1) {
    current[cpu] = head.first_on_cpu[cpu] ?? 0;
    visitor.onCpu(cpu, 0, current[cpu]);
  }
  // Tasks that may not run because a budget is used up: throttled while they wait.
  const limits: { time: number; task: number; isOver: boolean }[] = [];
  for (let i = 0; i < throttles.from.length; i += 1) {
    if (throttles.task[i] !== 0) {
      limits.push({ time: throttles.from[i], task: throttles.task[i], isOver: false });
      limits.push({ time: throttles.until[i], task: throttles.task[i], isOver: true });
    }
  }
  limits.sort((a, b) => a.time - b.time);
  const isThrottled = new Uint8Array(tasks);
  let limit = 0;
  // As what each throttled task waits.
  const waitsAs = new Uint8Array(tasks);
  const isWaiting = (of: number) => of === State.runnable || of === State.preempted;
  /** What a task that comes into a state shows. */
  const shown = (task: number, as: number): number => {
    if (isThrottled[task] && isWaiting(as)) {
      waitsAs[task] = as;
      return State.throttled;
    }
    return as;
  };
  const limitsUntil = (now: number) => {
    for (; limit < limits.length && limits[limit].time <= now; limit += 1) {
      const { time, task, isOver } = limits[limit];
      isThrottled[task] += isOver ? -1 : 1;
      if (isThrottled[task] === 0 && state[task] === State.throttled) {
        change(task, time, waitsAs[task], cpuOf[task]);
      } else {
        change(task, time, shown(task, state[task]), cpuOf[task]);
      }
    }
  };
  const { time, kind, cpu, task, detail } = events;
  for (let i = 0; i < time.length; i += 1) {
    const at = time[i];
    const me = cpu[i];
    const whom = task[i];
    limitsUntil(at);
    if (kind[i] === SWITCH) {
      const left = current[me];
      change(left, at, shown(left, detail[i]), me);
      current[me] = whom;
      visitor.onCpu(me, at, whom);
      change(whom, at, State.running, me);
      if (wakingAt[whom] >= 0) {
        const irq = wakingIrq[whom] === 1;
        visitor.wakeup(wakingAt[whom], at, whom, wakingBy[whom], irq, wakingFrom[whom], me);
        wakingAt[whom] = -1;
      }
    } else if (kind[i] === MIGRATE) {
      const from = Math.floor(detail[i] / head.cpus);
      const to = detail[i] % head.cpus;
      visitor.migration(from, to);
      if (isWaiting(state[whom]) || state[whom] === State.throttled) {
        change(whom, at, state[whom], to);
      } else {
        cpuOf[whom] = to;
      }
    } else {
      if (wakingAt[whom] < 0 && state[whom] !== State.running) {
        wakingAt[whom] = at;
        wakingBy[whom] = current[me];
        wakingFrom[whom] = me;
        wakingIrq[whom] = kind[i] === WAKING ? detail[i] : 0;
      }
      if (kind[i] !== WAKING && state[whom] !== State.running) {
        change(whom, at, shown(whom, State.runnable), detail[i]);
      }
    }
  }
  limitsUntil(head.length_ns);
}

class Counter implements Visitor {
  onCpus: Uint32Array;
  states: Uint32Array;
  wakeups = 0;

  constructor(head: TimelineHead) {
    this.onCpus = new Uint32Array(head.cpus);
    this.states = new Uint32Array(head.tasks.length);
  }

  onCpu(cpu: number): void {
    this.onCpus[cpu] += 1;
  }

  state(task: number): void {
    this.states[task] += 1;
  }

  wakeup(): void {
    this.wakeups += 1;
  }

  migration(): void {}
}

class Keeper implements Visitor {
  private readonly cpus: number;
  private readonly length: number;
  private readonly onCpus: Filling;
  private readonly states: Filling;
  private readonly cpuOf: Uint16Array;
  private readonly migrations: Uint32Array;
  private readonly wakeups: Wakeups;
  private woken = 0;

  constructor(head: TimelineHead, counted: Counter) {
    this.cpus = head.cpus;
    this.length = head.length_ns;
    this.onCpus = new Filling(counted.onCpus);
    this.states = new Filling(counted.states);
    this.cpuOf = new Uint16Array(this.states.keys.length);
    this.migrations = new Uint32Array(head.cpus * head.cpus);
    const wakeups = counted.wakeups;
    this.wakeups = {
      at: new Float64Array(wakeups),
      ran: new Float64Array(wakeups),
      task: new Uint32Array(wakeups),
      waker: new Uint32Array(wakeups),
      inInterrupt: new Uint8Array(wakeups),
      fromCpu: new Uint16Array(wakeups),
      onCpu: new Uint16Array(wakeups),
    };
  }

  onCpu(cpu: number, time: number, task: number): void {
    this.onCpus.add(cpu, time, task);
  }

  state(task: number, time: number, state: number, cpu: number): void {
    this.cpuOf[this.states.add(task, time, state)] = cpu;
  }

  wakeup(at: number, ran: number, task: number, waker: number, irq: boolean, from: number, on: number): void {
    const to = this.wakeups;
    const i = this.woken++;
    to.at[i] = at;
    to.ran[i] = ran;
    to.task[i] = task;
    to.waker[i] = waker;
    to.inInterrupt[i] = irq ? 1 : 0;
    to.fromCpu[i] = from;
    to.onCpu[i] = on;
  }

  migration(from: number, to: number): void {
    this.migrations[from * this.cpus + to] += 1;
  }

  finish() {
    const isBusy = (task: number) => task !== 0;
    const runs = (state: number) => state === State.running;
    const waits = (state: number) => state === State.runnable || state === State.preempted;
    return {
      cpus: this.onCpus.rows(this.length, isBusy, null, null),
      tasks: this.states.rows(this.length, runs, waits, this.cpuOf),
      wakeups: this.wakeups,
      migrations: this.migrations,
    };
  }
}

/** Arrays for the slices of all rows, each with a place for its end. */
class Filling {
  readonly first: Uint32Array;
  readonly next: Uint32Array;
  readonly starts: Float64Array;
  readonly keys: Uint32Array;

  constructor(counts: Uint32Array) {
    this.first = places(counts.map((count) => count + 1));
    this.next = this.first.slice();
    this.starts = new Float64Array(this.first[counts.length]);
    this.keys = new Uint32Array(this.first[counts.length]);
  }

  add(row: number, start: number, key: number): number {
    const i = this.next[row]++;
    this.starts[i] = start;
    this.keys[i] = key;
    return i;
  }

  rows(
    length: number,
    isBusy: (key: number) => boolean,
    waits: ((key: number) => boolean) | null,
    cpus: Uint16Array | null,
  ): Row[] {
    const busy = new Float64Array(this.starts.length);
    const waited = waits ? new Float64Array(this.starts.length) : null;
    const rows: Row[] = [];
    for (let row = 0; row + 1 < this.first.length; row += 1) {
      const [from, end] = [this.first[row], this.next[row]];
      this.starts[end] = length;
      for (let i = from; i < end; i += 1) {
        const lasts = this.starts[i + 1] - this.starts[i];
        busy[i + 1] = busy[i] + (isBusy(this.keys[i]) ? lasts : 0);
        if (waits && waited) {
          waited[i + 1] = waited[i] + (waits(this.keys[i]) ? lasts : 0);
        }
      }
      rows.push({
        starts: this.starts.subarray(from, end + 1),
        keys: this.keys.subarray(from, end),
        cpus: cpus ? cpus.subarray(from, end) : null,
        busy: busy.subarray(from, end + 1),
        waited: waited ? waited.subarray(from, end + 1) : null,
      });
    }
    return rows;
  }
}

/** The order by CPU, that of the columns within one, and where each begins. */
function byCpu(cpus: number, cpu: Float64Array): { order: Uint32Array; first: Uint32Array } {
  const counts = new Uint32Array(cpus);
  for (const of of cpu) {
    counts[of] += 1;
  }
  const first = places(counts);
  const next = first.slice();
  const order = new Uint32Array(cpu.length);
  for (let i = 0; i < cpu.length; i += 1) {
    order[next[cpu[i]]++] = i;
  }
  return { order, first };
}

function stretches(until: Float64Array, length: Float64Array, order: Uint32Array) {
  const ends = Float64Array.from(order, (i) => until[i]);
  const from = Float64Array.from(order, (i) => until[i] - length[i]);
  return { from, until: ends };
}

function readLocks(head: TimelineHead, columns: Columns): Locks {
  const { order, first } = byCpu(head.cpus, column(columns, "lock.cpu"));
  const until = summed(column(columns, "lock.until"));
  const picked = (name: string) => {
    const of = column(columns, name);
    return Float64Array.from(order, (i) => of[i]);
  };
  return {
    ...stretches(until, column(columns, "lock.length"), order),
    first,
    kind: Uint8Array.from(picked("lock.kind")),
    of: Uint32Array.from(picked("lock.of")),
    holder: Uint16Array.from(picked("lock.holder")),
    waiters: Uint16Array.from(picked("lock.waiters")),
  };
}

function readInterrupts(head: TimelineHead, columns: Columns): Interrupts {
  const { order, first } = byCpu(head.cpus, column(columns, "interrupt.cpu"));
  const until = summed(column(columns, "interrupt.until"));
  const [name, waited] = [column(columns, "interrupt.name"), column(columns, "interrupt.waited")];
  return {
    ...stretches(until, column(columns, "interrupt.length"), order),
    first,
    name: Uint16Array.from(order, (i) => name[i]),
    waited: Float64Array.from(order, (i) => waited[i]),
  };
}

function readThrottles(columns: Columns): Throttles {
  const until = summed(column(columns, "throttle.until"));
  const length = column(columns, "throttle.length");
  return {
    from: until.map((end, i) => end - length[i]),
    until,
    cpu: Int32Array.from(column(columns, "throttle.cpu"), (cpu) => cpu - 1),
    group: Int32Array.from(column(columns, "throttle.group"), (group) => group - 1),
    task: Uint32Array.from(column(columns, "throttle.task")),
  };
}

/** The last of ascending numbers that is not above `value`; -1 where all are. */
export function lastUpTo(sorted: ArrayLike<number>, value: number, low = 0, high = sorted.length): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (sorted[middle] <= value) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from - 1;
}

/** The slice of a row at a time. */
export function sliceAt(row: Row, time: number): number {
  return Math.max(0, Math.min(row.keys.length - 1, lastUpTo(row.starts, time, 0, row.keys.length)));
}

/** How long a row was busy, or waited, before a time; `sums` is one of its own. */
export function before(row: Row, sums: Float64Array, time: number): number {
  const i = sliceAt(row, time);
  const lasts = row.starts[i + 1] - row.starts[i];
  const part = lasts > 0 ? Math.max(0, Math.min(1, (time - row.starts[i]) / lasts)) : 0;
  return sums[i] + (sums[i + 1] - sums[i]) * part;
}

/** A task by its names. */
export function taskName(task: Task): string {
  return task.names.length > 0 ? [...new Set(task.names)].join(" → ") : `pid ${task.pid}`;
}

/** The name that tasks of one command share. */
export function command(task: Task): string {
  return task.names.at(-1) ?? `pid ${task.pid}`;
}
