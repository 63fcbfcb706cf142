"""What is kept of the published capabilities is what the database holds, whatever happened since it was read."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from capability_rules.bundles.profile import profile_from_text, trigger_form
from registry.core import published_index
from registry.core.published_index import INDEX, get_validation_context
from registry.models import Capability, RegistryState, Revision, ToolName
from registry.publishing import publication
from tests.factories import OLGA, damage, publish, tool

pytestmark = pytest.mark.django_db


def _assert_equal_to_database() -> None:
    """Every trigger that any revision ever had is compared."""
    listed = Capability.objects.filter(status__in=("published", "deprecated"))
    owners: dict[str, set[str]] = {}
    for capability_id, text in listed.values_list("capability_id", "published_revision__capability_json"):
        for trigger in profile_from_text(text or "").triggers:
            owners.setdefault(trigger_form(trigger), set()).add(capability_id)
    context = get_validation_context()
    assert set(context.capability_ids) == set(listed.values_list("capability_id", flat=True))
    assert dict(context.tool_owners) == dict(ToolName.objects.values_list("name", "capability__capability_id"))
    for text in Revision.objects.values_list("capability_json", flat=True):
        for trigger in profile_from_text(text or "").triggers:
            assert INDEX.owners_of_trigger(trigger) == owners.get(trigger_form(trigger), set())


def _publish_and_roll_back(capability_id: str) -> None:
    with transaction.atomic():
        publish(capability_id, tools=[tool(f"{capability_id}_list")])
        assert capability_id in get_validation_context().capability_ids
        transaction.set_rollback(True)


def test_it_follows_each_kind_of_release() -> None:
    _assert_equal_to_database()
    publish("alpha", tools=[tool("alpha_list"), tool("alpha_add")], intent_triggers=["calories", "food"])
    _assert_equal_to_database()
    publish("beta", tools=[tool("beta_list")], intent_triggers=["foods"])
    assert INDEX.refreshed().owners_of_trigger("Food") == {"alpha", "beta"}
    publish("alpha", tools=[tool("alpha_find")], intent_triggers=["diary"])
    _assert_equal_to_database()
    publication.deprecate(capability_id="beta", by=OLGA)
    _assert_equal_to_database()
    publication.retire(capability_id="beta", by=OLGA)
    _assert_equal_to_database()
    publication.restore(capability_id="beta", by=OLGA)
    publication.rollback(capability_id="alpha", to=1, by=OLGA)
    _assert_equal_to_database()


def test_a_release_that_was_rolled_back_is_forgotten() -> None:
    publish("alpha")
    INDEX.refreshed()
    _publish_and_roll_back("beta")
    _assert_equal_to_database()


def test_another_release_under_the_number_of_one_that_was_rolled_back() -> None:
    publish("alpha")
    _publish_and_roll_back("beta")
    publish("gamma", tools=[tool("gamma_list")])
    _assert_equal_to_database()


def test_many_releases_at_once_are_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    publish("alpha")
    INDEX.refreshed()
    monkeypatch.setattr(published_index, "_CHANGES_MAX", 3)
    for number in range(5):
        publish(f"other{number}")
    _assert_equal_to_database()


def test_a_restored_registry_is_read_anew() -> None:
    publish("alpha")
    INDEX.refreshed()
    # As a restore leaves it: other rows under the same numbers.
    ToolName.objects.create(name="restored_list", capability=Capability.objects.get())
    assert "restored_list" not in get_validation_context().tool_owners
    RegistryState.objects.update(epoch="another")
    _assert_equal_to_database()


def test_a_damaged_row_has_an_id_and_no_triggers() -> None:
    publish("alpha", intent_triggers=["food"])
    revision = Capability.objects.get().published_revision
    assert revision is not None
    damage(revision, capability_json="{")
    assert set(get_validation_context().capability_ids) == {"alpha"}
    assert not INDEX.refreshed().owners_of_trigger("food")


def test_queries_do_not_grow_with_the_registry(django_assert_max_num_queries: Any) -> None:
    for number in range(3):
        publish(f"number{number}", tools=[tool(f"number{number}_list")])
    INDEX.refreshed()
    with django_assert_max_num_queries(2):
        INDEX.refreshed()
    publish("late")
    with django_assert_max_num_queries(5):
        INDEX.refreshed()
