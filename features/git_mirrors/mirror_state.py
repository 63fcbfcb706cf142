"""A mirror in JSON, as the command and the operator API print it (docs/contract.md 3.4)."""

from __future__ import annotations

from typing import Any

from capability_rules.errors import RegistryError
from features.git_mirrors.mirror_content import read_members
from features.git_mirrors.models import GitMirror
from registry.cli.command import format_moment


def describe_mirror(row: GitMirror) -> dict[str, Any]:
    """`version` and `capabilities` are what is there, `version_here` is what has to be; null where nothing can be said.

    What it gives is read again for it.
    """
    return {
        "id": row.pk,
        "url": row.url,
        "branch": row.branch,
        "layout": row.form,
        "set_id": row.set_id or None,
        "started_at": format_moment(row.started_at),
        "commit": row.head or None,
        "version": row.pushed["version"] or None,
        "version_here": version_here(row),
        "capabilities": row.pushed["revisions"],
        "pushed_at": format_moment(row.pushed_at),
        "checked_at": format_moment(row.checked_at),
        "error": row.last_error or None,
    }


def version_here(row: GitMirror) -> str | None:
    """What the next push is called; None where its set is deleted, or the registry has nothing to give."""
    try:
        return read_members(row).found.version
    except RegistryError:
        return None
