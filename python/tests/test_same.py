"""What Python gives is what the command line gives, byte for byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import DEMO, without_time

import schedlab

LOADS = ["cyclictest -t2 -p80 -i1000 -n -h 50", "hackbench -g1 -l50"]


def test_a_run_is_that_of_the_command_line(schedlab_program: Any) -> None:
    experiment = schedlab.Experiment(
        loads=LOADS, machine="laptop", kernel="6.12", cpus=4, settings=["NO_RT_PUSH_IPI", "hz=250"], seed=7, duration="100ms"
    )
    args = ["--machine", "laptop", "--kernel", "6.12", "--cpus", "4", "--set", "NO_RT_PUSH_IPI", "--set", "hz=250"]
    said = schedlab_program("run", *LOADS, *args, "--seed", "7", "--for", "100ms", "--format", "json")
    assert said.returncode == 0, said.stderr
    assert without_time(experiment.run().to_json()) == without_time(said.stdout)


def test_groups_and_default_kernel(schedlab_program: Any) -> None:
    words = ["group=web=cpu.max:20000/100000", "in=web=periodic*"]
    load = "periodic -n 2 -p 40ms -r 12ms"
    result = schedlab.Experiment(load, settings=words, cpus=2, duration=0.3).run()
    args = ["--group", "web=cpu.max:20000/100000", "--in", "web=periodic*", "--cpus", "2", "--for", "300ms"]
    said = schedlab_program("run", load, *args, "--format", "json")
    assert without_time(result.to_json()) == without_time(said.stdout)
    assert result.groups[0].name == "web"


def test_a_replay_is_that_of_the_command_line(schedlab_program: Any) -> None:
    result = schedlab.replay(DEMO, machine="vm2", settings=["hz=250", "policy=hog1=fifo:5"], start="1s", end="2s")
    args = ["--machine", "vm2", "--set", "hz=250", "--policy", "hog1=fifo:5", "--from", "1s", "--to", "2s"]
    said = schedlab_program("run", DEMO, *args, "--format", "json")
    assert said.returncode == 0, said.stderr
    assert without_time(result.to_json()) == without_time(said.stdout)
    assert result.replay[0].reference.machine.cpus == 2


def test_a_comparison_is_that_of_the_command_line(schedlab_program: Any) -> None:
    experiment = schedlab.Experiment(LOADS, cpus=2, duration="50ms")
    found = experiment.compare(["kernel=6.1", "cpus=4 NO_RUN_TO_PARITY"], repeat=3)
    with_ = ["--with", "kernel=6.1", "--with", "cpus=4 NO_RUN_TO_PARITY"]
    said = schedlab_program(
        "compare", *LOADS, "--cpus", "2", "--for", "50ms", "--repeat", "3", *with_, "--format", "json"
    )
    assert said.returncode == 0, said.stderr
    assert without_time(found.to_json()) == without_time(said.stdout)
    assert len(found.variants) == 2
    assert found.table(1).num_rows == len(found.variants[1].metrics)


def test_a_tuning_is_that_of_the_command_line(schedlab_program: Any, tmp_path: Path) -> None:
    loads = ["cyclictest -t2 -i1000 -n", "hog -n 4"]
    knobs = tmp_path / "knobs.toml"
    knobs.write_text('[[knob]]\nfeature = "HRTICK"\n[[knob]]\ntunable = "base_slice_ns"\nvalues = [350000, 2800000]\n')
    experiment = schedlab.Experiment(loads, cpus=2, duration="50ms")
    goal, condition = "max(cyclictest)", "hog cycles > 0.5 x base"
    over = [{"feature": "HRTICK"}, {"tunable": "base_slice_ns", "values": [350000, 2800000]}]
    found = experiment.tune(minimize=goal, subject_to=condition, over=over, repeat=6)
    args = ["--cpus", "2", "--for", "50ms", "--minimize", goal, "--subject-to", condition, "--repeat", "6"]
    said = schedlab_program("tune", *loads, *args, "--over", str(knobs), "--format", "json")
    assert said.returncode == 0, said.stderr
    assert without_time(found.to_json()) == without_time(said.stdout)
    assert [knob.name for knob in found.knobs] == ["HRTICK", "base_slice_ns"]
    assert "answer: " in str(found)
    with pytest.raises(schedlab.Error, match="either minimize or maximize"):
        experiment.tune()


def test_a_search_is_that_of_the_command_line(schedlab_program: Any, tmp_path: Path) -> None:
    experiment = schedlab.Experiment("cyclictest -t2 -p80 -i1000", cpus=2, duration="20ms")
    found = experiment.search(maximize="max(cyclictest)", runs=32)
    args = ["--cpus", "2", "--for", "20ms", "--maximize", "max(cyclictest)", "--runs", "32", "--format", "json"]
    said = schedlab_program("search", "cyclictest -t2 -p80 -i1000", *args)
    assert said.returncode == 0, said.stderr
    assert without_time(found.to_json()) == without_time(said.stdout)
    found.save_worst(tmp_path / "worst.json")
    again = schedlab.Experiment.of_result(tmp_path / "worst.json").run()
    assert again.metrics()["cyclictest.worst_latency"] == found.records[-1].value


def test_what_is_in_a_trace(schedlab_program: Any) -> None:
    found = schedlab.inspect(DEMO, tasks=["hog1"])
    said = schedlab_program("inspect", DEMO, "--task", "hog1", "--format", "json")
    assert without_time(found.to_json()) == without_time(said.stdout)
    two = schedlab.Trace(DEMO).beside(DEMO)
    said = schedlab_program("inspect", DEMO, DEMO, "--format", "json")
    assert without_time(two.to_json()) == without_time(said.stdout)


def test_texts_are_those_of_the_command_line(schedlab_program: Any) -> None:
    result = schedlab.Experiment(LOADS, cpus=2, duration="50ms").run()
    said = schedlab_program("run", *LOADS, "--cpus", "2", "--for", "50ms").stdout
    # The command and the lines that it takes.
    head, _, rest = said.partition("\ncommand  ")
    rest = rest[rest.index("\n\n") :]
    assert str(result) == head + rest


def test_a_sweep_is_that_of_the_command_line(schedlab_program: Any, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'loads = ["cyclictest -t{t} -p80 -i500 -n"]\nfor = "5ms"\nseeds = 3\n'
        '[[axis]]\nname = "kernel"\nvalues = ["4.4", "6.1"]\n[[axis]]\nname = "t"\nvalues = [1, 2]\n'
    )
    said = schedlab_program("sweep", "s.toml", "--folder", "a", "--format", "json", cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    experiment = schedlab.Experiment("cyclictest -t{t} -p80 -i500 -n", duration="5ms")
    axes = {"kernel": ["4.4", "6.1"], "t": [1, 2]}
    result = schedlab.sweep(experiment, axes, seeds=3, folder=tmp_path / "b", workers=1)
    assert without_time(result.to_json()) == without_time(said.stdout)
    same = [(tmp_path / folder / "results.parquet").read_bytes() for folder in "ab"]
    assert same[0] == same[1]
    # What the one has made, the other does not make again.
    again = schedlab_program("sweep", "s.toml", "--folder", "b", cwd=tmp_path)
    assert "12 of 12 runs were there already" in again.stderr
    of_file = schedlab.sweep(tmp_path / "s.toml", folder=tmp_path / "a")
    assert of_file.to_json() == result.to_json()


@pytest.mark.parametrize(
    ("words", "args"),
    [
        ({"loads": "cyclictets"}, ["cyclictets"]),
        ({"loads": []}, None),
        ({"loads": "hog", "kernel": "6.21x"}, ["hog", "--kernel", "6.21x"]),
        ({"loads": "hog", "settings": "RT_PUSH_IPY"}, ["hog", "--set", "RT_PUSH_IPY"]),
        ({"loads": "hog", "machine": "leptop"}, ["hog", "--machine", "leptop"]),
        ({"loads": "no-such.dat"}, ["no-such.dat"]),
        ({"loads": DEMO, "settings": "policy=nobody=fifo:1"}, [DEMO, "--policy", "nobody=fifo:1"]),
        ({"loads": "hog -D 1ms", "start": "2s"}, ["hog -D 1ms", "--from", "2s"]),
        ({"loads": "hog -D 1ms", "tasks": ["nobody"]}, ["hog -D 1ms", "--task", "nobody"]),
    ],
)
def test_errors_have_the_words_of_the_command_line(
    schedlab_program: Any, words: dict[str, Any], args: list[str] | None
) -> None:
    with pytest.raises(schedlab.Error) as error:
        schedlab.Experiment(**words).run()
    if args is None:
        assert str(error.value).startswith("no load; give a command line")
        return
    said = schedlab_program("run", *args)
    assert said.returncode == 2
    assert f"error: {error.value}\n" == said.stderr


def test_a_result_runs_again_on_either_side(schedlab_program: Any, tmp_path: Path) -> None:
    result = schedlab.Experiment(LOADS[0], cpus=2, duration="20ms", machine=schedlab.Machine("vm2")).run()
    result.save(tmp_path / "r.json")
    said = schedlab_program("run", "r.json", "--format", "json", cwd=tmp_path)
    assert without_time(said.stdout) == without_time(result.to_json())
    again = schedlab.Experiment.of_result(tmp_path / "r.json").run()
    assert again.same_as(result)
    assert json.loads(again.to_json())["engine"]["seed"] == 1


def test_the_package_has_the_command_line(schedlab_program: Any, tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}

    def by_python(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "schedlab", *args]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env, check=False)

    for args in (
        ["run", LOADS[0], "--cpus", "2", "--for", "20ms"],
        ["run", "cyclictets"],
        ["sweep", "no-such.toml"],
        ["sweep", "x.toml", "--engine", "rai"],
        ["--version"],
    ):
        found, said = by_python(*args), schedlab_program(*args, cwd=tmp_path)
        assert (found.returncode, found.stdout, found.stderr) == (said.returncode, said.stdout, said.stderr), args
