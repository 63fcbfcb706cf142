"""Messages that authors say their capabilities are for: what somebody can try without thinking."""

from __future__ import annotations

import json
from typing import Final

from registry.models import Capability

_LENGTH_MAX: Final = 200
_SUGGESTIONS_MAX: Final = 3
# Capabilities that are looked at: some have no examples.
_LOOKED_AT: Final = 30


def read_first_example(capability_json: str | None) -> str:
    """Return the first message that capability.json names as matching; "" without one."""
    try:
        found = json.loads(capability_json or "")["utterances"]["should_match"][0]
    except (ValueError, RecursionError, LookupError, TypeError):
        return ""
    return found[:_LENGTH_MAX] if isinstance(found, str) else ""


def list_example_messages() -> list[str]:
    """Return one message each of some published capabilities."""
    published = Capability.objects.filter(published_revision__isnull=False).order_by("capability_id")
    texts = published.values_list("published_revision__capability_json", flat=True)[:_LOOKED_AT]
    return [found for text in texts if (found := read_first_example(text))][:_SUGGESTIONS_MAX]
