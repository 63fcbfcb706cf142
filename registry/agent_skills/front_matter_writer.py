"""The front matter of a SKILL.md that we write: plain YAML that every reader takes the same way."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_PLAIN_KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_WORDS: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
# What JSON leaves as it is and YAML does not take inside of quotes, or takes for a line break.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def write_front_matter(name: str, values: Mapping[str, Any]) -> str:
    """The lines from `---` to `---`; `values` are texts, and maps of texts."""
    lines = ["---", f"name: {name}"]
    for key, value in values.items():
        if isinstance(value, str):
            lines.append(f"{_key(key)}: {_quoted(value)}")
        else:
            lines += [f"{_key(key)}:", *(f"  {_key(inner)}: {_quoted(text)}" for inner, text in value.items())]
    return "\n".join([*lines, "---", ""])


def _key(text: str) -> str:
    return text if _PLAIN_KEY.fullmatch(text) and text.lower() not in _WORDS else _quoted(text)


def _quoted(text: str) -> str:
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))
