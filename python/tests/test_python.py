"""What is Python's own: loads and machines as data, tables, pictures, threads, Ctrl-C."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import DEMO, ROOT

import schedlab

SHORT = schedlab.Experiment("cyclictest -t2 -p80 -i1000 -n -h 100", cpus=2, duration="100ms")


def test_fields_are_attributes() -> None:
    result = SHORT.run()
    assert result.schema == "schedlab/1"
    assert result.machine.cpus == 2
    assert [thread.cycles for thread in result.loads[0].threads] == [99, 66] or result.loads[0].threads[0].cycles > 0
    assert result.window is None
    assert type(result.loads[0]).__name__ == "LoadResultCyclictest"
    with pytest.raises(AttributeError, match="has no `sede`"):
        _ = result.sede
    assert pickle.loads(pickle.dumps(result)) == result
    assert result.metrics()["totals.wakeups"] == result.totals.wakeups


def test_a_load_of_ones_own_is_data() -> None:
    def load(runs_us: int) -> dict[str, object]:
        return {
            "tasks": {"worker": {"policy": "SCHED_FIFO", "priority": 10, "loop": 10, "run": runs_us, "sleep": 9000}},
            "global": {"duration": 1},
        }

    one, two = (schedlab.Experiment([load(us)], cpus=1, duration="1s").run() for us in (500, 1000))
    worked = [next(t for t in run.tasks if t.comm.startswith("worker")).sum_exec_runtime_ns for run in (one, two)]
    # Ten rounds of half a millisecond, and of a whole one.
    assert worked[0] == pytest.approx(5e6, rel=0.1)
    assert worked[1] == pytest.approx(10e6, rel=0.1)


def test_a_machine_of_ones_own_is_data() -> None:
    parts = schedlab.Machine("vm2").to_dict()
    same = schedlab.Experiment("hog -D 5ms", machine=parts).run()
    assert same.engine.events == schedlab.Experiment("hog -D 5ms", machine="vm2").run().engine.events
    parts["name"] = "mine"
    assert schedlab.Experiment("hog -D 5ms", machine=parts).run().machine.name == "mine"
    del parts["name"]
    with pytest.raises(schedlab.Error, match="name"):
        schedlab.Machine(parts)


def test_tables_are_read_by_arrow_without_copying() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    result = SHORT.run()
    tasks = pyarrow.table(result.tasks)
    assert tasks.num_rows == len(result.tasks) == 2
    assert tasks["sum_exec_runtime_ns"].to_pylist() == [task.sum_exec_runtime_ns for task in result.tasks]
    assert tasks["wakeup_latency_ns.max"].to_pylist() == [task.wakeup_latency_ns.max for task in result.tasks]
    figures = pyarrow.table(result.metrics_table())
    assert dict(zip(figures["key"].to_pylist(), figures["value"].to_pylist())) == result.metrics()


def test_histograms_are_arrays() -> None:
    result = SHORT.run()
    found = result.histogram()
    cycles = sum(thread.cycles for thread in result.loads[0].threads)
    assert sum(found.counts) == cycles
    assert list(found.edges_ns) == list(range(int(found.edges_ns[0]), int(found.edges_ns[-1]) + 1, 1000))
    assert sum(result.histogram(thread=0).counts) == result.loads[0].threads[0].cycles
    numpy = pytest.importorskip("numpy")
    assert isinstance(found.counts, numpy.ndarray)
    with pytest.raises(schedlab.Error, match="-h US"):
        schedlab.Experiment("hog -D 1ms").run().histogram()


def test_pictures_and_html(tmp_path: Path) -> None:
    result = SHORT.run()
    assert "<pre>schedlab" in result._repr_html_()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = SHORT.compare("kernel=4.4", repeat=3).plot()
    assert axes.get_xlabel().startswith("change")
    assert len(result.plot().lines) == 3
    assert len(result.histogram().plot().patches) == len(result.histogram())
    swept = schedlab.sweep(
        schedlab.Experiment("cyclictest -t{t} -i500 -n", duration="5ms"), {"t": [1, 2], "cpus": [1, 2]}, folder=tmp_path / "s"
    )
    assert len(swept.plot(x="t").lines) == 2
    with pytest.raises(schedlab.Error, match="no axis is called `u`"):
        swept.plot(x="u")


def test_a_trace_of_a_run_runs_again(tmp_path: Path) -> None:
    path = tmp_path / "run.dat"
    result = SHORT.run(trace=path)
    again = schedlab.Trace(path).replay(cpus=2)
    used = [[t.sum_exec_runtime_ns for t in run.tasks if t.comm == "cyclictest"] for run in (again, result)]
    assert used[0] == used[1] != []
    assert path.with_suffix(".dat.machine.toml").exists()
    with pytest.raises(schedlab.Error, match="cannot tell the format"):
        SHORT.run(trace=tmp_path / "run.xyz")


def test_names_are_explained() -> None:
    assert "laptop" in schedlab.names("machines")
    assert schedlab.explain("RT_PUSH_IPI").kind == "feature"
    with pytest.raises(schedlab.Error, match="did you mean"):
        schedlab.explain("RT_PUSH_IPY")
    with pytest.raises(schedlab.Error, match="there are: kernels"):
        schedlab.names("colours")


def test_the_lines_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in page.split("```python\n")[1:]]
    assert len(blocks) == 4
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"schedlab": schedlab}
    for block in blocks:
        for library in ("pandas", "polars"):
            if library in block:
                names[library] = pytest.importorskip(library)
        exec(block, names)


def test_a_run_leaves_the_interpreter_to_others() -> None:
    """While a run is under way, another thread of Python gets on."""
    ticks = 0
    over = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not over.is_set():
            ticks += 1
            time.sleep(0.005)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.monotonic()
    schedlab.replay(DEMO, machine="vm2")
    took = time.monotonic() - began
    over.set()
    thread.join()
    assert ticks > took / 0.005 / 20, f"{ticks} ticks in {took:.2f} s"


@pytest.fixture
def heeded() -> Iterator[None]:
    """Ctrl-C means what it does in a terminal, also where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_stops_a_run(heeded: None) -> None:
    endless = schedlab.Experiment("hackbench -g4 -l1000000", cpus=8, duration="10000s")
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        endless.run()
    assert time.monotonic() - began < 10


