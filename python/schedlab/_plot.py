"""Pictures, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._native import Error

if TYPE_CHECKING:
    from ._results import Histogram
    from ._typed import MetricComparison


#: With more lines than this, how far the seeds differ would hide them.
MOST_BANDS = 4


def _axes(ax: Any, rows: int = 8) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise Error("pictures need matplotlib: pip install 'schedlab[plot]'") from None
    return pyplot.subplots(figsize=(8, max(2.5, 0.35 * rows + 1)), layout="constrained")[1]


def latencies(tasks: list[dict[str, Any]], ax: Any) -> Any:
    """Wakeup latencies of tasks, those of one name together."""
    by_name: dict[str, dict[str, int]] = {}
    for task in tasks:
        found, most = task["wakeup_latency_ns"], by_name.setdefault(task["comm"], {"p50": 0, "p99": 0, "max": 0})
        if found["count"]:
            for name in most:
                most[name] = max(most[name], found[name])
    shown = {name: found for name, found in by_name.items() if found["max"]}
    ax = _axes(ax, len(shown))
    names = list(shown)
    for figure, marker in (("p50", "|"), ("p99", "o"), ("max", "x")):
        ax.plot([shown[name][figure] / 1000 for name in names], names, marker, label=figure)
    ax.set_xscale("log")
    ax.set_xlabel("wakeup latency, µs (largest of the tasks of a name)")
    ax.invert_yaxis()
    ax.grid(axis="x", alpha=0.3)
    ax.legend()
    return ax


def histogram(found: Histogram, ax: Any) -> Any:
    """Counts by latency."""
    ax = _axes(ax)
    edges = [edge / 1000 for edge in found.edges_ns]
    ax.bar(edges, found.counts, width=found.width_ns / 1000, align="edge")
    ax.set_yscale("log")
    ax.set_xlabel("latency, µs")
    ax.set_ylabel("count")
    return ax


def changes(changed: list[MetricComparison], ax: Any) -> Any:
    """Relative changes with their intervals."""
    shown = [one for one in changed if one.base][:20]
    ax = _axes(ax, len(shown))
    labels = [one.metric.label for one in shown]
    shares = [100 * one.difference / one.base for one in shown]
    ends = [one.interval for one in shown]
    low = [share - 100 * end.low / one.base if end else 0 for share, end, one in zip(shares, ends, shown)]
    high = [100 * end.high / one.base - share if end else 0 for share, end, one in zip(shares, ends, shown)]
    spread = [[max(0.0, end) for end in low], [max(0.0, end) for end in high]]
    ax.errorbar(shares, labels, xerr=spread, fmt="o", capsize=3)
    ax.axvline(0, color="grey", linewidth=0.8)
    if not shown:
        ax.text(0.5, 0.5, "no figure changed", transform=ax.transAxes, ha="center")
    ax.set_xscale("symlog", linthresh=10)
    ax.set_xlabel("change from the base, % (95 % interval)")
    ax.invert_yaxis()
    return ax


def along_axis(result: dict[str, Any], metric: str | None, x: str | None, ax: Any) -> Any:
    """A figure along an axis, a line for each combination of the others."""
    names = [axis["name"] for axis in result["axes"]]
    if not names or not result["metrics"]:
        raise Error("nothing to plot: the sweep has no axis, or no run of it has figures")
    x = names[0] if x is None else x
    if x not in names:
        raise Error(f"no axis is called `{x}`; there are: {', '.join(names)}")
    known = {one["key"]: one for one in result["metrics"]}
    metric = next(iter(known)) if metric is None else metric
    if metric not in known:
        raise Error(f"`{metric}` is not summed up; there are: {', '.join(known)}")
    at, scale = names.index(x), 1000 if known[metric]["unit"] == "ns" else 1
    lines: dict[str, list[tuple[str, float, float, float]]] = {}
    for point in result["points"]:
        others = [f"{name}={value}" for name, value in zip(names, point["values"]) if name != x]
        for figure in point["figures"]:
            if figure["key"] == metric:
                values = [figure[part] / scale for part in ("mean", "min", "max")]
                lines.setdefault(" ".join(others), []).append((point["values"][at], *values))
    ax = _axes(ax)
    places = {value: place for place, value in enumerate(result["axes"][at]["values"])}
    for label, points in lines.items():
        where = [places[value] for value, *_ in points]
        means = [mean for _, mean, _, _ in points]
        line = ax.plot(where, means, "o-", label=label or None)[0]
        if len(lines) > MOST_BANDS:
            continue
        lows, highs = [low for *_, low, _ in points], [high for *_, high in points]
        ax.fill_between(where, lows, highs, alpha=0.15, color=line.get_color())
    ax.set_xticks(list(places.values()), list(places))
    ax.set_xlabel(x)
    ax.set_ylabel(known[metric]["label"] + (", µs" if scale == 1000 else ""))
    ax.grid(alpha=0.3)
    if any(lines):
        ax.legend(fontsize="small")
    return ax
