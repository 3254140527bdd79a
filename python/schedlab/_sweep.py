"""Thousands of runs of one experiment."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, Union

from . import _native
from ._experiment import Experiment
from ._results import SweepResult

#: Done runs, all runs, runs that were there before, failed runs, seconds left (`None`: not known yet).
Progress = Callable[[int, int, int, int, Union[float, None]], object]


class Engine(Protocol):
    """Whoever runs the chunks of a sweep: chunks go in, rows come out as they are finished."""

    def workers(self) -> int:
        """How many chunks it runs at a time."""

    def submit(self, number: int, work: bytes) -> None:
        """Takes a chunk, to be run by `schedlab._native.run_chunk(work, files)`."""

    def wait(self, seconds: float) -> list[tuple[int, bytes, int]]:
        """The chunks that have ended: number, rows, nanoseconds; empty after so many seconds without one."""


def sweep(
    experiment: Experiment | str | os.PathLike[str],
    axes: Mapping[str, Iterable[object]] | None = None,
    *,
    folder: str | os.PathLike[str],
    seeds: int | Sequence[int] | None = None,
    metrics: Sequence[str] = (),
    title: str | None = None,
    workers: int = 0,
    engine: str | Engine = "local",
    address: str | None = None,
    progress: bool | Progress = False,
) -> SweepResult:
    """Runs an experiment along axes. Every run is kept in `folder`; what is there is not run again, so a sweep that was
    stopped or killed goes on where it was. docs/sweeps.md says more.

    Args:
        experiment: with places for parameters (`"cyclictest -t{threads}"`), or a sweep file, which has axes and seeds
            itself.
        axes: `kernel`, `cpus`, `machine`, `settings`, or the name of a parameter, each with its values.
        folder: for the results; made if it is not there.
        seeds: a number of seeds, from 1 on, or seeds; without it, the experiment's.
        metrics: keys of the figures to sum up; without it, up to four main ones. All are kept.
        title: for people.
        workers: chunks at the same time, 0: as many as there are cores. (A cluster has as many as it has CPUs.)
        engine: `local`, `ray`, or an object with the methods of `Engine`.
        address: of a Ray cluster; without it, one is started on this computer.
        progress: `True` writes a line to standard error now and then; or a function.

    Raises:
        Error: whatever is not possible, with the words of the command line. A run that fails is a row instead.
    """
    said: dict[str, Any] = {"file": None, "experiment": None, "axes": [], "metrics": list(metrics), "title": title}
    files: dict[str, bytes] = {}
    if isinstance(experiment, Experiment):
        said["experiment"] = json.loads(experiment.to_json())
        said["axes"] = [(name, [_word(value) for value in values]) for name, values in (axes or {}).items()]
        if seeds is not None:
            several = range(1, seeds + 1) if isinstance(seeds, int) else seeds
            said["axes"].append(("seed", [str(seed) for seed in several]))
        files = experiment._files
    elif axes is not None or seeds is not None:
        raise _native.Error("a sweep file says its axes and seeds itself; leave them out here")
    else:
        said["file"] = os.fspath(experiment)
    told = say_progress if progress is True else (progress or None)
    if engine == "ray":
        from ._ray import Ray

        with Ray(address=address, files=files, workers=workers) as ray:
            return _run(said, files, folder, workers, ray, told)
    if address is not None:
        raise _native.Error("an address is one of a Ray cluster; say engine=\"ray\", too")
    if isinstance(engine, str) and engine != "local":
        raise _native.Error(f"no engine is called `{engine}`; there are: local, ray")
    return _run(said, files, folder, workers, None if engine == "local" else engine, told)


def _run(
    said: dict[str, Any],
    files: dict[str, bytes],
    folder: str | os.PathLike[str],
    workers: int,
    engine: Any,
    progress: Any,
) -> SweepResult:
    text = _native.run_sweep(json.dumps(said), files, os.fspath(folder), workers, engine, progress)
    return SweepResult(text, os.fspath(folder))


def _word(value: object) -> str:
    # A list of settings is one value.
    return " ".join(value) if isinstance(value, (list, tuple)) else str(value)


def say_progress(done: int, runs: int, reused: int, failed: int, left: float | None) -> None:
    """A line on standard error, over the one before."""
    rest = "" if left is None else f", {left:.0f} s to go"
    failures = f", {failed} failed" if failed else ""
    sys.stderr.write(f"\r{done}/{runs} runs{failures}{rest}   " + ("\n" if done == runs else ""))
    sys.stderr.flush()
