"""Refusals of files and requests, and the base of those of the registry (`registry/common/errors.py`)."""

from __future__ import annotations

from typing import Any, ClassVar


class RegistryError(Exception):
    """The base of all refusals. `extra` goes into the error envelope beside code and message."""

    code: ClassVar[str] = "REGISTRY_ERROR"

    def __init__(self, message: str, **extra: Any) -> None:
        super().__init__(message)
        self.message = message
        self.extra: dict[str, Any] = extra


class InvalidRequest(RegistryError):
    """An argument is missing or invalid."""

    code = "INVALID_REQUEST"


class SourceUnreadable(RegistryError):
    """A folder or an archive that cannot be taken as bundles."""

    code = "SOURCE_UNREADABLE"


class RegistryUnavailable(RegistryError):
    """What is asked cannot be had at this moment: the database is away, or every process that checks is at work."""

    code = "REGISTRY_UNAVAILABLE"
