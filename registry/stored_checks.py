"""What is published, or waits as a draft, held against today's rules at once, as a folder of bundles is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry.batches import Validated
from registry.drafts import draft_report
from registry.errors import CapabilityNotFound
from registry.models import Capability, Draft
from registry.queries import LISTED, published_names
from registry.validation import validate


def check_published(capability_ids: Sequence[str] = (), *, below: str = "") -> Iterator[Validated]:
    """Every capability that agents can load, or these, by id; `below` is the folder that its paths begin with.

    Raises `CapabilityNotFound` for an id that agents cannot load.
    """
    found = Capability.objects.filter(status__in=LISTED).select_related("published_revision").order_by("capability_id")
    names = published_names()
    wanted = _wanted(capability_ids, set(found.values_list("capability_id", flat=True)) if capability_ids else set())
    if wanted:
        found = found.filter(capability_id__in=wanted)
    for capability in found.iterator(chunk_size=50):
        if capability.published_revision is not None:
            report = validate(capability.published_revision.files, published=names)
            yield Validated(f"{below}{capability.capability_id}", report)


def check_drafts(capability_ids: Sequence[str] = (), *, below: str = "") -> Iterator[Validated]:
    """As `check_published`, for every draft that somebody works on. Raises `CapabilityNotFound`."""
    found = Draft.objects.filter(discarded_at__isnull=True).select_related("capability")
    known = set(found.values_list("capability__capability_id", flat=True)) if capability_ids else set()
    wanted = _wanted(capability_ids, known)
    if wanted:
        found = found.filter(capability__capability_id__in=wanted)
    for draft in found.order_by("capability__capability_id").iterator(chunk_size=50):
        yield Validated(f"{below}{draft.capability.capability_id}", draft_report(draft))


def _wanted(capability_ids: Sequence[str], known: set[str]) -> list[str]:
    for capability_id in capability_ids:
        if capability_id not in known:
            raise CapabilityNotFound(capability_id)
    return list(capability_ids)
