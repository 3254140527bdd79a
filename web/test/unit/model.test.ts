import { describe, expect, it } from "vitest";
import type { TimelineHead } from "../../src/content.ts";
import { spinning } from "../../src/parts/usage.ts";
import { worst } from "../../src/parts/worst.ts";
import { before, build, lastUpTo, State, sliceAt } from "../../src/timeline/model.ts";

const [SWITCH, WAKING, WAKEUP, NEW, MIGRATE] = [0, 1, 2, 3, 4];

function head(change: Partial<TimelineHead> = {}): TimelineHead {
  const task = (pid: number) => ({ pid, names: [`t${pid}`], prio: 120, state: 0, cpu: 0 });
  return {
    name: "test",
    cpus: 2,
    start_ns: 0,
    length_ns: 1000,
    first_on_cpu: [0, 0],
    tasks: [task(0), task(1), task(2)],
    interrupt_names: [],
    groups: [],
    lock_names: ["run-queue lock", "pi_lock", "wait_lock", "rto_lock", "push lock"],
    reasons: [],
    markers: [],
    settings: [],
    left_out: [],
    columns: [],
    ...change,
  };
}

/** Rows of time, kind, CPU, task, detail. */
function timeline(
  rows: number[][],
  others: Record<string, number[]> = {},
  change: Partial<TimelineHead> = {},
) {
  const columns = new Map<string, Float64Array>();
  let last = 0;
  const times = rows.map(([time]) => {
    const step = time - last;
    last = time;
    return step;
  });
  columns.set("event.time", Float64Array.from(times));
  ["kind", "cpu", "task", "detail"].forEach((name, i) => {
    columns.set(`event.${name}`, Float64Array.from(rows.map((row) => row[i + 1])));
  });
  for (const [name, values] of Object.entries(others)) {
    columns.set(name, Float64Array.from(values));
  }
  return build(head(change), columns);
}

describe("a timeline", () => {
  // Task 1 begins, runs, sleeps, is woken by task 2 on CPU 1, and waits until it runs there.
  const of = timeline([
    [10, NEW, 0, 1, 0],
    [20, SWITCH, 0, 1, 0],
    [100, NEW, 0, 2, 1],
    [110, SWITCH, 1, 2, 0],
    [300, SWITCH, 0, 0, State.sleeping],
    [400, WAKING, 1, 1, 0],
    [405, MIGRATE, 1, 1, 0 * 2 + 1],
    [410, WAKEUP, 1, 1, 1],
    [600, SWITCH, 1, 1, State.preempted],
    [900, SWITCH, 1, 2, 0],
  ]);

  it("has the slices of each CPU", () => {
    expect([...of.cpus[0].starts]).toEqual([0, 20, 300, 1000]);
    expect([...of.cpus[0].keys]).toEqual([0, 1, 0]);
    expect([...of.cpus[1].keys]).toEqual([0, 2, 1, 2]);
  });

  it("has the states of each task", () => {
    expect([...of.tasks[1].keys]).toEqual([
      State.absent,
      State.runnable,
      State.running,
      State.sleeping,
      State.runnable,
      State.running,
      State.absent,
    ]);
    expect([...of.tasks[1].starts]).toEqual([0, 10, 20, 300, 410, 600, 900, 1000]);
    expect(of.tasks[1].cpus?.[4]).toBe(1);
    expect([...of.tasks[2].keys]).toEqual([
      State.absent,
      State.runnable,
      State.running,
      State.preempted,
      State.running,
    ]);
  });

  it("knows who woke whom, and how long that took", () => {
    const w = of.wakeups;
    const of1 = [...w.task].map((task, i) => [task, w.at[i], w.ran[i], w.waker[i], w.fromCpu[i], w.onCpu[i]]);
    expect(of1).toEqual([
      [1, 10, 20, 0, 0, 0],
      [2, 100, 110, 1, 0, 1],
      [1, 400, 600, 2, 1, 1],
    ]);
    expect(worst(of, 1)).toEqual([2]);
  });

  it("sums how long rows were busy and waited", () => {
    expect(before(of.cpus[0], of.cpus[0].busy, 1000)).toBe(280);
    expect(before(of.cpus[0], of.cpus[0].busy, 160)).toBe(140);
    expect(before(of.tasks[1], of.tasks[1].waited!, 1000)).toBe(10 + 190);
  });

  it("counts migrations from CPU to CPU", () => {
    expect([...of.migrations]).toEqual([0, 1, 0, 0]);
  });
});

