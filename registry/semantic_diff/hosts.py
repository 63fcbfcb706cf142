"""Which hosts a bundle names: in its instructions, its tools, its forms and its supporting files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from registry.bundles.bundle import SkillBundle
from registry.semantic_diff.change import Change, as_string

_ADDRESS: Final = re.compile(
    r"\b(?:https?|wss?)://(?:[^\s/?#\"'<>`@]*@)?(\[[0-9a-f:.]+\]|[^\s/?#\"'<>`\\()\[\]{}@:,;|*]+)", re.IGNORECASE
)
# Names of dialects and catalogs: no request is sent to them.
_NAMES: Final = frozenset({"$schema", "$id", "$ref", "$dynamicRef", "catalogId"})


def compare_hosts(old: SkillBundle, new: SkillBundle) -> Iterator[Change]:
    """Hosts that came or went; a host counts once, whatever its port and wherever it occurs."""
    before, after = _hosts(old), _hosts(new)
    for host in sorted(after.keys() - before.keys()):
        yield Change("widens", "", f"It talks to one new host: `{host}`", None, after[host], host)
    for host in sorted(before.keys() - after.keys()):
        yield Change("changes", "", f"It no longer names the host `{host}`", None, before[host])


def _hosts(bundle: SkillBundle) -> dict[str, str]:
    """`{host: the first file that names it}`."""
    found: dict[str, str] = {}
    values = (("skill.md", bundle.skill_doc), ("tools.json", bundle.tools), ("ui_schemas.json", bundle.ui_schemas))
    for file, value in (*values, *sorted(bundle.supporting_files.items())):
        for words in _texts(value):
            for match in _ADDRESS.finditer(words):
                host = match[1].rstrip(".").lower()
                if host:
                    found.setdefault(host, file)
    return found


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += [inner for key, inner in one.items() if key not in _NAMES]
        elif isinstance(one, list):
            waiting += one
        elif "://" in as_string(one):
            yield one
