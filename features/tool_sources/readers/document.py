"""From bytes to one JSON value: JSON, or YAML in which words mean what YAML 1.2 says.

YAML 1.1, which PyYAML reads, takes `no` for false and a day for a date; keys of an OpenAPI document are texts.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from capability_rules.bundles.text import decode_text
from capability_rules.errors import SourceUnreadable
from features.tool_sources.readers.limits import BYTES_MAX, MERGED_MAX, NESTING_MAX, VALUES_MAX
from features.tool_sources.readers.other_formats import recognize_bytes, recognize_markdown, recognize_text
from features.tool_sources.readers.syntax_errors import explain_json_error, explain_yaml_error

_HALVES: Final = re.compile(r"[\ud800-\udfff]")
_TOO_DEEP: Final = f"The document nests deeper than {NESTING_MAX} lists and maps"


def parse_document(content: bytes) -> Any:
    """The value of a JSON or YAML text. Raises `SourceUnreadable` with the reason, and the number of a limit."""
    if len(content) > BYTES_MAX:
        raise SourceUnreadable(f"The document has {len(content):,} bytes; at most {BYTES_MAX:,} are read")
    if words := recognize_bytes(content):
        raise SourceUnreadable(words)
    text, fault = decode_text(content)
    if fault is not None:
        raise SourceUnreadable(f"{fault.message}. {fault.hint}")
    if not text.strip():
        raise SourceUnreadable("The document is empty: choose the file again, or paste its text")
    if words := recognize_text(text):
        raise SourceUnreadable(words)
    value = _read_json(text) if text.lstrip()[:1] in "{[" else _read_yaml(text)
    _require_bounds(value)
    return value


def _read_json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise SourceUnreadable(explain_json_error(error)) from None
    except RecursionError:
        raise SourceUnreadable(_TOO_DEEP) from None
    except ValueError as error:
        raise SourceUnreadable(f"The document is not valid JSON: {str(error)[:200]}") from None


def _refuse_constant(name: str) -> Any:
    raise SourceUnreadable(f"The document is not valid JSON: it has the number {name}")


_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """PyYAML with the words of YAML 1.2, and texts for keys."""

    yaml_implicit_resolvers: dict[str, list[Any]] = {}

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._merging = self._merged = 0

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Each merged map comes through here by itself, before its keys are copied."""
        self._merging += 1
        super().flatten_mapping(node)
        self._merging -= 1
        if self._merging:
            self._merged += len(node.value)
        if self._merged > MERGED_MAX:
            words = f"the merge keys (<<) up to here copy more than {MERGED_MAX:,} values"
            raise yaml.constructor.ConstructorError(None, None, words, node.start_mark)


def _map(loader: Any, node: yaml.MappingNode) -> Iterator[dict[str, Any]]:
    made: dict[str, Any] = {}
    yield made
    loader.flatten_mapping(node)
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            mark = key.start_mark
            raise yaml.constructor.ConstructorError(None, None, "a key is not a word", mark)
        made[key.value] = loader.construct_object(value)


_WORDS: Final = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:0|[1-9][0-9]*)?(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?<=[0-9])", "-+.0123456789"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
)
for _name, _pattern, _first in _WORDS:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(f"(?:{_pattern})\\Z"), list(_first))
_Loader.add_constructor("tag:yaml.org,2002:map", _map)


def _read_yaml(text: str) -> Any:
    try:
        return yaml.load(text, _Loader)  # noqa: S506 (a safe loader)
    except yaml.MarkedYAMLError as error:
        raise SourceUnreadable(recognize_markdown(text) or explain_yaml_error(error)) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise SourceUnreadable(f"Line {line}: the character U+{error.character:04X} is not allowed in a text") from None
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError, TypeError) as error:
        raise SourceUnreadable(f"The document is not valid YAML: {str(error)[:200]}") from None


def _require_bounds(value: Any) -> None:
    """Raises `SourceUnreadable` where it nests too deep, or where aliases unfold to too much, or back to themselves."""
    sizes: dict[int, int] = {}
    depths: dict[int, int] = {}
    stack: list[tuple[Any, bool]] = [(value, False)]
    opened: set[int] = set()
    while stack:
        item, is_left = stack.pop()
        if not isinstance(item, dict | list):
            _require_plain(item)
            continue
        below = item.values() if isinstance(item, dict) else item
        if is_left:
            opened.discard(id(item))
            held = [one for one in below if isinstance(one, dict | list)]
            sizes[id(item)] = 1 + len(item) + sum(sizes[id(one)] for one in held)
            depths[id(item)] = 1 + max((depths[id(one)] for one in held), default=0)
            _require_size(sizes[id(item)], depths[id(item)])
        elif id(item) in opened:
            raise SourceUnreadable("An alias of the document leads back to itself")
        elif id(item) not in sizes:
            opened.add(id(item))
            for key in item if isinstance(item, dict) else ():
                _require_plain(key)
            stack.append((item, True))
            stack.extend((one, False) for one in below)


def _require_size(size: int, depth: int) -> None:
    if depth > NESTING_MAX:
        raise SourceUnreadable(_TOO_DEEP)
    if size > VALUES_MAX:
        raise SourceUnreadable(f"The aliases of the document unfold to more than {VALUES_MAX:,} values")


def _require_plain(value: Any) -> None:
    """No database and no encoding takes NUL or half a character, and JSON has no number that is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        raise SourceUnreadable("The document has a number that is not finite")
    if isinstance(value, str) and ("\0" in value or (not value.isascii() and _HALVES.search(value))):
        raise SourceUnreadable(f"The document has NUL or half a character in {value[:40]!r}")
