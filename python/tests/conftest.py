"""Where the command line and the recordings are."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = str(ROOT / "demo" / "mix-rtover.dat")


def _program() -> Path | None:
    named = os.environ.get("SCHEDLAB")
    built = [ROOT / "target" / profile / "schedlab" for profile in ("release", "debug")]
    return Path(named) if named else next((path for path in built if path.exists()), None)


@pytest.fixture(scope="session")
def schedlab_program() -> Any:
    """Runs the command line; gives standard output, standard error and exit code."""
    program = _program()
    if program is None:
        pytest.skip("the program is not built: cargo build --release")

    def run(*args: str, cwd: str | Path | None = None) -> subprocess.CompletedProcess[str]:
        # Nobody here has a terminal whose width counts.
        env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        return subprocess.run([str(program), *args], capture_output=True, text=True, cwd=cwd, env=env, check=False)

    return run


def without_time(text: str) -> str:
    """A JSON document without the command line and the real time that it took: all else is to be the same bytes."""
    lines = [line for line in text.splitlines() if '"wall_ns"' not in line and '"command"' not in line]
    return "\n".join(lines).replace(",\n  }", "\n  }")


def loads(text: str) -> Any:
    """The document."""
    return json.loads(text)
