"""What other rooms read: joined, in order, with a number of queries that does not grow."""

from __future__ import annotations

from typing import Any

import pytest

from registry.catalog.drafts import save_draft
from registry.common.errors import CapabilityNotFound, DraftNotFound, RevisionNotFound, StatusConflict
from registry.core import queries
from registry.core.published_index import get_validation_context
from registry.models import Capability, Incident
from registry.publishing import publication
from tests.factories import OLGA, bundle, publish, tool

pytestmark = pytest.mark.django_db


def _capability(capability_id: str = "alpha") -> Capability:
    return Capability.objects.get(capability_id=capability_id)


def test_rows_tell_status_revision_draft_and_incidents() -> None:
    publish("beta", name="Weights & More")
    save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    revision = _capability("beta").published_revision
    assert revision is not None
    Incident.objects.create(capability=_capability("beta"), revision=revision, cause="c", message="m", details="d")
    first, second = queries.list_capabilities()
    assert (first.capability_id, first.name, first.status, first.revision) == ("alpha", "alpha", "draft", None)
    assert (first.has_draft, first.open_incidents, first.digest) == (True, 0, None)
    assert (second.name, second.status, second.revision, second.has_draft) == ("Weights & More", "published", 1, False)
    assert second.open_incidents == 1


def test_rows_are_one_query_however_many(django_assert_num_queries: Any) -> None:
    for number in range(5):
        publish(f"capability_{number}")
        with django_assert_num_queries(1):
            assert len(queries.list_capabilities()) == number + 1


def test_names_that_are_published_and_no_others() -> None:
    publish(tools=[tool("alpha_list")])
    publish("beta", [tool("beta_list")])
    publication.retire(capability_id="beta", by=OLGA)
    save_draft(capability_id="gamma", files=bundle("gamma"), based_on=None, by=OLGA)
    published = get_validation_context()
    assert (published.tool_owners, set(published.capability_ids)) == ({"alpha_list": "alpha"}, {"alpha"})
    assert queries.published_ids() == ["alpha"]
    assert queries.any_published()


def test_a_stored_bundle_reads_back() -> None:
    outcome = publish(tools=[tool("alpha_list")], utterances={"should_match": ["alpha now"]})
    revision = _capability().published_revision
    assert revision is not None
    assert queries.load_bundle(revision).digest == outcome.digest
    answer = queries.build_load_response(
        queries.load_bundle(revision), revision=1, digest=revision.digest, status="published", replaced_by=None
    )
    assert "utterances" not in answer["capability"]


def test_a_revision_is_found_by_its_number() -> None:
    first, _ = publish(), publish(body="Two.")
    assert queries.find_revision(_capability(), number=1).digest == first.digest
    with pytest.raises(RevisionNotFound, match="'alpha' has no revision 3"):
        queries.find_revision(_capability(), number=3)


def test_an_unknown_id_is_told_with_the_nearest() -> None:
    for name in ("sleep_tracking", "weights"):
        publish(name)
    with pytest.raises(CapabilityNotFound) as caught:
        queries.get_capability("sleep_traking")
    assert caught.value.message == "No capability found for ID 'sleep_traking'"
    assert caught.value.extra["available_capabilities"] == ["sleep_tracking", "weights"]
    assert caught.value.extra["available_total"] == 2
    assert [each["capability_id"] for each in caught.value.extra["suggestions"]] == ["sleep_tracking"]


def test_files_of_a_capability_or_of_its_draft() -> None:
    save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    with pytest.raises(StatusConflict):
        queries.read_files(_capability())
    assert queries.read_files(_capability(), draft=True) == bundle()
    publish(body="Two.")
    assert queries.read_files(_capability()) == bundle(body="Two.")
    with pytest.raises(DraftNotFound):
        queries.read_files(_capability(), draft=True)
