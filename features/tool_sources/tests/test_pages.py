"""Tools from an API in the Studio, as a browser without scripts sends it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from features.tool_sources import watch
from features.tool_sources.models import ToolBinding, ToolSource
from features.tool_sources.tests.pet_store import CREATE, DELETE, LIST, NAME, add_source, content, create_pets
from registry.catalog import drafts
from registry.publishing import publication
from tests.factories import OLGA, publish
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import confirm, form_with

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("author")


def _text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def choose(source: ToolSource) -> str:
    return reverse("studio:tool_source_choose", args=[source.pk])


def test_new_capability_is_made_from_a_file_without_typing_json(client: Client) -> None:
    page = client.get(reverse("studio:tool_source_new"))
    assert 'aria-current="page">From an API' in _text(page)
    upload = SimpleUploadedFile("pets.json", content())
    to_table = client.post(reverse("studio:tool_source_new"), {"document": upload})
    source = ToolSource.objects.get()
    assert to_table["Location"] == choose(source)
    table = form_with(client.get(choose(source)), "Review tools")
    review = table.submit(client, step="review", chosen=[LIST, CREATE])
    form = form_with(review, "Create draft")
    assert (form.values["name"], form.values["capability_id"]) == ("Pets", "pets")
    done = form.submit(client, step="create", chosen=[LIST, CREATE], **{"name-0": "pet_list", "form-1": "on"})
    assert done["Location"] == reverse("studio:draft_edit", args=["pets"])
    files = drafts.get_draft("pets").files
    assert [tool["name"] for tool in json.loads(files["tools.json"])] == ["pet_list", "create_pet"]
    assert len(json.loads(files["ui_schemas.json"])) == 1
    assert publication.publish(files=files, by=OLGA).status == "published"


def test_tools_are_added_to_a_capability(client: Client) -> None:
    publish("alpha")
    adopt = reverse("studio:tool_source_adopt", args=["alpha", add_source().pk])
    review = form_with(client.get(adopt), "Review tools").submit(client, step="review", chosen=[DELETE])
    done = form_with(review, "Add to draft").submit(client, step="create")
    assert done["Location"] == reverse("studio:draft_edit", args=["alpha"])
    assert "delete_pets_by_id" in drafts.get_draft("alpha").files["tools.json"]


def test_editor_leads_to_more_tools(client: Client) -> None:
    publish("alpha")
    page = client.get(reverse("studio:draft_edit", args=["alpha"])).content.decode()
    assert f'href="{reverse("studio:tool_source_add", args=["alpha"])}"' in page


def test_pasted_definitions_are_read(client: Client) -> None:
    pasted = '[{"name": "find", "description": "Finds", "input_schema": {"type": "object", "properties": {}}}]'
    client.post(reverse("studio:tool_source_new"), {"pasted": pasted})
    assert ToolSource.objects.get().form == "Anthropic"


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({}, "Choose a file, type an address, or paste a definition"),
        ({"pasted": "hello"}, "neither an OpenAPI document nor a list of tools"),
        ({"url": "https://127.0.0.1/openapi.json"}, "IMPORT_ALLOWED_NETWORKS"),
        ({"url": "https://127.0.0.1/mcp", "is_mcp": "on"}, "IMPORT_ALLOWED_NETWORKS"),
        ({"url": "https://a.example/mcp", "is_mcp": "on", "header_name": "A"}, "A header has a name and a value"),
    ],
)
def test_source_that_cannot_be_read_says_why(client: Client, sent: dict[str, str], words: str) -> None:
    answer = client.post(reverse("studio:tool_source_new"), sent)
    assert answer.status_code == 400
    assert words in _text(answer)
    assert not ToolSource.objects.exists()


@pytest.mark.both_databases
def test_table_is_searched_and_keeps_what_is_chosen(client: Client) -> None:
    source = add_source()
    table = form_with(client.get(choose(source)), "Review tools")
    found = table.submit(client, step="filter", chosen=[LIST], q="remove")
    assert [row.key for row in found.context["table"].rows] == [DELETE]
    assert form_with(found, "Review tools").values["chosen"] == LIST
    for name, value, keys in (
        ("tag", "removal", [DELETE]), ("method", "POST", [CREATE]), ("access", "read", [LIST]), ("q", "pets", None),
    ):  # fmt: skip
        rows = table.submit(client, step="filter", **{name: value}).context["table"].rows
        assert keys is None or [row.key for row in rows] == keys


def test_table_is_asked_for_as_a_fragment(client: Client) -> None:
    answer = client.post(choose(add_source()), {"step": "filter", "q": "list"}, headers={"HX-Request": "true"})
    assert answer.content.lstrip().startswith(b'<div id="operations">')
    assert "HX-Request" in answer["Vary"]


def test_nothing_chosen_and_unknown_operations_are_refused(client: Client) -> None:
    source = add_source()
    assert client.post(choose(source), {"step": "review"}).status_code == 400
    assert client.post(choose(source), {"step": "review", "chosen": "GET /x"}).status_code == 404


def test_refused_creation_keeps_what_was_typed(client: Client) -> None:
    publish("pets")
    source = add_source()
    sent = {"step": "create", "chosen": LIST, "key-0": LIST, "name-0": "mine", "name": "Pets", "description": "Pets."}
    answer = client.post(choose(source), sent)
    assert answer.status_code == 400
    assert "already exists" in _text(answer)
    assert form_with(answer, "Create draft").values["name-0"] == "mine"
    bad = client.post(choose(source), {**sent, "name": ""})
    assert bad.status_code == 400


def test_forms_are_previewed_and_what_was_typed_stays(client: Client) -> None:
    source = add_source()
    review = form_with(client.post(choose(source), {"step": "review", "chosen": [LIST, CREATE]}), "Create draft")
    shown = review.submit(client, step="review", chosen=[LIST, CREATE], name="Zoo", **{"form-1": "on", "name-1": "add"})
    assert [form.schema_id for form in shown.context["drawn"]] == ["AddForm.v1"]
    again = form_with(shown, "Create draft").values
    assert (again["name"], again["name-1"]) == ("Zoo", "add")
    assert "form-1" in again


def test_form_that_cannot_be_says_why(client: Client) -> None:
    source = add_source(properties={"name": {**NAME, "pattern": "^[^\\x00-\\x1f]+$"}})
    review = form_with(client.post(choose(source), {"step": "review", "chosen": CREATE}), "Create draft")
    shown = review.submit(client, step="review", **{"form-0": "on"})
    assert "No form:" in _text(shown)
    assert not shown.context["drawn"]


def test_text_of_others_is_never_markup(client: Client) -> None:
    nasty = "<script>alert(1)</script>"
    source = add_source(paths={f"/{nasty}": {"get": {"summary": nasty, "tags": [nasty], "operationId": nasty}}})
    for page in (
        client.get(choose(source)),
        client.post(choose(source), {"step": "review", "chosen": f"GET /{nasty}"}),
    ):
        assert page.status_code == 200
        assert b"<script>alert" not in page.content


@pytest.mark.both_databases
def test_changes_are_shown_and_taken_over(client: Client) -> None:
    source = add_source()
    create_pets(source)
    publication.publish(files=drafts.get_draft("pets").files, by=OLGA)
    show = reverse("studio:tool_source_show", args=[source.pk])
    upload = SimpleUploadedFile("pets.json", content(required=["name", "kind"]))
    checked = client.post(reverse("studio:tool_source_check", args=[source.pk]), {"document": upload}, follow=True)
    assert "1 tool differs from its source" in _text(checked)
    assert "Changed" in _text(client.get(show))
    told = "create_pet can no longer be called as it says"
    assert told in _text(client.get(reverse("studio:capability_tools", args=["pets"])))
    assert _text(client.get(reverse("studio:capability_show", args=["pets"]))).count("can no longer be called") == 1
    assert "A tool of Pets can no longer be called as it says" in _text(client.get(reverse("studio:home")))
    incidents = client.get(reverse("studio:incident_list"), {"kind": "tool"})
    assert "The tool `create_pet` can no longer be called as it says" in _text(incidents)
    page = client.get(reverse("studio:tool_take_over", args=["pets", "create_pet"]))
    watch.check_source(source_id=source.pk, by=OLGA, content=content(required=[]))
    again = form_with(page, "Take over").submit(client)
    assert (again.status_code, ToolBinding.objects.get(tool_name="create_pet").state) == (409, "changed")
    done = form_with(again, "Take over").submit(client)
    assert done["Location"] == reverse("studio:draft_edit", args=["pets"])
    assert ToolBinding.objects.get(tool_name="create_pet").state == "same"


def test_check_that_fails_says_why(client: Client) -> None:
    source = add_source()
    create_pets(source)
    answer = client.post(reverse("studio:tool_source_check", args=[source.pk]), follow=True)
    assert "upload a newer one" in _text(answer)


def test_take_over_of_a_tool_without_a_source_leads_back(client: Client) -> None:
    publish("alpha")
    answer = client.get(reverse("studio:tool_take_over", args=["alpha", "nothing"]))
    assert answer["Location"] == reverse("studio:capability_show", args=["alpha"])


def test_sources_are_listed_and_removed(client: Client) -> None:
    source = add_source()
    create_pets(source)
    watch.check_source(source_id=source.pk, by=OLGA, content=content(required=[]))
    assert "1 changed" in _text(client.get(reverse("studio:tool_source_list")))
    remove = reverse("studio:tool_source_remove", args=[source.pk])
    assert "2 tools that came from it stay" in _text(client.get(remove))
    confirm(client, client.get(remove))
    assert not ToolSource.objects.exists()


@pytest.mark.parametrize("form", ["mcp", "openapi"])
def test_tools_are_downloaded(client: Client, form: str) -> None:
    create_pets(add_source())
    address = reverse("studio:tool_export", args=["pets"])
    assert client.get(f"{address}?format={form}").status_code == 404
    publication.publish(files=drafts.get_draft("pets").files, by=OLGA)
    answer = client.get(f"{address}?format={form}")
    assert answer["Content-Disposition"] == f'attachment; filename="pets.{form}.json"'
    assert "list_pets" in answer.content.decode()
