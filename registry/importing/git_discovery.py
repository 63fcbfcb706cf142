"""What is at a SOURCE that may be the address of a git repository (docs/contract.md 5)."""

from __future__ import annotations

from django.utils.module_loading import import_string

from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.discovery.bundle_discovery import discover_bundles, discover_in_tree
from registry.common.actors import Actor
from registry.common.errors import SourceMisconfigured
from registry.feature import installed_features
from registry.importing import git_reader
from registry.importing.git_reader import GitLogin


def discover_source(source: str, login: GitLogin | None = None) -> list[SourceBundle]:
    """As `discover_bundles`, for an address of git too, to whose host the login is sent."""
    return discover_in_git(source, login)[0] if git_reader.is_git_url(source) else discover_bundles(source)


def discover_in_git(source: str, login: GitLogin | None = None) -> tuple[list[SourceBundle], str]:
    """As `discover_bundles` for a git SOURCE, and the commit that was read."""
    with git_reader.open_repository(source, login) as repository:
        return discover_in_tree(repository.tree, source, git_reader.folder_name(source)), repository.commit


def open_login(source: str, credential: str, by: Actor) -> tuple[str, GitLogin | None]:
    """An address of git without the token in it, and what is sent to its host: the token, or the credential of this
    name; None for neither.

    Raises `NotFound`, `Forbidden`, and `SourceUnreadable` where it is ended, not for this host, or not taken there.
    """
    for feature in installed_features():
        if feature.import_login:
            found: tuple[str, GitLogin | None] = import_string(feature.import_login)(source, credential, by)
            return found
    if credential:
        raise SourceMisconfigured("This registry keeps no credentials: FEATURES is without them")
    return source, None
