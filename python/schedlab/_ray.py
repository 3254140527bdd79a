"""Chunks of a sweep on a Ray cluster, or on one that is started on this computer."""

from __future__ import annotations

import os
import time
from typing import Any

from . import _native

#: Seconds until a cluster that does not answer is given up.
PATIENCE = 10
#: How often a chunk is tried again whose worker died.
RETRIES = 5


def run_chunk(work: bytes, files: dict[str, bytes]) -> tuple[bytes, int]:
    """What a worker does."""
    from schedlab import _native

    rows, nanoseconds = _native.run_chunk(work, files)
    return bytes(rows), nanoseconds


class Ray:
    """An engine (`schedlab.Engine`) whose workers are those of a Ray cluster.

    Files that experiments name have to be there on every node, under the same names. A chunk whose worker dies is run
    again by another one. Used in a `with` statement; a cluster that it has started ends there.
    """

    def __init__(
        self,
        address: str | None = None,
        files: dict[str, bytes] | None = None,
        workers: int = 0,
    ) -> None:
        """
        Args:
            address: of the cluster (`HOST:PORT`, `ray://HOST:PORT`, `auto`); without it, one is started here.
            files: files in memory that loads name.
            workers: of a cluster that is started: number of CPUs, 0: all of this computer.
        """
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ImportError:
            raise _native.Error("the engine ray needs the package: pip install 'schedlab[ray]'") from None
        self._ray: Any = ray
        self._under_way: dict[Any, int] = {}
        self._is_ours = not ray.is_initialized()
        if self._is_ours:
            self._connect(address, workers)
        self._files = ray.put(files or {})
        self._run = ray.remote(num_cpus=1, max_retries=RETRIES)(run_chunk)

    def _connect(self, address: str | None, workers: int) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if address is None:
            self._ray.init(num_cpus=workers or None, include_dashboard=False, **quiet)
            return
        if not _answers(address):
            raise _native.Error(
                f"no Ray cluster answers at {address} within {PATIENCE} s; `ray status --address {address}` says what "
                "is there, `ray start --head` starts one"
            )
        try:
            self._ray.init(address=address, **quiet)
        except (ConnectionError, RuntimeError, ValueError) as error:
            first = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise _native.Error(f"the Ray cluster at {address} cannot be used: {first}") from None

    def __enter__(self) -> Ray:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_ours:
            self._ray.shutdown()
            return
        # Not by force, which may end this process when a chunk ends at that moment (Ray 2.60). What has not begun does
        # not begin; what has takes a second.
        for reference in self._under_way:
            self._ray.cancel(reference, force=False)

    def workers(self) -> int:
        """CPUs of the cluster."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, number: int, work: bytes) -> None:
        """Sends a chunk."""
        self._under_way[self._run.remote(work, self._files)] = number

    def wait(self, seconds: float) -> list[tuple[int, bytes, int]]:
        """The chunks that have ended."""
        references = list(self._under_way)
        if not references:
            return []
        ended, _ = self._ray.wait(references, num_returns=len(references), timeout=0)
        if not ended:
            ended, _ = self._ray.wait(references, timeout=seconds)
        done = []
        for reference in ended:
            number = self._under_way.pop(reference)
            try:
                rows, nanoseconds = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                first = str(error).strip().splitlines()[-1:] or [type(error).__name__]
                raise _native.Error(f"ray: a chunk failed on {RETRIES + 1} workers: {first[0]}") from None
            done.append((number, rows, nanoseconds))
        return done


def _answers(address: str) -> bool:
    """Whether somebody listens there."""
    import socket

    if address in ("auto", "local"):
        return True
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise _native.Error(f"`{address}` is no address of a Ray cluster; write HOST:PORT, ray://HOST:PORT or auto")
    end = time.monotonic() + PATIENCE
    while (left := end - time.monotonic()) > 0:
        try:
            socket.create_connection((host, int(port)), timeout=left).close()
            return True
        except OSError:
            time.sleep(min(0.5, left))
    return False
