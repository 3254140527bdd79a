#!/usr/bin/env python3
"""How close replays come to their recordings: the share of figures of single tasks within a bound.

usage: validation/replay_figures.py SCHEDLAB RECORDING...

A RECORDING is a trace (trace.dat, perf.data, text, packed or not); under a folder, every file that ends so. Each is replayed on
the machine and under the kernel class of the recording, and the tasks of the fidelity block are judged as schedlab prints them:
switches and migrations from 20 recorded on, within 15 %; CPU time from 0.5 ms on, within 1 %, and above 50 ms, within 2 %;
wakeup latency from 20 samples on, within 25 %. Tasks with less than 1 % of the CPU time and 2 % of the switches are left out.
The recorded side is schedlab's own reading of the trace; `inspect` is compared with perf's and trace-cmd's elsewhere.
Exit code: 0, or 2 where a recording does not run. Python's standard library only.
"""
import json
import os
import subprocess
import sys

ENDINGS = (".dat", ".perf.data", ".trace.txt", ".trace.txt.gz", ".dat.gz", "trace.txt", "trace.txt.gz")
REALTIME = ("FIFO", "RR", "fifo", "rr")


def recordings(arguments):
    for argument in arguments:
        if not os.path.isdir(argument):
            yield argument
            continue
        for folder, _, files in sorted(os.walk(argument)):
            yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(ENDINGS))


def run(schedlab, recording, machine):
    command = [schedlab, "run", recording, "--format", "json"] + (["--machine", machine] if machine else [])
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{recording}: {done.stderr.strip()[:300]}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def judged(result):
    """(class, figure, recorded, replayed) of every figure that is judged."""
    policy = {task["pid"]: str(task.get("policy", "")) for task in result["tasks"]}
    for replay in result.get("replay", []):
        tasks = replay["tasks"]
        cpu = sum(task["cpu_time_ns"]["recorded"] for task in tasks) or 1
        switches = sum(task["nr_switches"]["recorded"] for task in tasks) or 1
        for task in tasks:
            if task["cpu_time_ns"]["recorded"] < 0.01 * cpu and task["nr_switches"]["recorded"] < 0.02 * switches:
                continue
            kind = "RT" if any(word in policy.get(task["pid"], "") for word in REALTIME) else "fair"
            figures = {name: task[name] for name in ("cpu_time_ns", "nr_switches", "nr_migrations") if name in task}
            floors = {"cpu_time_ns": 500_000, "nr_switches": 20, "nr_migrations": 20}
            if task["wakeup_latencies"]["recorded"] >= 20 and task["wakeup_latencies"]["simulated"]:
                figures["wakeup_latency_mean_ns"] = task["wakeup_latency_mean_ns"]
            for name, pair in figures.items():
                if pair["recorded"] >= floors.get(name, 1):
                    yield kind, name, pair["recorded"], pair["simulated"]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    schedlab, failed, rows = sys.argv[1], False, []
    machine = os.environ.get("MACHINE")
    for recording in recordings(sys.argv[2:]):
        result = run(schedlab, recording, machine)
        failed |= result is None
        rows += judged(result) if result else []
    bounds = [("nr_switches", 15, 0), ("nr_migrations", 15, 0), ("cpu_time_ns", 1, 0), ("cpu_time_ns", 2, 50_000_000),
              ("wakeup_latency_mean_ns", 25, 0)]
    print(f"{'tasks':6}{'figure':28}{'within':>8}{'share':>8}{'of':>7}")
    for kind in ("RT", "fair"):
        for name, bound, floor in bounds:
            of = [abs(there / here - 1) for k, n, here, there in rows if (k, n) == (kind, name) and here >= floor]
            if of:
                share = 100 * sum(error <= bound / 100 for error in of) / len(of)
                what = name + (" above 50 ms" if floor else "")
                print(f"{kind:6}{what:28}{bound:>6} %{share:>6.0f} %{len(of):>7}")
    sys.exit(2 if failed else 0)


if __name__ == "__main__":
    main()
