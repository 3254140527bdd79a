"""How fast runs, sweeps and their resumption are from Python: the figures of docs/sweeps.md and docs/python.md.

    pip install ./python ray
    python python/bench/figures.py --runs 100000 --schedlab target/release/schedlab

Work is the time of the simulations alone, without reading, summing up and keeping: that of some of them by themselves,
one after the other, times their number. It is set against the CPU time that all processes of the sweep used, which other programs beside it
hardly change, and against the time on the wall times the cores, which they do.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import schedlab

LOAD = "hackbench -g1 -l{l}"
#: A run of about a millisecond.
MESSAGES = 3


def experiment(seed: int = 1) -> schedlab.Experiment:
    return schedlab.Experiment(LOAD.format(l=MESSAGES), machine="laptop", cpus=2, kernel="6.18.y", seed=seed)


def overhead(program: str, times: int) -> None:
    """A run from Python, the same as a process of the command line, and what of it is the simulation."""
    command = [program, "run", LOAD.format(l=MESSAGES), "--machine", "laptop", "--cpus", "2", "--kernel", "6.18.y"]
    command += ["--format", "json"]
    python, process, engine = [], [], []
    for _ in range(times):
        began = time.perf_counter()
        result = experiment().run()
        python.append(time.perf_counter() - began)
        engine.append((result.engine.wall_ns or 0) / 1e9)
        began = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        process.append(time.perf_counter() - began)
    ms = [f"{statistics.median(of) * 1e3:.2f} ms" for of in (python, process, engine)]
    print(f"one run, median of {times}: from Python {ms[0]}, as a process {ms[1]}, of both the simulation {ms[2]}")


def work(times: int) -> float:
    """Seconds of a simulation, in the mean of the middle half over seeds: others on the same core make some longer."""
    took = sorted((experiment(seed).run().engine.wall_ns or 0) / 1e9 for seed in range(1, times + 1))
    return statistics.mean(took[times // 4 : -times // 4])


def cpu_seconds() -> float:
    """Of this process, its threads, and its children that have ended."""
    own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


def swept(runs: int, folder: Path, **engine: Any) -> tuple[float, float]:
    """Seconds on the wall and of CPU."""
    swept_over = schedlab.Experiment(LOAD, machine="laptop", cpus=2, kernel="6.18.y")
    began, used = time.perf_counter(), cpu_seconds()
    result = schedlab.sweep(swept_over, {"l": [MESSAGES]}, seeds=runs, folder=folder, **engine)
    assert (result.runs, result.failed) == (runs, 0)
    return time.perf_counter() - began, cpu_seconds() - used


def size(folder: Path) -> str:
    files = {path.name: path.stat().st_size for path in folder.glob("*.parquet")}
    whole = sum(files.values()) / 1e6
    return f"results.parquet {files['results.parquet'] / 1e6:.1f} MB, with the {len(files) - 1} files of runs {whole:.1f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--schedlab", default="schedlab", help="the program of the command line")
    parser.add_argument("--ray", action="store_true", help="also on a Ray cluster of two workers")
    asked = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    overhead(asked.schedlab, 40)
    seconds = work(400)
    print(f"work of a run: {seconds * 1e3:.3f} ms; {cores} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as above:
        for runs in (10_000, asked.runs):
            folder = Path(above) / str(runs)
            wall, used = swept(runs, folder)
            useful = runs * seconds
            print(
                f"local, {runs} runs: {wall:.1f} s, {used:.1f} s of CPU; work is {useful / used:.0%} of the CPU time, "
                f"{useful / wall / cores:.0%} of the cores' time"
            )
            again, _ = swept(runs, folder)
            print(f"  resumed: {again:.2f} s; {size(folder)}")
        if asked.ray:
            import ray

            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
            # Its workers start with the first chunks.
            swept(200, Path(above) / "ray-start", engine="ray")
            wall, used = swept(asked.runs, Path(above) / "ray", engine="ray")
            useful = asked.runs * seconds
            print(
                f"ray, {asked.runs} runs: {wall:.1f} s, of which the driver used {used:.1f} s of CPU; work is "
                f"{useful / wall / 2:.0%} of the two workers' time"
            )


if __name__ == "__main__":
    main()
