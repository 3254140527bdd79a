#!/usr/bin/env python3
"""How close replays come to their recordings: the figures by which this project judges itself.

usage: validation/replay_figures.py [--check] [--misses] SCHEDLAB RECORDING...

A RECORDING is a trace (trace.dat, perf.data, text, packed or not); under a folder, every file that ends so. Each is replayed on
its own machine and kernel (text names none: then that of meta.json beside it, or 6.1 of guests),
and every task with 1 % of the CPU time or 2 %
of the switches is judged: counts from 20 on, latencies from 20 samples. What was recorded is what the field's own tools read from
the trace, where their output lies beside it (*.reference.json: trace-cmd; perf_sched_timehist.txt.gz: perf), or what the program
counted itself (result.json), and else what `schedlab inspect` reads, which equals `perf sched latency`; it is never what the
replay says of itself.

A recording is of a guest (Linux 6.1, whose classes are modelled) if a part of its path begins with "guest"; all others are
native. Real-time tasks are those with most of their CPU time under SCHED_FIFO or SCHED_RR. A guest's folder whose name ends with
a feature (NO_START_DEBIT) was recorded with that. Recordings of disk I/O (io-*-cpuN.*) are replayed on other numbers of CPUs.

--check   exit code 1 if a wanted share is missed; 2 where a recording does not run, with and without it.
--misses  name each figure that is out of bounds.
Python's standard library only.
"""
import glob
import gzip
import json
import os
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field

ENDINGS = (".dat", ".dat.gz", "perf.data", "perf.data.gz", "trace.txt", "trace.txt.gz")
FEATURE = re.compile(r"-((?:NO_)?(?:RT_PUSH_IPI|START_DEBIT|GENTLE_FAIR_SLEEPERS|WAKEUP_PREEMPTION))$")
LEAST_COUNT = 20
LEAST_CPU_US = 500
LONG_CPU_US = 50_000

# Of an io-*-cpuN recording, by N: the seconds that its whole script takes on other numbers of CPUs. On 1 and 2 these are the
# medians of five real runs. On 8 it is the critical path by hand: three waves of 86 ms (recorded on one CPU: 88 ms) of work, 6 ms of
# writes (recorded on one CPU: 33 ms in the first wave) and 3 ms of start and end, and the script's own 5 ms (3 ms).
IO_SECONDS = {2: {1: 1.08, 8: 0.29}, 1: {2: 0.58, 8: 0.32}}


@dataclass
class Task:
    """What is known of a recorded task; None where nobody counted."""
    comm: str
    cpu_us: float = 0
    switches: int = 0
    migrations: int = None
    latencies: int = 0
    mean_us: float = None
    p50_us: float = None


@dataclass
class Figure:
    recording: str
    task: str
    name: str
    guest: bool
    cpus: int
    realtime: bool
    recorded: float
    replayed: float

    def error(self):
        return abs(self.replayed / self.recorded - 1)


@dataclass
class Row:
    """One line of the table: how many of these figures are to be this close."""
    name: str
    within: float
    wanted: float
    wants: callable
    figures: list = field(default_factory=list)


COUNTS = ("switches", "migrations")
ROWS = [
    Row("guests, 1 to 2 CPUs: switches, migrations", .15, .85, lambda f: f.guest and f.cpus <= 2 and f.name in COUNTS),
    Row("native real-time: switches, migrations", .15, .85, lambda f: not f.guest and f.realtime and f.name in COUNTS),
    Row("guests, 1 to 2 CPUs: CPU time", .01, .98, lambda f: f.guest and f.cpus <= 2 and f.name == "CPU time"),
    Row("native, above 50 ms: CPU time", .02, .90,
        lambda f: not f.guest and f.name == "CPU time" and f.recorded > LONG_CPU_US),
    Row("native real-time: latency mean, p50", .25, .45,
        lambda f: not f.guest and f.realtime and f.name in ("mean", "p50")),
    Row("I/O: the end, on other CPUs", .10, 1., lambda f: f.name.startswith("end ")),
]


def recordings(arguments):
    for argument in arguments:
        if not os.path.isdir(argument):
            yield argument
            continue
        for folder, folders, files in os.walk(argument):
            folders.sort()
            yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(ENDINGS))


