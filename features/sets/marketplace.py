"""The list of plugins that Claude Code adds by its address (code.claude.com/docs/en/plugins/marketplace-reference)."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from features.sets.plugin_forms import PluginSource
from features.sets.plugins import PluginAddress, load_plugin
from features.sets.set_reader import ResolvedSet
from registry.common.errors import StatusConflict
from registry.snapshot import Snapshot

_NOT_A_WORD: Final = re.compile(r"[^a-z0-9]+")


def marketplace_name(base_url: str, only: str = "") -> str:
    """A client registers one marketplace of a name: that of the host, and of the set that a share link shows."""
    host = _NOT_A_WORD.sub("-", (urlsplit(base_url).hostname or "").lower()).strip("-")
    return "-".join(each for each in ("capability-studio", host, only.replace("_", "-")) if each)[:64].rstrip("-")


def build_marketplace(
    snapshot: Snapshot, found: list[ResolvedSet], address: PluginAddress, *, only: str = ""
) -> dict[str, Any]:
    """The document; a set whose plugin is too large is left out."""
    host = urlsplit(address.base_url).hostname or "capability-studio"
    entries = [entry for each in found if (entry := _entry(snapshot, each, address)) is not None]
    return {
        "name": marketplace_name(address.base_url, only),
        "owner": {"name": host},
        "metadata": {"description": f"Sets of capabilities of {host}"},
        "plugins": entries,
    }


def _entry(snapshot: Snapshot, found: ResolvedSet, address: PluginAddress) -> dict[str, Any] | None:
    try:
        plugin = load_plugin(snapshot, found, "claude", address)
    except StatusConflict:
        return None
    source = PluginSource(found.document, found.version, "", address.base_url, address.needs_key, ())
    return {
        "name": source.name,
        "description": found.document.description,
        "version": found.version,
        "source": {"source": "archive", "url": plugin.url, "sha256": plugin.sha256},
    }
