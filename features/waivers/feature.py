"""A finding that does not count for a time: what the product has of it beside the marks on findings."""

from typing import Final

from registry.feature import Feature

FEATURE: Final = Feature(name="waivers", pages="features.waivers.urls")
