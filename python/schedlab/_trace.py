"""Recordings of real machines, and traces of runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import _native
from ._experiment import Experiment, Time, as_text
from ._results import Inspection, RunResult, SideBySide


class Trace:
    """A trace in a file: trace.dat, perf.data, Perfetto's, or ftrace text."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        #: As it was given.
        self.path = os.fspath(path)

    def inspect(
        self, *, tasks: Sequence[str] = (), start: Time | None = None, end: Time | None = None
    ) -> Inspection:
        """Events, CPUs, tasks, what was lost, and the table of `perf sched latency`."""
        found = _native.inspect(self.path, list(tasks), as_text(start), as_text(end))
        return Inspection(*found)

    def beside(
        self,
        other: Trace | str | os.PathLike[str],
        *,
        tasks: Sequence[str] = (),
        start: Time | None = None,
        end: Time | None = None,
    ) -> SideBySide:
        """What differs from another recording, command by command, and how sure that is."""
        path = other.path if isinstance(other, Trace) else os.fspath(other)
        found = _native.inspect_both(self.path, path, list(tasks), as_text(start), as_text(end))
        return SideBySide(*found)

    def experiment(self, **words: Any) -> Experiment:
        """Its replay as an experiment; `words` as those of `Experiment`."""
        return Experiment([self.path], **words)

    def replay(self, **words: Any) -> RunResult:
        """Replays it; `words` as those of `Experiment`: `machine`, `kernel`, `cpus`, `settings`, ..."""
        return self.experiment(**words).run()

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"Trace({self.path!r})"


def inspect(trace: str | os.PathLike[str], **words: Any) -> Inspection:
    """What is in a trace; `words` as those of `Trace.inspect`. (`Trace.beside` says what differs between two.)"""
    return Trace(trace).inspect(**words)


def replay(trace: str | os.PathLike[str], **words: Any) -> RunResult:
    """Replays a trace; `words` as those of `Experiment`."""
    return Trace(trace).replay(**words)
