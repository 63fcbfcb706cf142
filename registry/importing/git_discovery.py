"""What is at a SOURCE that may be the address of a git repository (docs/contract.md 5)."""

from __future__ import annotations

from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.discovery.bundle_discovery import discover_bundles, discover_in_tree
from registry.importing import git_reader
from registry.importing.git_reader import GitLogin


def discover_source(source: str) -> list[SourceBundle]:
    """As `discover_bundles`, for an address of git too."""
    return discover_in_git(source)[0] if git_reader.is_git_url(source) else discover_bundles(source)


def discover_in_git(source: str, login: GitLogin | None = None) -> tuple[list[SourceBundle], str]:
    """As `discover_bundles` for a git SOURCE, and the commit that was read."""
    with git_reader.open_repository(source, login) as repository:
        return discover_in_tree(repository.tree, source, git_reader.folder_name(source)), repository.commit
