"""Where a session has its capabilities from: what a source can do at least."""

from __future__ import annotations

from typing import Protocol

from capability_kit.bundles.bundle import Bundle, Listing


class Source(Protocol):
    """Where capabilities come from: a Registry, or a folder (LocalSkills)."""

    def list(self) -> Listing:
        """What there is, in the order of the registry; raises RegistryError where it cannot be read."""

    def load(self, capability_id: str, *, digest: str | None = None) -> Bundle:
        """One capability, as of `digest` where it is given; raises CapabilityNotFound or SkillMalformed."""

    def reload(self, capability_id: str) -> Bundle:
        """As `load`, past every cache."""


class AsyncSource(Protocol):
    """As `Source`, for an `AsyncSession`: an AsyncRegistry."""

    async def list(self) -> Listing:
        """As `Source.list`."""

    async def load(self, capability_id: str, *, digest: str | None = None) -> Bundle:
        """As `Source.load`."""

    async def reload(self, capability_id: str) -> Bundle:
        """As `Source.reload`."""
