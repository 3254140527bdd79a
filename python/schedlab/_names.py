"""Everything that has a name."""

from __future__ import annotations

import json

from . import _native
from ._typed import ExplainResult


def names(kind: str) -> dict[str, str]:
    """All things of a kind, each with a sentence: `kernels`, `machines`, `loads`, `features`, `rules`, `tunables`,
    `decisions`, `counters`, `experiments`, `limits`, ..."""
    return {entry["name"]: entry["meaning"] for entry in json.loads(_native.names(kind))["entries"]}


def explain(name: str) -> ExplainResult:
    """All that is known about a name: `kind`, `meaning`, `sections`."""
    return ExplainResult(json.loads(_native.explain(name)))
