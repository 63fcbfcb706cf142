import json
from typing import Any

import pytest

from capability_rules.errors import InvalidRequest
from features.tool_sources import adoption
from features.tool_sources.adoption import ToolChoice
from features.tool_sources.models import ToolBinding
from features.tool_sources.tests.pet_store import CREATE, DELETE, LIST, add_source, create_pets
from registry.catalog import drafts
from registry.common.errors import DraftConflict
from registry.core.queries import get_capability
from registry.models import AuditEvent
from registry.publishing import publication
from tests.factories import OLGA, bundle, publish

pytestmark = pytest.mark.django_db


def tools_of(capability_id: str) -> list[Any]:
    found: list[Any] = json.loads(drafts.get_draft(capability_id).files["tools.json"])
    return found


def test_capability_from_a_source_is_a_draft_that_may_be_published() -> None:
    source = add_source()
    create_pets(source, LIST, CREATE, DELETE)
    assert [tool["name"] for tool in tools_of("pets")] == ["list_pets", "create_pet", "delete_pets_by_id"]
    outcome = publication.publish(files=drafts.get_draft("pets").files, by=OLGA)
    assert outcome.status == "published", outcome.findings
    bindings = adoption.list_bindings(get_capability("pets"))
    assert [(one.tool_name, one.key) for one in bindings] == [
        ("create_pet", CREATE), ("delete_pets_by_id", DELETE), ("list_pets", LIST),
    ]  # fmt: skip
    assert AuditEvent.objects.get(verb="tool_source.use").detail["capability_id"] == "pets"


def test_capability_of_an_id_that_is_there_is_not_created_and_nothing_is_bound() -> None:
    publish("pets")
    with pytest.raises(DraftConflict):
        create_pets(add_source())
    assert not ToolBinding.objects.exists()


def test_tools_are_added_to_a_published_capability_under_other_names() -> None:
    publish("alpha")
    source = add_source()
    adoption.add_tools(capability_id="alpha", source_id=source.pk, chosen=[ToolChoice(LIST, "find_pets")], by=OLGA)
    assert [tool["name"] for tool in tools_of("alpha")] == ["find_pets"]
    assert drafts.validate_draft(drafts.get_draft("alpha")).ok


def test_name_that_another_capability_has_is_not_suggested() -> None:
    source = add_source()
    create_pets(source)
    publication.publish(files=drafts.get_draft("pets").files, by=OLGA)
    items = list(source.items.all())
    assert adoption.suggest_names(items, "shop")[LIST] == "shop_list_pets"
    assert adoption.suggest_names(items, "pets")[LIST] == "list_pets"


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ([], "Choose 1 to 100"),
        ([ToolChoice("GET /gone")], "no operation 'GET /gone'"),
        ([ToolChoice(LIST, "a b")], "not a name of a tool"),
        ([ToolChoice(LIST, "x"), ToolChoice(CREATE, "x")], "Two tools would be named 'x'"),
    ],
)
def test_choice_that_cannot_be_is_refused(chosen: list[ToolChoice], words: str) -> None:
    publish("alpha")
    with pytest.raises(InvalidRequest, match=words):
        adoption.add_tools(capability_id="alpha", source_id=add_source().pk, chosen=chosen, by=OLGA)


@pytest.mark.both_databases
def test_operation_that_cannot_be_a_tool_is_refused_with_the_reason() -> None:
    source = add_source()
    source.items.filter(key=LIST).update(refused="it is too large")
    publish("alpha")
    with pytest.raises(InvalidRequest, match="it is too large"):
        adoption.add_tools(capability_id="alpha", source_id=source.pk, chosen=[ToolChoice(LIST)], by=OLGA)


def test_tool_of_a_name_that_the_draft_has_is_not_added() -> None:
    source = add_source()
    create_pets(source)
    with pytest.raises(InvalidRequest, match="'list_pets' already"):
        adoption.add_tools(capability_id="pets", source_id=source.pk, chosen=[ToolChoice(LIST)], by=OLGA)


def test_form_is_generated_where_it_is_wished() -> None:
    drafts.save_draft(capability_id="alpha", files=bundle("alpha"), based_on=None, by=OLGA)
    source = add_source()
    chosen = [ToolChoice(CREATE, has_form=True)]
    adoption.add_tools(capability_id="alpha", source_id=source.pk, chosen=chosen, by=OLGA)
    draft = drafts.get_draft("alpha")
    assert len(json.loads(draft.files["ui_schemas.json"])) == 1
    assert drafts.validate_draft(draft).ok
