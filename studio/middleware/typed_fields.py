"""What a person typed into a form that cannot be accepted now, so that a page can show it."""

from __future__ import annotations

import re
from typing import Final

from django.http import QueryDict

from studio.middleware.time_zones import ZONE_SUFFIX, typed_zone, zone_name

# What a form carries besides what a person has typed. Everything else must not be lost.
TECHNICAL_FIELDS: Final = frozenset(
    (
        "csrfmiddlewaretoken",
        "based_on",
        "draft_version",
        "step",
        "next",
        "back",
        "round",
        "query",
        "paths",
        "entry",
        "chosen",
    )
)
_NEVER_SHOWN: Final = re.compile(r"password|secret|token")


def typed_fields(sent: QueryDict) -> list[tuple[str, str]]:
    """`(field, text)` of each field that a person filled in, in the order of the page, without secrets. A time has the
    zone in which it was typed."""
    return [
        (_field_words(name, sent), "\n".join(texts))
        for name, texts in sent.lists()
        if any(texts)
        and name not in TECHNICAL_FIELDS
        and not _NEVER_SHOWN.search(name)
        and not name.endswith(ZONE_SUFFIX)
    ]


def _field_words(name: str, sent: QueryDict) -> str:
    zone = typed_zone(sent, name)
    words = name.replace("_", " ").replace("-", " ")
    return f"{words} ({zone_name(zone)})" if zone else words
