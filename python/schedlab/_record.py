"""Objects of JSON with their fields as attributes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeVar, overload

from . import _native

T = TypeVar("T")

#: Classes of records by the names of docs/schema.md; where a field `kind` tells several apart, by that.
KINDS: dict[str, Any] = {}


class Record:
    """An object of a result: its fields are attributes, named and documented in docs/schema.md.

    Times are whole nanoseconds where a name ends in `_ns`, microseconds in `_us`. A field that the document leaves
    out is `None`; one that it does not know raises AttributeError.
    """

    __slots__ = ("_fields",)
    #: Which class the objects of a field have.
    _inner: ClassVar[dict[str, str]] = {}
    _optional: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        if name == "_fields":
            raise AttributeError(name)
        # A word of the language has an underscore: `from_`.
        name = name[:-1] if name.endswith("_") and name[:-1] in self._fields else name
        if name in self._fields:
            return wrap(self._fields[name], self._inner.get(name))
        if name in self._optional:
            return None
        known = ", ".join(self._fields)
        raise AttributeError(f"this {type(self).__name__} has no `{name}`; it has {known}")

    def __reduce__(self) -> Any:
        return (type(self), (self._fields,))

    def to_dict(self) -> dict[str, Any]:
        """As plain dictionaries and lists: the JSON, read."""
        return self._fields

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._fields == other._fields

    def __hash__(self) -> int:
        return hash(json.dumps(self._fields, sort_keys=True))

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={_short(value)}" for name, value in self._fields.items())
        return f"{type(self).__name__}({inner})"


class Records(Sequence[T], Generic[T]):
    """Records in their order, and a table to whoever reads Arrow: nested objects are columns `outer.inner`, lists are
    left out."""

    __slots__ = ("_items",)

    def __init__(self, items: Iterable[T]) -> None:
        self._items = list(items)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Records[T]: ...
    def __getitem__(self, index: int | slice) -> T | Records[T]:
        return Records(self._items[index]) if isinstance(index, slice) else self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Records) and self._items == other._items

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._items)

    def table(self) -> _native.Table:
        """As a table of Arrow."""
        return _native.table_of_json(json.dumps([item.to_dict() for item in self._items]))  # type: ignore[attr-defined]

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.table().__arrow_c_stream__(requested_schema)


def wrap(value: Any, kind: str | None) -> Any:
    """Objects as records of a class; lists and maps of them likewise."""
    if kind is None:
        return value
    if isinstance(value, list):
        return Records(wrap(item, kind) for item in value)
    found = KINDS[kind]
    if isinstance(found, dict):
        found = found[value["kind"]]
    return found(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:36]}..."
