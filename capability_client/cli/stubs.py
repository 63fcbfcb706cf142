"""The arguments and results of a skill's tools as `TypedDict`s, for the functions of a `Toolbox`.

What JSON Schema says and types cannot (lengths, patterns, ranges) is left to the gate, which has checked it before a
function is called.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Mapping
from typing import Any, Final

from capability_kit.bundles.bundle import Bundle
from capability_kit.text.sanitize import one_line

_PLAIN: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_WORD: Final = re.compile(r"[A-Za-z0-9]+")
_DEPTH_MAX: Final = 20
_HEAD: Final = '''"""The tools of {name}, revision {revision}.

Written by `python -m capability_client stubs {capability_id}`.
"""

from __future__ import annotations

{imports}'''


def write_stubs(bundle: Bundle) -> str:
    """A module with a class for the arguments of each tool, and for its result where the contract describes it."""
    made = _Module()
    for tool in bundle.tools:
        name = _class_name(tool["name"])
        made.add_root(name, tool["args_schema"])
        if isinstance(schema := tool.get("result_schema"), dict):
            made.add_root(f"{name}Result", schema)
    body = "\n\n".join(made.classes)
    used = [each for each in ("Literal", "NotRequired", "TypedDict") if re.search(rf"\b{each}\b", body)]
    imports = f"from typing import {', '.join(used)}\n" if used else ""
    name = one_line(bundle.name, most=60).replace("\\", "").replace('"', "")
    head = _HEAD.format(name=name, revision=bundle.revision, capability_id=bundle.capability_id, imports=imports)
    return f"{head}\n\n{body}" if body else head


class _Module:
    """The classes of one module, each after those that it needs."""

    def __init__(self) -> None:
        self.classes: list[str] = []
        self._taken: set[str] = set()
        self._named: dict[str, str] = {}
        self._defs: Mapping[str, Any] = {}
        self._prefix = ""

    def add_root(self, name: str, schema: Mapping[str, Any]) -> None:
        """The class of one schema; what is not an object with named properties becomes an alias."""
        self._defs = {**schema.get("definitions", {}), **schema.get("$defs", {})}
        self._named, self._prefix = {}, name
        found = self._type_of(schema, name, 0)
        if found != name:
            self.classes.append(f"{name} = {found}\n")

    def _type_of(self, schema: Any, name: str, depth: int) -> str:
        if not isinstance(schema, dict) or depth > _DEPTH_MAX:
            return "object"
        if isinstance(reference := schema.get("$ref"), str):
            return self._referred(reference, depth)
        if "const" in schema or isinstance(schema.get("enum"), list):
            return _literal(schema["enum"] if "enum" in schema else [schema["const"]])
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                return _union(
                    self._type_of(one, f"{name}{number}", depth + 1) for number, one in enumerate(schema[key], start=1)
                )
        kinds = schema.get("type", "object" if "properties" in schema else "")
        return _union(
            self._of_kind(kind, schema, name, depth) for kind in (kinds if isinstance(kinds, list) else [kinds])
        )

    def _of_kind(self, kind: str, schema: Mapping[str, Any], name: str, depth: int) -> str:
        if kind == "array":
            return f"list[{self._type_of(schema.get('items'), f'{name}Item', depth + 1)}]"
        if kind != "object":
            return _PLAIN.get(kind, "object")
        properties = schema.get("properties")
        if isinstance(properties, dict) and properties:
            return self._class_of(name, properties, schema, depth)
        values = schema.get("additionalProperties")
        return f"dict[str, {self._type_of(values, f'{name}Value', depth + 1)}]"

    def _class_of(self, name: str, properties: Mapping[str, Any], schema: Mapping[str, Any], depth: int) -> str:
        name = self._free(name)
        required = schema.get("required", [])
        fields = {}
        for key, each in properties.items():
            found = self._type_of(each, f"{name}{_class_name(key)}", depth + 1)
            fields[key] = found if key in required else f"NotRequired[{found}]"
        if all(key.isidentifier() and not keyword.iskeyword(key) and not key.startswith("__") for key in fields):
            lines = "".join(f"    {key}: {found}\n" for key, found in fields.items())
            self.classes.append(f"class {name}(TypedDict):\n{lines}")
        else:
            pairs = "".join(f"    {_quoted(key)}: {_quoted(found)},\n" for key, found in fields.items())
            self.classes.append(f'{name} = TypedDict("{name}", {{\n{pairs}}})\n')
        return name

    def _free(self, name: str) -> str:
        """The name, or one beside it where a class has it already."""
        if name in self._taken:
            return self._free(f"{name}_")
        self._taken.add(name)
        return name

    def _referred(self, reference: str, depth: int) -> str:
        key = reference.rpartition("/")[2]
        if reference == "#":
            return self._prefix
        if key not in self._defs or not reference.startswith(("#/$defs/", "#/definitions/")):
            return "object"
        if key not in self._named:
            name, each = f"{self._prefix}{_class_name(key)}", self._defs[key]
            # Named before it is read: it may refer to itself, where it becomes a class.
            self._named[key] = name if isinstance(each, dict) and each.get("properties") else "object"
            self._named[key] = self._type_of(each, name, depth + 1)
        return self._named[key]


def _class_name(name: str) -> str:
    words = "".join(word[0].upper() + word[1:] for word in _WORD.findall(name)) or "Value"
    return f"_{words}" if words[0].isdigit() else words


def _literal(values: list[Any]) -> str:
    plain = [each for each in values if each is None or isinstance(each, str | int | bool)]
    return f"Literal[{', '.join(map(_quoted, plain))}]" if len(plain) == len(values) and plain else "object"


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=True) if isinstance(value, str) else repr(value)


def _union(types: Any) -> str:
    found = list(dict.fromkeys(types))
    return "object" if "object" in found or not found else " | ".join(found)