class CannotRun(Exception):
    pass


def ask(schedlab, *arguments):
    done = subprocess.run([schedlab, *arguments, "--format", "json"], capture_output=True, text=True)
    if done.returncode:
        raise CannotRun(done.stderr.strip()[:300])
    return json.loads(done.stdout)


def beside(recording, pattern):
    """The one file of this kind for the recording: that with its name, or the only one in its folder."""
    folder, name = os.path.split(recording)
    stem = re.sub(r"\.(dat|perf\.data|trace\.txt)(\.gz)?$", "", name)
    named = os.path.join(folder, stem + "." + pattern)
    if os.path.exists(named):
        return named
    found = glob.glob(os.path.join(folder, "*" + pattern))
    return found[0] if len(found) == 1 and sum(n.endswith(ENDINGS) for n in os.listdir(folder)) == 1 else None


def of_inspect(inspected):
    return {row["pid"]: Task(row["comm"], row["runtime_ns"] / 1e3, row["switches"])
            for row in inspected["latency"]["rows"]}


def of_trace_cmd(path):
    tasks = {}
    for task in json.load(open(path))["tasks"]:
        wakes = task.get("wake_to_run") or {"n": 0}
        tasks[task["pid"]] = Task(task["comm"], task["run_us"], task["vol"] + task["nonvol"], task["migrated"],
                                  wakes["n"], wakes.get("mean_us"), wakes.get("p50_us"))
    return tasks


def add_timehist(path, tasks):
    """Counts and delays as perf lists them, in whole microseconds cut off."""
    ran = re.compile(r"\s*[\d.]+ \[\d+\]\s+\S.*?\[(\d+)(?:/\d+)?\]\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s")
    moved = re.compile(r"migrated: .*\[(\d+)(?:/\d+)?\] cpu \d+ => \d+")
    switches, migrations, delays = defaultdict(int), defaultdict(int), defaultdict(list)
    for line in gzip.open(path, "rt", errors="replace"):
        if match := ran.match(line):
            switches[int(match[1])] += 1
            delay_us = float(match[2]) * 1e3
            if delay_us > 0:
                delays[int(match[1])].append(delay_us + 0.5)
        elif match := moved.search(line):
            migrations[int(match[1])] += 1
    for pid, task in tasks.items():
        task.switches, task.migrations, task.latencies = switches[pid], migrations[pid], len(delays[pid])
        if delays[pid]:
            task.mean_us, task.p50_us = statistics.mean(delays[pid]), statistics.median(delays[pid])


def recorded_tasks(recording, inspected, guest):
    """By pid. Of a trace in which switches are missing, CPU time is left out (None), and all where nobody else has read it."""
    read = tasks = of_inspect(inspected)
    if path := beside(recording, "reference.json"):
        tasks = of_trace_cmd(path)
        for pid, task in tasks.items():
            if pid in read and abs(read[pid].cpu_us - task.cpu_us) > .02 * task.cpu_us:
                task.cpu_us = None
    elif path := beside(recording, "perf_sched_timehist.txt.gz"):
        add_timehist(path, tasks)
    latency = inspected["latency"]
    if latency["runtime_from"] == "sched_switch" and latency["context_switch_bugs"]:
        if tasks is read:
            return {}
        for task in tasks.values():
            task.cpu_us = None
    own = os.path.join(os.path.dirname(recording), "result.json")
    if os.path.exists(own):
        for counted in json.load(open(own)).get("tasks", []):
            if (task := tasks.get(counted["tid"])) is None:
                continue
            if guest:
                task.migrations = counted["migrated"]
            else:
                task.cpu_us = counted["cpu_ms"] * 1e3
    return tasks


def kernel(recording, inspected, guest):
    """The option that names the kernel, where the trace itself does not: by its folder, and guests are of 6.1."""
    meta = os.path.join(os.path.dirname(recording), "meta.json")
    if inspected.get("kernel"):
        return []
    if os.path.exists(meta):
        return ["--kernel", json.load(open(meta))["kernel"]]
    return ["--kernel", "6.1.y"] if guest else []


