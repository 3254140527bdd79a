"""What is to run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from . import _native
from ._results import Comparison, RunResult, Search, Tuning

#: A command line of a real tool, a file (a trace, an rt-app file, a workload file), or a load of one's own: what
#: an rt-app file holds, as a dictionary.
Load = Union[str, "os.PathLike[str]", Mapping[str, Any]]
#: Seconds as a number, or a text with a unit: `0.5`, `"500ms"`.
Time = Union[int, float, str]


class Machine:
    """A machine: topology and costs.

    `Machine("laptop")` comes with schedlab (`schedlab.names("machines")`), `Machine("my.toml")` is a machine file, and
    `Machine({...})` says the same as such a file in a dictionary. `machine.to_dict()` gives the parts of any of them,
    to be changed.
    """

    def __init__(self, machine: str | os.PathLike[str] | Mapping[str, Any]) -> None:
        if isinstance(machine, Mapping):
            #: Name of the machine, or of its file.
            self.name: str = str(machine.get("name", "own"))
            #: Content of the machine file (TOML); `None` for a name.
            self.content: str | None = _native.machine_text(json.dumps(machine))
        else:
            self.name = os.fspath(machine)
            self.content = None

    def to_dict(self) -> dict[str, Any]:
        """The parts of the machine file. Times are nanoseconds, as their names say."""
        if self.content is None:
            return json.loads(_native.machine_json(self.name))  # type: ignore[no-any-return]
        import tempfile

        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(self.content)
            file.flush()
            return json.loads(_native.machine_json(file.name))  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"Machine({self.name!r})"


def as_text(time: Time | None) -> str | None:
    """A time as the command line takes it."""
    if time is None or isinstance(time, str):
        return time
    # Not in the form 1e-05, which is no number there.
    return f"{time:.9f}".rstrip("0").rstrip(".") if isinstance(time, float) else str(time)


class Experiment:
    """Loads, machine, kernel, seed, length: everything that decides about a run.

    Nothing is read or checked before `run`, so an experiment may have places for the values of a sweep
    (`"cyclictest -t{threads}"`).
    """

    def __init__(
        self,
        loads: Load | Sequence[Load],
        machine: str | os.PathLike[str] | Mapping[str, Any] | Machine | None = None,
        kernel: str | None = None,
        cpus: int | None = None,
        settings: Sequence[str] | str = (),
        seed: int = 1,
        duration: Time | None = None,
        *,
        start: Time | None = None,
        end: Time | None = None,
        tasks: Sequence[str] = (),
        dumps: Sequence[str] = (),
        check: bool = False,
        fidelity: bool = True,
        recorded_on: str | None = None,
        locks: str | None = None,
        groups: str | None = None,
        wakeup_costs: str | None = None,
        dialect: str | None = None,
    ) -> None:
        """
        Args:
            loads: what runs, all at the same time from time 0.
            machine: without it, the one described beside a recording, or else `laptop`.
            kernel: a profile, a release (`"5.14"`) or a distribution (`"debian12"`); without it, that of a
                recording, or else `6.18.y`.
            cpus: 1 to 512; without it, the machine's own number.
            settings: words as those of `schedlab compare --with`: `"NO_RT_PUSH_IPI"`, `"2s:search=linear"`,
                `"group=web=cpu.max:200000/100000"`, `"in=web=cc*"`, `"policy=TASK=fifo:50"`.
            seed: everything random derives from it.
            duration: simulated time; without it, until the loads end (10 s if none does).
            start, end: the stretch of the run to tell of.
            tasks: the tasks to tell of: names, patterns of names, pids.
            dumps: files of Linux to show, of moments of the run: `"sched_debug@500ms"`.
            check: check the scheduler's invariants after every event; slow.
            fidelity: compare replays with their recordings.
            recorded_on: the machine on which recordings were made; without it, that of the run.
            locks: waits for locks of a recording: `auto` (without it), `recorded` or `inferred`.
            groups: task groups of a recording: `recorded` (without it) or `flat`.
            wakeup_costs: how long a replay takes from a wakeup to the woken task: `recorded` (without it) or
                `machine`.
            dialect: how rt-app files are read: `workgen` (without it) or `rt-app`.
        """
        several = [loads] if isinstance(loads, (str, os.PathLike, Mapping)) else list(loads)
        #: Files in memory that the loads name.
        self._files: dict[str, bytes] = {}
        self._words = [self._word(load) for load in several]
        if machine is not None and not isinstance(machine, Machine):
            machine = Machine(machine)
        self.machine = machine
        self.kernel = kernel
        self.cpus = cpus
        self.settings = settings.split() if isinstance(settings, str) else list(settings)
        self.seed = seed
        self.duration = duration
        self._more = {
            "start": as_text(start),
            "end": as_text(end),
            "tasks": list(tasks),
            "dumps": list(dumps),
            "check": check,
            "fidelity": fidelity,
        }
        reading = {"locks": locks, "groups": groups, "wakeup_costs": wakeup_costs, "dialect": dialect}
        self._reading: dict[str, Any] = {name: word for name, word in reading.items() if word is not None}
        if recorded_on is not None:
            self._reading["recorded_on"] = {"name": recorded_on}
        self._stored: str | None = None

    @classmethod
    def of_result(cls, path: str | os.PathLike[str]) -> Experiment:
        """What ran for a result in a file (`schedlab run --save FILE`, `RunResult.save`), to be run again."""
        experiment = cls(loads=[])
        experiment._stored = _native.text_of_result(os.fspath(path))
        return experiment

    @property
    def loads(self) -> list[str]:
        """The loads as results name them."""
        return list(self._words)

    def _word(self, load: Load) -> str:
        if not isinstance(load, Mapping):
            return os.fspath(load)
        name = f"own-{len(self._files) + 1}.json"
        self._files[name] = json.dumps(load, indent=1).encode()
        return name

    def to_json(self) -> str:
        """The experiment's text, JSON of docs/schema.md (`ExperimentText`), which `schedlab run` takes in a file."""
        if self._stored is not None:
            return self._stored
        said = {
            "loads": self._words,
            "machine": self.machine.name if self.machine else None,
            "machine_content": self.machine.content if self.machine else None,
            "cpus": self.cpus,
            "kernel": self.kernel,
            "settings": self.settings,
            "seed": self.seed,
            "duration": as_text(self.duration),
            "reading": self._reading,
            **self._more,
        }
        return _native.experiment_text(json.dumps(said), self._files)

    def run(self, trace: str | os.PathLike[str] | None = None) -> RunResult:
        """Runs it, without the GIL; Ctrl-C stops it.

        Args:
            trace: a file for every event of the run; the ending says the format (`.dat` for KernelShark and
                trace-cmd, `.pftrace` for Perfetto, `.txt`, `.json`, `.jsonl`).

        Raises:
            Error: whatever is not possible, with the words of the command line.
            CheckFailed: with `check`, a broken invariant.
        """
        path = None if trace is None else os.fspath(trace)
        return RunResult(_native.run(self.to_json(), self._files, path))

    def compare(
        self,
        with_: str | Iterable[str],
        *,
        base: str = "",
        repeat: int = 8,
    ) -> Comparison:
        """Runs it under several configurations, each with the same seeds, and says what changed.

        Args:
            with_: a configuration or several, each as words that differ from the base: `"kernel=7.1"`,
                `"cpus=8 NO_RUN_TO_PARITY"`.
            base: what the base says on top of the experiment.
            repeat: number of seeds, from the experiment's on.
        """
        variants = [with_] if isinstance(with_, str) else list(with_)
        return Comparison(*_native.compare(self.to_json(), self._files, base, variants, repeat))

    def tune(
        self,
        *,
        minimize: str | None = None,
        maximize: str | None = None,
        subject_to: str | Iterable[str] = (),
        over: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | None = None,
        base: str = "",
        repeat: int = 8,
        folder: str | os.PathLike[str] | None = None,
    ) -> Tuning:
        """Finds which settings serve a goal best. docs/tuning.md explains it.

        Args:
            minimize, maximize: a figure, by its key, its name or in short: `"p99(cyclictest)"`. One of the two.
            subject_to: what has to hold besides: `"hackbench time < 1.05 x base"`.
            over: what may be set: a file of knobs, or its tables as dictionaries
                (`[{"feature": "RT_PUSH_IPI"}]`); without it, all that the kernel has.
            base: what the base says on top of the experiment.
            repeat: seeds for each value alone, six at least.
            folder: where runs are kept, so that a tuning that was stopped or killed goes on where it was; made if it
                is not there.
        """
        if (minimize is None) == (maximize is None):
            raise _native.Error("say either minimize or maximize")
        said = {
            "experiment": json.loads(self.to_json()),
            "base": base,
            "goal": minimize if maximize is None else maximize,
            "direction": "minimize" if maximize is None else "maximize",
            "subject_to": [subject_to] if isinstance(subject_to, str) else list(subject_to),
            "knobs": _knobs(over),
            "repeat": repeat,
            "folder": None if folder is None else os.fspath(folder),
        }
        return Tuning(*_native.tune_settings(json.dumps(said), self._files))

    def search(
        self,
        *,
        maximize: str | None = None,
        minimize: str | None = None,
        until: str | None = None,
        runs: int = 1024,
        method: str = "guided",
    ) -> Search:
        """Looks for the run that is worst in a figure. docs/search.md explains it.

        Args:
            maximize, minimize: a figure, by its key, its name or in short: `"max(cyclictest/0)"`. One of the two.
            until: a value at which it is enough: `"300us"`.
            runs: number of runs at most, in batches of 16.
            method: `guided`, or `random`: a seed for each run.
        """
        if (minimize is None) == (maximize is None):
            raise _native.Error("say either maximize or minimize")
        if method not in ("guided", "random"):
            raise _native.Error(f"no method is called `{method}`; there are: guided, random")
        said = {
            "experiment": json.loads(self.to_json()),
            "goal": minimize if maximize is None else maximize,
            "direction": "minimize" if maximize is None else "maximize",
            "method": method,
            "runs": runs,
            "until": until,
        }
        return Search(*_native.search_worst(json.dumps(said), self._files))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the experiment's text, which `schedlab run FILE` runs."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def __repr__(self) -> str:
        return f"Experiment({self._words!r}, machine={self.machine!r}, kernel={self.kernel!r}, seed={self.seed})"


def _knobs(over: str | os.PathLike[str] | Sequence[Mapping[str, Any]] | None) -> tuple[str, str | None] | None:
    """Name and content of a file of knobs; without content it is on the disk."""
    if over is None or isinstance(over, (str, os.PathLike)):
        return None if over is None else (os.fspath(over), None)
    lines: list[str] = []
    for table in over:
        # A value of JSON is one of TOML, for words, numbers and lists of them.
        lines += ["[[knob]]", *(f"{field} = {json.dumps(value)}" for field, value in table.items())]
    return "over", "\n".join(lines)
