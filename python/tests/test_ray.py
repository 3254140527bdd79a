"""Sweeps on a Ray cluster of two workers, here: the same rows as on the cores, also when a worker dies."""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import without_time

import schedlab

ray = pytest.importorskip("ray")

AXES = {"t": [1, 2, 3], "kernel": ["4.4", "6.1"]}
EXPERIMENT = schedlab.Experiment("cyclictest -t{t} -p80 -i500 -n", cpus=2, duration="20ms")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def _results(folder: Path) -> bytes:
    return (folder / "results.parquet").read_bytes()


def test_rows_are_those_of_the_cores(cluster: None, tmp_path: Path) -> None:
    here = schedlab.sweep(EXPERIMENT, AXES, seeds=5, folder=tmp_path / "here")
    there = schedlab.sweep(EXPERIMENT, AXES, seeds=5, folder=tmp_path / "there", engine="ray")
    assert there.to_json() == here.to_json()
    assert _results(tmp_path / "there") == _results(tmp_path / "here")


def test_loads_in_memory_travel_and_failures_are_rows(cluster: None, tmp_path: Path) -> None:
    load = {"tasks": {"w": {"loop": 5, "run": 100, "sleep": 900, "cpus": [1]}}, "global": {"duration": 1}}
    experiment = schedlab.Experiment([load], machine="vm2", duration="20ms")
    words: dict[str, Any] = {"axes": {"cpus": [1, 2]}, "seeds": 2}
    here = schedlab.sweep(experiment, folder=tmp_path / "here", **words)
    there = schedlab.sweep(experiment, folder=tmp_path / "there", engine="ray", **words)
    assert (there.failed, there.to_json()) == (2, here.to_json())


def test_a_killed_worker_costs_nothing_but_time(cluster: None, tmp_path: Path) -> None:
    """SIGKILL for each worker that is seen, some times: its chunk is run again, and no run counts twice."""

    @ray.remote(num_cpus=0)
    def pids() -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and b"ray::run_chunk" in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    killed: list[int] = []

    def kill(*_: object) -> None:
        if len(killed) < 2:
            for pid in ray.get(pids.remote())[: 2 - len(killed)]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    experiment = schedlab.Experiment("hackbench -g{g} -l1000000", cpus=4, duration="300ms")
    words: dict[str, Any] = {"axes": {"g": [1, 2]}, "seeds": 4}
    there = schedlab.sweep(experiment, folder=tmp_path / "there", engine="ray", progress=kill, **words)
    assert len(killed) == 2, "no worker was seen at work"
    here = schedlab.sweep(experiment, folder=tmp_path / "here", **words)
    assert there.to_json() == here.to_json()
    assert _results(tmp_path / "there") == _results(tmp_path / "here")


def test_a_killed_driver_goes_on(cluster: None, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'loads = ["hackbench -g{g} -l1000000"]\nsettings = "cpus=4"\nfor = "200ms"\nseeds = 4\n'
        '[[axis]]\nname = "g"\nvalues = [1, 2, 3]\n'
    )
    command = [sys.executable, "-m", "schedlab", "sweep", "s.toml", "--engine", "ray", "--workers", "2"]
    driver = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, start_new_session=True)
    folder, end = tmp_path / "s.sweep", time.monotonic() + 120
    while not list(folder.glob("runs-*")) and time.monotonic() < end:
        time.sleep(0.05)
    driver.kill()
    driver.wait()
    kept = {path.name for path in folder.glob("runs-*")}
    assert kept
    reused: list[int] = []
    result = schedlab.sweep(
        tmp_path / "s.toml", folder=folder, engine="ray", progress=lambda *now: reused.append(now[2])
    )
    assert reused[-1] >= len(kept)
    assert kept <= {path.name for path in folder.glob("runs-*")}
    here = schedlab.sweep(tmp_path / "s.toml", folder=tmp_path / "here")
    assert result.to_json() == here.to_json()


def test_a_full_disk_loses_nothing_that_was_finished(cluster: None, tmp_path: Path) -> None:
    """A limit on the size of files is as good as a full disk; that of this process is not that of the workers."""
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(done: int, *_: object) -> None:
        if done >= 2:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))

    words: dict[str, Any] = {"axes": AXES, "seeds": 5}
    try:
        with pytest.raises(schedlab.Error, match="what has been finished is kept"):
            schedlab.sweep(EXPERIMENT, folder=tmp_path / "there", engine="ray", progress=fill, **words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    reused: list[int] = []
    there = schedlab.sweep(
        EXPERIMENT, folder=tmp_path / "there", engine="ray", progress=lambda *now: reused.append(now[2]), **words
    )
    assert 2 <= reused[-1] < there.runs
    here = schedlab.sweep(EXPERIMENT, folder=tmp_path / "here", **words)
    assert there.to_json() == here.to_json()
    assert _results(tmp_path / "there") == _results(tmp_path / "here")


def test_ctrl_c_says_what_stands(cluster: None, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'loads = ["hackbench -g{g} -l1000000"]\nsettings = "cpus=4"\nfor = "200ms"\nseeds = 4\n'
        '[[axis]]\nname = "g"\nvalues = [1, 2, 3]\n'
    )
    command = [sys.executable, "-m", "schedlab", "sweep", "s.toml", "--engine", "ray", "--workers", "2"]
    driver = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        # Also where the tests run in the background, which ignores it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not list((tmp_path / "s.sweep").glob("runs-*")):
        assert driver.poll() is None
        time.sleep(0.02)
    driver.send_signal(signal.SIGINT)
    _, said = driver.communicate(timeout=120)
    assert driver.returncode == -signal.SIGINT
    assert re.search(r"^error: stopped after \d+ of 12 runs; started again, it goes on there$", said, re.MULTILINE), said
    assert "Traceback" not in said


def test_an_address_that_does_not_answer_is_told_in_time(tmp_path: Path) -> None:
    if ray.is_initialized():
        ray.shutdown()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(schedlab.Error, match=f"no Ray cluster answers at {address} within 10 s"):
            schedlab.sweep(EXPERIMENT, AXES, folder=tmp_path / "s", engine="ray", address=address)
        assert time.monotonic() - began < 12
    with pytest.raises(schedlab.Error, match="no address of a Ray cluster"):
        schedlab.sweep(EXPERIMENT, AXES, folder=tmp_path / "s", engine="ray", address="somewhere")
    with pytest.raises(schedlab.Error, match="say engine="):
        schedlab.sweep(EXPERIMENT, AXES, folder=tmp_path / "s", address=address)


def test_the_command_line_starts_a_cluster_and_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'loads = ["cyclictest -t{t} -p80 -i500 -n"]\nfor = "5ms"\nseeds = 2\n[[axis]]\nname = "t"\nvalues = [1, 2]\n'
    )

    def said(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "schedlab", "sweep", "s.toml", "--format", "json", *args]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    there, here = said("--engine", "ray", "--workers", "2", "--folder", "there"), said("--folder", "here")
    assert (there.returncode, there.stderr) == (0, "")
    assert without_time(there.stdout) == without_time(here.stdout)
    nowhere = said("--engine", "ray", "--address", "somewhere")
    assert (nowhere.returncode, nowhere.stdout) == (2, "")
    assert nowhere.stderr.startswith("error: `somewhere` is no address of a Ray cluster")
