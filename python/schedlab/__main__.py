"""The command line: `schedlab`, or `python -m schedlab`."""

from __future__ import annotations

import argparse
import json
import shlex
import signal
import sys
from typing import Any

from . import _native
from ._sweep import say_progress, sweep


def main() -> int:
    """Does what was typed. All of it is the program's own, but for sweeps on a Ray cluster."""
    typed = sys.argv[1:]
    if asked := _on_ray(typed):
        return _sweep(asked, typed)
    # Ctrl-C ends the program, as it ends others.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command_line(["schedlab", *typed])


def _on_ray(typed: list[str]) -> Any:
    """The options of a sweep on Ray; anything else, and any mistake, is the program's to see."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("command", choices=["sweep"])
    parser.add_argument("file")
    parser.add_argument("--folder")
    parser.add_argument("--engine", choices=["ray"], required=True)
    parser.add_argument("--address")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("-q", "--quiet", action="store_true")
    # What it would say to standard error, the program says better.
    parser.error = _refuse  # type: ignore[method-assign]
    try:
        return parser.parse_args(typed)
    except (argparse.ArgumentError, ValueError):
        return None


def _refuse(message: str) -> Any:
    raise ValueError(message)


def _sweep(asked: Any, typed: list[str]) -> int:
    folder = asked.folder or f"{asked.file.removesuffix('.toml')}.sweep"
    is_seen = sys.stderr.isatty() and not asked.quiet
    so_far = (0, 0)

    def progress(done: int, runs: int, reused: int, failed: int, left: float | None) -> None:
        nonlocal so_far
        so_far = (done, runs)
        if is_seen:
            say_progress(done, runs, reused, failed, left)

    try:
        result = sweep(
            asked.file, folder=folder, workers=asked.workers, engine="ray", address=asked.address, progress=progress
        )
    except KeyboardInterrupt:
        sys.stderr.write(f"error: stopped after {so_far[0]} of {so_far[1]} runs; started again, it goes on there\n")
        # As the shell wants to see it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
        return 128 + signal.SIGINT
    except _native.Error as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    document = {}
    for name, value in result.to_dict().items():
        document[name] = value
        if name == "schema":
            document["command"] = shlex.join(["schedlab", *typed])
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    sys.stdout.write(text if asked.format == "json" else _native.sweep_as_text(text, asked.full))
    return 0


if __name__ == "__main__":
    sys.exit(main())
