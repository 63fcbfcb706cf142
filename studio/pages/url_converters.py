"""The parts of the Studio's addresses."""

from __future__ import annotations

from django.urls import register_converter


class CapabilityIdConverter:
    """A capability_id as docs/contract.md 1.1 defines it; anything else is a 404."""

    regex = r"[a-z0-9]+(?:_[a-z0-9]+)*"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(CapabilityIdConverter, "capability_id")
