"""The hash over a folder: the client's own, over names that its collation orders otherwise than bytes are."""

from __future__ import annotations

import pytest

from features.clawhub.skill_fingerprints import record_upload, revision_of_upload, skill_fingerprint
from registry.core.transactions import write_transaction
from registry.models import Revision
from tests.factories import publish

# Put in order by String.prototype.localeCompare, and hashed by `buildSkillFingerprint`, of clawhub 0.23.3.
ORDERED = [
    "_x", "-x", ".x", "a b", "a_b", "a-b", "a.b", "a'b", "a(b)", "a@b", "a/b", "a/B", "a/b c", "a#b", "a+b", "a~b",
    "a$b", "a1", "ab", "Ab", "aB/c", "Docs/a.txt", "docs/z.txt", "README.md", "references/tools.json",
    "references/ui_schemas.json", "skill-card2.md", "SKILL.md",
]  # fmt: skip
HASHED = "de8b7e2348755461c984acc2f6edfb4b2857176f8ce6d8ca32bb69d144c7c970"


def test_it_is_the_clients_own_whatever_order_is_given() -> None:
    pairs = [(name, "0" * 64) for name in ORDERED]
    assert skill_fingerprint(pairs) == skill_fingerprint(sorted(pairs)) == HASHED
    assert skill_fingerprint([(name, "1" * 64) for name in ORDERED]) != HASHED


@pytest.mark.django_db
def test_a_copy_is_known_by_the_newest_revision_that_it_became() -> None:
    publish("alpha")
    first = Revision.objects.get()
    publish("alpha", body="Two.")
    with write_transaction():
        record_upload(first, "a" * 64)
        record_upload(first, "a" * 64)
    assert revision_of_upload("alpha", "a" * 64) == 1
    with write_transaction():
        record_upload(Revision.objects.get(number=2), "a" * 64)
    assert revision_of_upload("alpha", "a" * 64) == 2
    assert revision_of_upload("alpha", "b" * 64) is None
    assert revision_of_upload("beta", "a" * 64) is None
