"""Writes schedlab/_typed.py, the classes of results, from docs/schema.json: `python3 python/tools/typed.py`.

With `--check` it writes nothing, and says by its exit code whether the file is what it would write.
"""

from __future__ import annotations

import json
import keyword
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs" / "schema.json"
TYPED = ROOT / "python" / "schedlab" / "_typed.py"
#: The documents that Python hands out; of others nothing is written.
DOCUMENTS = ["RunResult", "Comparison", "InspectResult", "RecordingsComparison", "SweepResult", "TuneResult",
             "SearchResult", "ExplainResult"]
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
HEAD = '''"""The classes of results, from docs/schema.json by tools/typed.py; not to be edited."""

from __future__ import annotations

from typing import Literal, Union

from ._record import KINDS, Record, Records
'''


class Writer:
    """Writes each definition once, those that others refer to included."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self.definitions = definitions
        self.out = [HEAD]
        self.kinds: list[str] = []
        self.written: set[str] = set()

    def definition(self, name: str) -> None:
        if name in self.written:
            return
        self.written.add(name)
        definition = self.definitions[name]
        for inner in references(definition):
            self.definition(inner)
        if "oneOf" not in definition:
            if "properties" in definition:
                self.record(name, definition)
                self.kinds.append(f'KINDS["{name}"] = {name}')
            return
        if "const" in definition["oneOf"][0]:
            return
        by_tag = {}
        for kind in definition["oneOf"]:
            tag = kind["properties"]["kind"]["const"]
            by_tag[tag] = name + "".join(part.capitalize() for part in tag.split("_"))
            self.record(by_tag[tag], kind)
        self.out.append(f"{name} = Union[{', '.join(by_tag.values())}]\n")
        inner = ", ".join(f'"{tag}": {of_tag}' for tag, of_tag in by_tag.items())
        self.kinds.append(f'KINDS["{name}"] = {{{inner}}}')

    def record(self, name: str, definition: dict[str, Any]) -> None:
        fields, required = definition["properties"], definition.get("required", [])
        inner = {field: kind for field, schema in fields.items() if (kind := self.record_of(schema))}
        optional = sorted(field for field in fields if field not in required)
        self.out.append(f"\nclass {name}(Record):\n{doc(definition.get('description', name), 4)}\n\n    __slots__ = ()")
        if inner:
            self.out.append(f"    _inner = {inner!r}")
        if optional:
            self.out.append(f"    _optional = frozenset({optional!r})")
        for field, schema in fields.items():
            kind = self.type_of(schema)
            kind = kind if field in required else f"{kind} | None"
            about = schema.get("description", "")
            # A word of the language: `from_` stands for `from`.
            name_of = f"{field}_" if keyword.iskeyword(field) else field
            self.out.append(f"    {name_of}: {kind}" + (f"\n{doc(about, 4)}" if about else ""))
        self.out.append("")

    def record_of(self, schema: dict[str, Any]) -> str | None:
        """The name of the record in a field, or in the list or map that it holds."""
        schema = schema.get("items", schema)
        if isinstance(schema.get("additionalProperties"), dict):
            schema = schema["additionalProperties"]
        name = referenced(schema)
        definition = self.definitions.get(name or "", {})
        is_record = "properties" in definition or "properties" in definition.get("oneOf", [{}])[0]
        return name if is_record else None

    def type_of(self, schema: dict[str, Any]) -> str:
        if name := referenced(schema):
            return name if self.record_of(schema) else self.type_of(self.definitions[name])
        if "const" in schema:
            return f'Literal["{schema["const"]}"]'
        if kinds := schema.get("oneOf"):
            return "Literal[" + ", ".join(f'"{kind["const"]}"' for kind in kinds) + "]"
        if schema["type"] == "array":
            several = "Records" if self.record_of(schema) else "list"
            return f"{several}[{self.type_of(schema['items'])}]"
        if schema["type"] == "object":
            pattern = next(iter(schema.get("patternProperties", {}).values()), None)
            return f"dict[str, {self.type_of(pattern or schema['additionalProperties'])}]"
        return PLAIN[schema["type"]]


def referenced(schema: dict[str, Any]) -> str | None:
    reference = schema.get("$ref")
    return reference.removeprefix("#/$defs/") if reference else None


def references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for part in schema for name in references(part)]
    if not isinstance(schema, dict):
        return []
    own = [name] if (name := referenced(schema)) else []
    return own + [name for part in schema.values() for name in references(part)]


def doc(text: str, indent: int) -> str:
    blanks = " " * indent
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    wrapped = textwrap.fill(f'"""{text}"""', 116, initial_indent=blanks, subsequent_indent=blanks)
    return wrapped if not text.endswith('"') else wrapped.replace('""""', '" """')


def written() -> str:
    writer = Writer(json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"])
    for name in DOCUMENTS:
        writer.definition(name)
    return "\n".join([*writer.out, *writer.kinds, ""])


def main() -> int:
    text = written()
    if "--check" in sys.argv[1:]:
        is_current = TYPED.exists() and TYPED.read_text(encoding="utf-8") == text
        if not is_current:
            sys.stderr.write(f"{TYPED} is not what docs/schema.json says: python3 python/tools/typed.py\n")
        return 0 if is_current else 1
    TYPED.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
