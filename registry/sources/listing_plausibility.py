"""Whether the list of another registry can have come from its last one by releases: what one digest cannot show.

Each release, retirement and restoring raises the registry revision by one. A list in which more capabilities are other
than that allows was not made by releases: the registry was restored from a backup, its database was written to, or the
key sees less than before. One that was forged with a revision to match is not noticed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from agent_client.bundles.digest import text_digest
from registry.common.errors import SourceSuspicious
from registry.models import GitSource, GitSourceItem
from registry.sources.source_state import KnownState

# So few may be other for many reasons; from there on it takes more than half.
SUSPICIOUS_SHARE_MIN: Final = 5
_REVISION: Final = re.compile(r"revision ([0-9]{1,15})")


def require_plausible_listing(source: GitSource, known: KnownState, told: Mapping[str, str], revision: int) -> None:
    """`told` is the list, `{capability_id: digest}`. Raises `SourceSuspicious`, unless this list was accepted."""
    before = _REVISION.fullmatch(source.commit)
    followed = [item for item in known.values() if item.there != GitSourceItem.There.GONE]
    other = [item.capability_id for item in followed if _is_other(item, told)]
    if before is None or len(other) < SUSPICIOUS_SHARE_MIN or 2 * len(other) <= len(followed):
        return
    fingerprint = text_digest(json.dumps([revision, sorted(told.items())]))
    if len(other) <= revision - int(before[1]) or source.accepted_list == fingerprint:
        return
    named = ", ".join(sorted(other)[:3])
    message = (
        f"{source.url}: {len(other)} of {len(followed)} capabilities are gone or have another digest, and its registry "
        f"revision went from {before[1]} to {revision}: releases cannot have done that. Nothing was imported. Ask "
        f"there, then take the list as it is (git_source accept {source.pk}). Among them: {named}"
    )
    raise SourceSuspicious(message, fingerprint=fingerprint)


def _is_other(item: GitSourceItem, told: Mapping[str, str]) -> bool:
    digest = told.get(item.capability_id)
    return digest is None or (bool(item.told_digest) and item.told_digest != digest)
