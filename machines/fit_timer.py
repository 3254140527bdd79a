#!/usr/bin/env python3
"""Fits how long a timer's interrupt is under way on vm2 to one recorded run, as machines/README.md says.

usage: machines/fit_timer.py SCHEDLAB

Fitted to: the histograms of both threads of validation/native-6.18/cyc-smp-idle, and nothing else.
Free: min_ns and mean_ns of [noise.timer_delivery] in vm2.toml.
Loss: between recorded and simulated share of cycles up to each microsecond below 40, the absolute differences
added up, the mean over both threads and three seeds: by how many microseconds the distributions differ.
Search: a grid of 200 ns, then one of 50 ns around its best point.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REFERENCE = HERE.parent / "validation/native-6.18/cyc-smp-idle"
LOAD = "cyclictest -q -m -D 10 -h 1000 -S -p95 -d0 -i100"
SETTINGS = ["--kernel", "6.18.y", "--set", "hz=250"]
SEEDS = (1, 2, 3)
BELOW_US = 40


def shares(histogram):
    """Share of the cycles up to each microsecond."""
    cycles = sum(histogram.values())
    up_to, out = 0, []
    for us in range(BELOW_US):
        up_to += histogram.get(us, 0)
        out.append(up_to / cycles)
    return out


def counts(histogram):
    return {int(us): cycles for us, cycles in histogram.items()}


def simulated(schedlab, machine, seed):
    command = [schedlab, "run", LOAD, "--machine", str(machine), *SETTINGS, "--seed", str(seed), "--format", "json"]
    run = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [shares(counts(thread["histogram"])) for thread in run["loads"][0]["threads"]]


def main():
    (schedlab,) = sys.argv[1:]
    recorded = json.loads((REFERENCE / "result.json").read_text())["thread"]
    recorded = [shares(counts(thread["histogram"])) for _, thread in sorted(recorded.items())]
    text = (HERE / "vm2.toml").read_text()
    section = re.compile(r"(\[noise\.timer_delivery\]\n)min_ns = \d+\nmean_ns = \d+\n")
    losses = {}

    with tempfile.TemporaryDirectory() as folder:
        machine = pathlib.Path(folder) / "vm2.toml"

        def loss(point):
            if point not in losses:
                least, mean = point
                machine.write_text(section.sub(rf"\g<1>min_ns = {least}\nmean_ns = {mean}\n", text))
                differences = [
                    sum(abs(a - b) for a, b in zip(real, ours))
                    for seed in SEEDS
                    for real, ours in zip(recorded, simulated(schedlab, machine, seed))
                ]
                losses[point] = sum(differences) / len(differences)
                print(f"min_ns {least} mean_ns {mean}: {losses[point]:.3f} us", flush=True)
            return losses[point]

        best = min(((least, mean) for least in range(5000, 6601, 200) for mean in range(400, 1401, 200)), key=loss)
        around = [(best[0] + a, best[1] + b) for a in range(-150, 151, 50) for b in range(-150, 151, 50)]
        best = min(around, key=loss)
    print(f"best: min_ns = {best[0]}, mean_ns = {best[1]}")


if __name__ == "__main__":
    main()
