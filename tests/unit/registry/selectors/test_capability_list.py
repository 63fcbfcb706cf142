"""The list as operators filter, search and sort it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from registry.catalog import drafts, incidents
from registry.catalog.facets import Facets, list_facets
from registry.matching import skill_groups
from registry.matching.index import PUBLISHED_INDEX
from registry.models import LoadCount, Revision
from registry.publishing import publication
from registry.selectors import capability_list
from registry.selectors.capability_list import CapabilityFilter, CapabilityList, compatibility_matrix
from tests.factories import OLGA, bundle, damage, publish, to_json
from tests.sweeps import check_each

pytestmark = pytest.mark.django_db


def _ids(**wanted: str) -> list[str]:
    return [one.row.capability_id for one in CapabilityList(CapabilityFilter(**wanted)).rows(offset=0, limit=50)]


@pytest.fixture
def several(db: None) -> None:
    publish("alpha", name="Zebra", skill_groups=["health"], metadata={"owner": "Ann"}, os=["linux", "darwin"],
            dependency_level={"linux": "external", "common": "cloud_api"})  # fmt: skip
    publish("beta", name="Apple", skill_groups=["health", "food"])
    publish("gamma", name="middle")
    drafts.save_draft(capability_id="delta", files=bundle("delta", skill_groups=["food"]), based_on=None, by=OLGA)
    drafts.save_draft(capability_id="broken", files={"skill.md": ""}, based_on=None, by=OLGA)


WANTED: list[tuple[dict[str, str], list[str]]] = [
    ({}, ["alpha", "beta", "broken", "delta", "gamma"]),
    ({"status": "draft"}, ["broken", "delta"]),
    ({"group": "health"}, ["alpha", "beta"]),
    ({"group": "food"}, ["beta", "delta"]),
    ({"group": "-"}, ["broken", "gamma"]),
    ({"group": "nothing"}, []),
    ({"owner": "Ann"}, ["alpha"]),
    ({"profile": "capability"}, ["alpha", "beta", "broken", "delta", "gamma"]),
    ({"profile": "playbook"}, []),
    ({"os": "linux"}, ["alpha"]),
    ({"os": "common"}, ["beta", "broken", "delta", "gamma"]),
    ({"level": "external"}, ["alpha"]),
    ({"os": "darwin", "level": "cloud_api"}, ["alpha"]),
    # External on Linux alone.
    ({"os": "darwin", "level": "external"}, []),
    ({"draft": "yes"}, ["broken", "delta"]),
    ({"findings": "draft"}, ["broken"]),
    ({"findings": "none"}, ["alpha", "beta", "delta", "gamma"]),
    ({"findings": "none", "draft": "yes"}, ["delta"]),
    ({"status": "published", "group": "food"}, ["beta"]),
    ({"sort": "name"}, ["beta", "broken", "delta", "gamma", "alpha"]),
]


@pytest.mark.both_databases
@pytest.mark.usefixtures("several")
def test_it_filters_and_sorts() -> None:
    def check(cell: tuple[dict[str, str], list[str]]) -> None:
        wanted, ids = cell
        assert _ids(**wanted) == ids

    check_each(WANTED, check)


@pytest.mark.usefixtures("several")
def test_an_incident_is_a_finding_until_it_is_mended() -> None:
    revision = Revision.objects.get(capability__capability_id="beta")
    incidents.open_incident(revision=revision, message="m", details="d", findings=())
    assert (_ids(findings="incident"), "beta" in _ids(findings="none")) == (["beta"], False)
    publish("beta", body="Fixed.")
    assert _ids(findings="incident") == []


@pytest.mark.both_databases
@pytest.mark.usefixtures("several")
def test_it_sorts_by_what_changed_last_and_by_loads() -> None:
    today = datetime.now(UTC).date()
    for capability_id, count in (("gamma", 7), ("beta", 9)):
        LoadCount.objects.create(day=today, capability_id=capability_id, revision=1, count=count)
    LoadCount.objects.create(day=today.replace(year=today.year - 1), capability_id="alpha", revision=1, count=99)
    assert _ids(sort="-loads") == ["beta", "gamma", "alpha", "broken", "delta"]
    assert [one.loads for one in CapabilityList(CapabilityFilter(sort="-loads")).rows(offset=0, limit=3)] == [9, 7, 0]
    assert [one.loads for one in CapabilityList(CapabilityFilter(status="published")).rows(offset=0, limit=3)] == [
        0,
        9,
        7,
    ]
    publication.deprecate(capability_id="alpha", by=OLGA)
    assert _ids(sort="-updated")[0] == "alpha"


@pytest.mark.parametrize("has_index", [False, True])
def test_a_text_finds_by_name_first_and_then_by_what_it_is_for(has_index: bool) -> None:
    publish("sleep_log", name="Night rest", description="Writes down how long somebody slept.")
    publish("alarm", name="Alarm", description="Wakes people up after they slept.", intent_triggers=["wake me"])
    publish("slept", name="Zzz", description="Nothing else.")
    drafts.save_draft(capability_id="slept_draft", files=bundle("slept_draft"), based_on=None, by=OLGA)
    if has_index:
        PUBLISHED_INDEX.get()
    assert _ids(text="slept")[:2] == ["slept", "slept_draft"]
    assert set(_ids(text="slept")) == {"slept", "slept_draft", "sleep_log", "alarm"}
    assert _ids(text="NIGHT rest") == ["sleep_log"]
    assert _ids(text="wake") == ["alarm"]
    assert _ids(text="slept", status="draft") == ["slept_draft"]
    assert _ids(text="slept", sort="name") == ["alarm", "sleep_log", "slept_draft", "slept"]
    assert _ids(text="%") == _ids(text="nothinglikeit") == []


def test_what_is_offered_to_filter_by_is_counted() -> None:
    publish("alpha", skill_groups=["health"], metadata={"owner": "Ann"})
    publish("beta", skill_groups=["health"], metadata={"owner": " Bob "})
    skill_groups.set_group(group_id="empty", by=OLGA)
    choices = CapabilityList(CapabilityFilter(status="retired")).choices()
    assert (choices.groups, choices.owners) == ([("empty", 0), ("health", 2)], [("Ann", 1), ("Bob", 1)])


def test_what_was_published_anew_is_known_at_once() -> None:
    publish("alpha", skill_groups=["old"])
    assert _ids(group="old") == ["alpha"]
    publish("alpha", skill_groups=["new"], body="Another.")
    assert (_ids(group="old"), _ids(group="new")) == ([], ["alpha"])
    files = bundle("draft", skill_groups=["old"])
    version = drafts.save_draft(capability_id="draft", files=files, based_on=None, by=OLGA).version
    assert _ids(group="old") == ["draft"]
    files = bundle("draft", skill_groups=["other"])
    drafts.save_draft(capability_id="draft", files=files, based_on=version, by=OLGA)
    assert (_ids(group="old"), _ids(group="other")) == ([], ["draft"])


def test_the_matrix_counts_what_readers_can_load_at_each_of_its_systems() -> None:
    publish("alpha", os=["linux", "darwin"], dependency_level={"linux": "external"})
    publish("beta")
    publish("gamma")
    publication.retire(capability_id="gamma", by=OLGA)
    counted = compatibility_matrix()
    assert {place: count for place, count in counted.items() if count} == {
        ("linux", "external"): 1, ("darwin", "builtin"): 1, ("common", "builtin"): 1,
    }  # fmt: skip
    assert len(counted) == 16


def test_the_number_of_queries_is_the_same_for_any_number() -> None:
    def count(**wanted: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            found = CapabilityList(CapabilityFilter(**wanted))
            found.rows(offset=0, limit=50)
            found.choices()
        return len(queries)

    publish("c00")
    count()
    few = [count(), count(sort="-loads"), count(findings="none", draft="yes"), count(text="c")]
    for number in range(1, 30):
        publish(f"c{number:02}")
    # What is new is read once.
    assert count() == few[0] + 1
    assert [count(), count(sort="-loads"), count(findings="none", draft="yes"), count(text="c")] == few


@pytest.mark.parametrize(
    "text",
    [
        None, "", "null", "[]", "3", '"x"', "{", "[" * 100_000, "{}",
        to_json({"skill_groups": 3, "os": "linux", "metadata": [], "skill_profile": "odd", "dependency_level": 7}),
        to_json({"skill_groups": [{}], "os": [{}, "odd"], "metadata": {"owner": 3}, "dependency_level": {"linux": 3}}),
    ],
)  # fmt: skip
def test_odd_texts_have_the_defaults(text: Any) -> None:
    found = list_facets(text)
    assert (found.profile, found.groups, found.owner) == ("capability", frozenset(), "")


@pytest.mark.both_databases
def test_a_damaged_row_is_still_listed() -> None:
    publish()
    damage(Revision.objects.get(), capability_json="{", name="")
    assert _ids() == ["alpha"]
    assert CapabilityList(CapabilityFilter()).rows(offset=0, limit=1)[0].facets == Facets()


def test_a_page_past_the_end_is_empty() -> None:
    publish()
    found = CapabilityList(CapabilityFilter())
    assert (len(found), found.rows(offset=50, limit=50)) == (1, [])
    assert capability_list.compatibility_matrix()["common", "builtin"] == 1
