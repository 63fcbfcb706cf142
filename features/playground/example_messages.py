"""Messages that authors say their capabilities are for: what somebody can try without thinking."""

from __future__ import annotations

from typing import Final

from registry.models import Capability
from registry.selectors.example_messages import read_first_example

SUGGESTIONS_MAX: Final = 3
# Capabilities that are looked at: some have no examples.
_LOOKED_AT: Final = 30


def list_example_messages() -> list[str]:
    """Return one message each of some published capabilities."""
    published = Capability.objects.filter(published_revision__isnull=False).order_by("capability_id")
    texts = published.values_list("published_revision__capability_json", flat=True)[:_LOOKED_AT]
    found = [read_first_example(text) for text in texts]
    return [one for one in found if one][:SUGGESTIONS_MAX]
