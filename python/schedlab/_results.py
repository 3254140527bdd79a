"""What came out: results with their fields as attributes, as text, as tables, as pictures."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _native, _typed
from ._record import Record


class _Document(Record):
    """A JSON document of schedlab."""

    __slots__ = ("_json",)

    def __init__(self, text: str) -> None:
        super().__init__(json.loads(text))
        self._json = text

    def __reduce__(self) -> Any:
        return (type(self), (self._json,))

    def to_json(self) -> str:
        """The document, byte by byte as the command line writes it with `--format json`."""
        return self._json

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it into a file."""
        Path(path).write_text(self._json, encoding="utf-8")

    def __str__(self) -> str:
        return self._text()

    def _text(self) -> str:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text())}</pre>"


class _Shown(_Document):
    """A document with the text that belongs to it."""

    __slots__ = ("_shown",)

    def __init__(self, text: str, shown: str) -> None:
        super().__init__(text)
        self._shown = shown

    def __reduce__(self) -> Any:
        return (type(self), (self._json, self._shown))

    def _text(self) -> str:
        return self._shown


class RunResult(_Document, _typed.RunResult):
    """The result of a run: `schedlab/1` of docs/schema.md.

    `str(result)` is the text of the command line. `result.tasks`, `result.cpus` and other lists are tables of Arrow
    for whoever reads such: `pandas.DataFrame.from_arrow(result.tasks)`, `polars.DataFrame(result.tasks)`.
    """

    __slots__ = ()

    def _text(self) -> str:
        return _native.run_as_text(self._json, False)

    def text(self, full: bool = False) -> str:
        """As the command line prints it; `full`: long tables in full."""
        return _native.run_as_text(self._json, full)

    def metrics(self) -> dict[str, int]:
        """Every figure that can be compared, by its key; times are nanoseconds."""
        return {metric["key"]: metric["value"] for metric in json.loads(_native.metrics(self._json))}

    def metrics_table(self) -> _native.Table:
        """Every figure that can be compared: key, label, unit (`ns`, `count`), better, value."""
        return _native.table_of_json(_native.metrics(self._json))

    def same_as(self, other: RunResult) -> bool:
        """Whether both are equal but for the real time that they took (`engine.wall_ns`) and the command."""
        return _timeless(self._fields) == _timeless(other._fields)

    def histogram(self, load: int = 0, thread: int | None = None) -> Histogram:
        """The latencies of a `cyclictest -h US` among the loads; of one of its threads, or of all."""
        fields = self._fields["loads"][load]
        threads = [one for one in fields.get("threads", []) if thread is None or one.get("t") == thread]
        counts: dict[int, int] = {}
        for one in threads:
            for bucket, count in one.get("histogram", {}).items():
                counts[int(bucket)] = counts.get(int(bucket), 0) + count
        if not counts:
            raise _native.Error(f"load {load} has no histogram; say `-h US` in a cyclictest")
        return Histogram(counts, 1000)

    def plot(self, ax: Any = None) -> Any:
        """Latencies of the tasks, 50th and 99th percentile and largest, each a row. Needs matplotlib."""
        from ._plot import latencies

        return latencies(self._fields["tasks"], ax)


class Histogram:
    """Counts by latency."""

    def __init__(self, counts: Mapping[int, int], width_ns: int) -> None:
        first, last = min(counts), max(counts)
        #: Width of a bucket, nanoseconds.
        self.width_ns = width_ns
        #: Lower edge of each bucket, nanoseconds, ascending; NumPy array where NumPy is installed, else a list.
        self.edges_ns = _array([bucket * width_ns for bucket in range(first, last + 1)])
        #: How many latencies are in each bucket, likewise.
        self.counts = _array([counts.get(bucket, 0) for bucket in range(first, last + 1)])

    def __len__(self) -> int:
        return len(self.counts)

    def plot(self, ax: Any = None) -> Any:
        """As bars on a logarithmic scale. Needs matplotlib."""
        from ._plot import histogram

        return histogram(self, ax)


class Comparison(_Shown, _typed.Comparison):
    """The answer of a comparison: `schedlab-compare/1` of docs/schema.md."""

    __slots__ = ()

    def table(self, variant: int = 0) -> _native.Table:
        """Every figure under the base and a variant, with its interval and verdict."""
        return self.variants[variant].metrics.table()

    def changed(self, variant: int = 0) -> list[_typed.MetricComparison]:
        """The figures that changed, the largest relative change first."""
        return [metric for metric in self.variants[variant].metrics if metric.verdict == "changed"]

    def plot(self, variant: int = 0, ax: Any = None) -> Any:
        """What changed, as relative changes with their 95 % intervals. Needs matplotlib."""
        from ._plot import changes

        return changes(self.changed(variant), ax)


class Tuning(_Shown, _typed.TuneResult):
    """Which settings serve a goal best: `schedlab-tune/1` of docs/schema.md."""

    __slots__ = ()


class Search(_Shown, _typed.SearchResult):
    """The run that is worst in a figure: `schedlab-search/1` of docs/schema.md."""

    __slots__ = ("_scenario",)

    def __init__(self, text: str, shown: str, scenario: str) -> None:
        super().__init__(text, shown)
        self._scenario = scenario

    def __reduce__(self) -> Any:
        return (type(self), (self._json, self._shown, self._scenario))

    def save_worst(self, path: str | os.PathLike[str]) -> None:
        """Keeps the worst run as an experiment: `schedlab run PATH` and `Experiment.of_result(path)` repeat it."""
        Path(path).write_text(self._scenario, encoding="utf-8")


class Inspection(_Shown, _typed.InspectResult):
    """What is in a trace: `schedlab-inspect/1` of docs/schema.md."""

    __slots__ = ()


class SideBySide(_Shown, _typed.RecordingsComparison):
    """What differs between two recordings: `schedlab-inspect-compare/1` of docs/schema.md."""

    __slots__ = ()


class SweepResult(_Document, _typed.SweepResult):
    """What a sweep comes to: `schedlab-sweep/1` of docs/schema.md. Every run is a row of `table()`."""

    __slots__ = ("_folder",)

    def __init__(self, text: str, folder: str) -> None:
        super().__init__(text)
        self._folder = folder

    def __reduce__(self) -> Any:
        return (type(self), (self._json, self._folder))

    @property
    def folder(self) -> Path:
        """Where every run is kept."""
        return Path(self._folder)

    def _text(self) -> str:
        return _native.sweep_as_text(self._json, False)

    def table(self) -> _native.Table:
        """A row for each run: axes, seed, hash, error, all figures by their keys (times are nanoseconds)."""
        return _native.results_table(str(self.folder / "results.parquet"))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table().__arrow_c_stream__(requested_schema)

    def plot(self, metric: str | None = None, x: str | None = None, ax: Any = None) -> Any:
        """A figure along an axis (the first, without `x`), a line for each combination of the others."""
        from ._plot import along_axis

        return along_axis(self._fields, metric, x, ax)


def _timeless(fields: dict[str, Any]) -> dict[str, Any]:
    engine = {name: value for name, value in fields["engine"].items() if name != "wall_ns"}
    return {**{name: value for name, value in fields.items() if name != "command"}, "engine": engine}


def _array(values: list[int]) -> Any:
    try:
        import numpy
    except ImportError:
        return values
    return numpy.array(values, dtype=numpy.uint64)