def test_ctrl_c_stops_a_sweep_that_goes_on_later(heeded: None, tmp_path: Path) -> None:
    experiment = schedlab.Experiment("cyclictest -t{t} -p80 -i500 -n", duration="20ms")
    words = {"axes": {"t": [1, 2, 3]}, "seeds": 4, "folder": tmp_path / "s", "workers": 1}

    def stop(done: int, *_: object) -> None:
        if done >= 2:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        schedlab.sweep(experiment, progress=stop, **words)  # type: ignore[arg-type]
    reused = []
    result = schedlab.sweep(experiment, progress=lambda *now: reused.append(now[2]), **words)  # type: ignore[arg-type]
    assert reused[-1] >= 2
    assert (result.runs, result.failed) == (12, 0)


def test_ctrl_c_stops_a_tuning_that_goes_on_later(heeded: None, tmp_path: Path) -> None:
    experiment = schedlab.Experiment(["cyclictest -t2 -i1000 -n", "hog -n 4"], cpus=2, duration="100ms")
    over = [{"feature": "HRTICK"}, {"tunable": "base_slice_ns", "values": [350000, 700000]}]
    words: dict[str, Any] = {"minimize": "mean(cyclictest)", "over": over, "repeat": 6}
    folder = tmp_path / "t"
    over_now = threading.Event()

    def interrupt() -> None:
        while not over_now.is_set() and not list(folder.glob("runs-*")):
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            experiment.tune(folder=folder, **words)
    finally:
        over_now.set()
        thread.join()
    assert list(folder.glob("runs-*"))
    assert experiment.tune(folder=folder, **words).to_json() == experiment.tune(**words).to_json()


def test_a_sweep_is_a_table(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    experiment = schedlab.Experiment("cyclictest -t1 -a1 -i500 -n", machine="vm2", duration="5ms")
    axes = {"cpus": [1, 2], "settings": ["", ["NO_RT_PUSH_IPI", "hz=250"]]}
    result = schedlab.sweep(experiment, axes, seeds=[5, 9], folder=tmp_path / "s", metrics=["cyclictest.worst_latency"])
    table = pyarrow.table(result)
    assert table["cpus"].to_pylist() == [1] * 4 + [2] * 4
    assert table["settings"].to_pylist()[2] == "NO_RT_PUSH_IPI hz=250"
    assert table["seed"].to_pylist() == [5, 9] * 4
    # One CPU has no CPU 1.
    assert result.failed == 4
    assert [error is None for error in table["error"].to_pylist()] == [False] * 4 + [True] * 4
    worst = table["cyclictest.worst_latency"].to_pylist()
    assert result.points[2].figures[0].max == max(worst[4:6])
    # Others read the file as it is.
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(tmp_path / "s" / "results.parquet").to_pydict() == table.to_pydict()
    with pytest.raises(schedlab.Error, match="did you mean `kernel`"):
        schedlab.sweep(experiment, {"kernal": ["6.1"]}, folder=tmp_path / "s")
    with pytest.raises(schedlab.Error, match="no engine is called `rai`; there are: local, ray"):
        schedlab.sweep(experiment, axes, folder=tmp_path / "s", engine="rai")
