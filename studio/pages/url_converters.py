"""The parts of the Studio's addresses."""

from __future__ import annotations

from django.urls import register_converter
from django.urls.converters import StringConverter


class CapabilityIdConverter(StringConverter):
    """A capability_id as docs/contract.md 1.1 defines it; anything else is a 404."""

    regex = r"[a-z0-9]+(?:_[a-z0-9]+)*"


register_converter(CapabilityIdConverter, "capability_id")