describe("what happens beside", () => {
  it("throttles a task from when it leaves its CPU until it may run again", () => {
    const of = timeline(
      [
        [10, NEW, 0, 1, 0],
        [20, SWITCH, 0, 1, 0],
        [100, SWITCH, 0, 0, State.preempted],
        [500, SWITCH, 0, 1, 0],
      ],
      {
        "throttle.until": [400],
        "throttle.length": [310],
        "throttle.cpu": [0],
        "throttle.group": [0],
        "throttle.task": [1],
      },
    );
    const [keys, starts] = [[...of.tasks[1].keys], [...of.tasks[1].starts]];
    expect(keys.slice(3)).toEqual([State.throttled, State.preempted, State.running]);
    expect(starts.slice(3, 6)).toEqual([100, 400, 500]);
  });

  it("throttles a task that waits, in whatever way it came to wait", () => {
    const of = timeline(
      [
        [10, NEW, 0, 1, 0],
        [20, SWITCH, 0, 1, 0],
        [100, SWITCH, 0, 0, State.sleeping],
        [200, WAKEUP, 0, 1, 0],
        [500, SWITCH, 0, 1, 0],
      ],
      {
        // The queue, then twice the task: woken into the queue, and once more while it waits.
        "throttle.until": [150, 100, 200],
        "throttle.length": [100, 50, 50],
        "throttle.cpu": [1, 0, 0],
        "throttle.group": [1, 0, 0],
        "throttle.task": [0, 1, 1],
      },
    );
    const [keys, starts] = [[...of.tasks[1].keys], [...of.tasks[1].starts]];
    const { throttled, runnable, running, sleeping } = State;
    expect(keys.slice(3)).toEqual([sleeping, throttled, runnable, throttled, runnable, running]);
    expect(starts.slice(3, 9)).toEqual([100, 200, 250, 400, 450, 500]);
    expect([...of.throttles.group]).toEqual([0, -1, -1]);
  });

  it("orders waits for locks by CPU", () => {
    const of = timeline([], {
      "lock.until": [100, 50],
      "lock.length": [100, 20],
      "lock.cpu": [1, 0],
      "lock.kind": [0, 0],
      "lock.of": [0, 1],
      "lock.holder": [0, 1],
      "lock.waiters": [0, 1],
    });
    expect([...of.locks.first]).toEqual([0, 1, 2]);
    expect([...of.locks.until]).toEqual([150, 100]);
    expect([...of.locks.from]).toEqual([130, 0]);
    // One CPU for the first 100 of 500 ns, and one from 130 to 150.
    const [first, second] = spinning(of, 2);
    expect(first).toBeCloseTo(0.24);
    expect(second).toBe(0);
  });

  it("begins with what was before", () => {
    const tasks = head().tasks;
    tasks[1].state = State.running;
    const of = timeline([[100, SWITCH, 0, 0, State.blocked]], {}, { first_on_cpu: [1, null], tasks });
    expect([...of.cpus[0].keys]).toEqual([1, 0]);
    expect([...of.tasks[1].keys]).toEqual([State.running, State.blocked]);
  });
});

describe("looking up", () => {
  it("finds the last that is not above", () => {
    expect([0, 5, 7, 10, 11].map((value) => lastUpTo([5, 7, 10], value))).toEqual([-1, 0, 1, 2, 2]);
  });

  it("finds the slice of a time, and stays in the row", () => {
    const of = timeline([[500, SWITCH, 0, 1, 0]]);
    expect([-5, 0, 499, 500, 5000].map((time) => sliceAt(of.cpus[0], time))).toEqual([0, 0, 0, 1, 1]);
  });
});