def figures(schedlab, recording):
    guest = any(part.startswith("guest") for part in recording.split(os.sep))
    io = re.match(r"io-.*-cpu([12])\.", os.path.basename(recording))
    inspected = ask(schedlab, "inspect", recording)
    cpus = len(inspected["cpus"])
    options = kernel(recording, inspected, guest)
    if feature := FEATURE.search(os.path.basename(os.path.dirname(recording))):
        options += ["--set", feature[1]]
    if not guest and cpus == 2 and not os.path.exists(recording + ".machine.toml"):
        options += ["--machine", "vm2"]
    if io:
        for asked, seconds in IO_SECONDS[int(io[1])].items():
            result = ask(schedlab, "run", recording, "--cpus", str(asked), "--affinity", "all=all")
            ends = [load["finish"].get("seconds") for load in result["loads"] if load["kind"] == "replay"]
            yield Figure(recording, "the whole", f"end on {asked} CPUs", guest, cpus, False, seconds,
                         float(ends[0] or "inf"))
    result = ask(schedlab, "run", recording, *options)
    replayed = {task["pid"]: task for task in result["tasks"]}
    tasks = recorded_tasks(recording, inspected, guest)
    cpu = sum(task.cpu_us or 0 for task in tasks.values())
    switches = sum(task.switches for task in tasks.values())
    for pid, task in tasks.items():
        if (task.cpu_us or 0) < .01 * cpu and task.switches < .02 * switches:
            continue
        if (replay := replayed.get(pid)) is None:
            continue
        realtime = replay["policy"] in ("SCHED_FIFO", "SCHED_RR")
        latency = replay["wakeup_latency_ns"]
        pairs = {
            "CPU time": (task.cpu_us, replay["sum_exec_runtime_ns"] / 1e3, LEAST_CPU_US),
            "switches": (task.switches, replay["nr_voluntary_switches"] + replay["nr_involuntary_switches"], LEAST_COUNT),
            "migrations": (task.migrations, replay["nr_migrations"], LEAST_COUNT),
        }
        if task.latencies >= LEAST_COUNT and latency["count"]:
            pairs["mean"] = (task.mean_us, latency["mean"] / 1e3, 0)
            pairs["p50"] = (task.p50_us, latency["p50"] / 1e3, 0)
        for name, (before, after, floor) in pairs.items():
            if before and before >= floor:
                yield Figure(recording, f"{task.comm}:{pid}", name, guest, cpus, realtime, before, after)


def table(count):
    print(f"{count} recordings\n\n{'figure':44}{'within':>7}{'wanted':>8}{'reached':>9}{'of':>6}")
    missed = False
    for row in ROWS:
        if not row.figures:
            print(f"{row.name:44}{row.within:>7.0%}{row.wanted:>8.0%}{'none':>9}{0:>6}")
            continue
        share = sum(figure.error() <= row.within for figure in row.figures) / len(row.figures)
        word = "" if share >= row.wanted else "  missed"
        missed |= share < row.wanted
        print(f"{row.name:44}{row.within:>7.0%}{row.wanted:>8.0%}{share:>9.1%}{len(row.figures):>6}{word}")
    for figure in [f for row in ROWS for f in row.figures if f.name.startswith("end ")]:
        name = os.path.basename(figure.recording)
        print(f"  {name + ', ' + figure.name:42}{figure.recorded:>6.2f} s, replay {figure.replayed:.3f} s")
    return missed


def main():
    options = {word for word in sys.argv[1:] if word.startswith("--")}
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if len(words) < 2 or options - {"--check", "--misses"}:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    schedlab, failed, count = words[0], False, 0
    for recording in recordings(words[1:]):
        count += 1
        try:
            for figure in figures(schedlab, recording):
                for row in ROWS:
                    if row.wants(figure):
                        row.figures.append(figure)
        except CannotRun as error:
            failed = True
            print(f"{recording}: {error}", file=sys.stderr)
    if not count:
        print("no recordings there", file=sys.stderr)
        sys.exit(2)
    missed = table(count)
    if "--misses" in options:
        for row in ROWS:
            for f in row.figures:
                if f.error() > row.within:
                    print(f"{f.recording}: {f.task}: {f.name} {f.recorded:.6g}, replay {f.replayed:.6g}")
    sys.exit(2 if failed else 1 if missed and "--check" in options else 0)


if __name__ == "__main__":
    main()
