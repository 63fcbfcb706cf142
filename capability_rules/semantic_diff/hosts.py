"""Which hosts a bundle names: in its instructions, its tools, its forms and its supporting files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from capability_kit.json_text import as_string
from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.json_reader import iterate_places
from capability_rules.bundles.problem import Path
from capability_rules.semantic_diff.change import Change

_ADDRESS: Final = re.compile(
    r"\b(?:https?|wss?)://(?:[^\s/?#\"'<>`@]*@)?(\[[0-9a-f:.]+\]|[^\s/?#\"'<>`\\()\[\]{}@:,;|*]+)", re.IGNORECASE
)
# Names of dialects and catalogs: no request is sent to them.
_NAMES: Final = frozenset({"$schema", "$id", "$ref", "$dynamicRef", "catalogId"})


# Names of samples, which nobody can register (RFC 2606).
_SAMPLES: Final = frozenset({f"{sub}example.{top}" for sub in ("", "www.") for top in ("com", "net", "org")})


@dataclass(frozen=True, slots=True)
class HostMention:
    """A host where it is named: `path` leads to the string in the parsed value of `file`, which is `()` where the
    whole file is one text; `offset` is where the address begins in that string, in code points."""

    host: str
    file: str
    path: Path
    offset: int


def compare_hosts(old: SkillBundle, new: SkillBundle) -> Iterator[Change]:
    """Hosts that came or went; a host counts once, whatever its port and wherever it occurs."""
    before, after = _hosts(old), _hosts(new)
    for host in sorted(after.keys() - before.keys()):
        yield Change("widens", "", f"It talks to one new host: `{host}`", None, after[host], host)
    for host in sorted(before.keys() - after.keys()):
        yield Change("changes", "", f"It no longer names the host `{host}`", None, before[host])


def find_host_mentions(bundle: SkillBundle) -> Iterator[HostMention]:
    """Every address with a scheme of the web, file by file in the order of the text; hosts in lower case, without those
    that exist in samples alone."""
    values = (("skill.md", bundle.skill_doc), ("tools.json", bundle.tools), ("ui_schemas.json", bundle.ui_schemas))
    for file, value in (*values, *sorted(bundle.supporting_files.items())):
        for path, words in iterate_places(value):
            is_named = "://" in as_string(words) and _NAMES.isdisjoint(path)
            for match in _ADDRESS.finditer(words) if is_named else ():
                host = match[1].rstrip(".").lower()
                if host and host not in _SAMPLES:
                    yield HostMention(host, file, path, match.start())


def _hosts(bundle: SkillBundle) -> dict[str, str]:
    """`{host: the first file that names it}`."""
    found: dict[str, str] = {}
    for mention in find_host_mentions(bundle):
        found.setdefault(mention.host, mention.file)
    return found
