import json
from typing import Any

import pytest

from capability_rules.errors import InvalidRequest, SourceUnreadable
from features.tool_sources import source_client, source_store, takeover, watch
from features.tool_sources.models import ToolBinding, ToolSource
from features.tool_sources.tests.pet_store import CREATE, DELETE, KIND, NAME, add_source, content, create_pets
from registry.access import operators
from registry.access.stored_secrets import decrypt_secret, is_current
from registry.catalog import drafts
from registry.common.errors import NotFound, StatusConflict
from registry.core.jobs import queue
from registry.models import AuditEvent, Job
from registry.operations.housekeeping import DAILY_JOBS
from tests.factories import OLGA

pytestmark = pytest.mark.django_db


def check(source: ToolSource, **changes: Any) -> list[ToolBinding]:
    return watch.check_source(source_id=source.pk, by=OLGA, content=content(**changes))


def binding(tool_name: str = "create_pet") -> ToolBinding:
    return ToolBinding.objects.get(tool_name=tool_name)


def words_of(one: ToolBinding) -> str:
    return " ".join(change["words"] for change in one.changes)


def test_source_that_stayed_the_same_changes_nothing() -> None:
    source = add_source()
    create_pets(source)
    assert check(source) == []
    assert (binding().state, binding().noticed_at) == ("same", None)


def test_changed_argument_is_said_in_the_words_of_the_semantic_diff() -> None:
    source = add_source()
    create_pets(source)
    changed = check(source, required=["name", "kind"], properties={"name": NAME, "kind": {**KIND, "enum": ["cat"]}})
    assert [one.tool_name for one in changed] == ["create_pet"]
    found = binding()
    assert found.state == "changed"
    assert found.changes[0]["effect"] == "breaks"
    assert "kind" in words_of(found)
    assert "dog" in words_of(found)
    assert AuditEvent.objects.filter(verb="tool_source.check").latest("pk").detail["changed"] == ["pets.create_pet"]


def test_operation_that_is_gone_breaks_the_tool() -> None:
    source = add_source()
    create_pets(source, CREATE, DELETE)
    check(source, paths={"/pets/{id}": {}})
    found = binding("delete_pets_by_id")
    assert (found.state, found.changes[0]["effect"]) == ("gone", "breaks")
    assert binding().state == "same"


def test_change_that_is_taken_back_is_forgotten() -> None:
    source = add_source()
    create_pets(source)
    check(source, required=[])
    assert binding().noticed_at is not None
    check(source)
    assert (binding().state, binding().changes, binding().noticed_at) == ("same", [], None)


def test_source_that_cannot_be_read_says_why_and_keeps_what_it_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_client, "fetch_document", lambda _url: content())
    source = source_store.add_address(url="https://api.example/openapi.json", by=OLGA)
    create_pets(source)

    def fail(_url: str) -> bytes:
        raise SourceUnreadable("It answered with status 500")

    monkeypatch.setattr(source_client, "fetch_document", fail)
    with pytest.raises(SourceUnreadable):
        watch.check_source(source_id=source.pk, by=OLGA)
    source.refresh_from_db()
    assert source.last_error == "It answered with status 500"
    assert source.items.count() == 3
    monkeypatch.setattr(source_client, "fetch_document", lambda _url: content())
    watch.check_source(source_id=source.pk, by=OLGA)
    source.refresh_from_db()
    assert source.last_error == ""


def test_daily_job_checks_each_source_with_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    assert watch.KIND in DAILY_JOBS
    monkeypatch.setattr(source_client, "fetch_document", lambda _url: content())
    monkeypatch.setattr(queue, "renew_lease", lambda _lease: None)
    operators.create_operator(username="vera", password="Correct-horse-battery-9", role="publisher", by=OLGA)
    operators.set_email(username="vera", email="vera@example.com", by=OLGA)
    create_pets(source_store.add_address(url="https://api.example/openapi.json", by=OLGA))
    monkeypatch.setattr(source_client, "fetch_document", lambda _url: content(required=[]))
    then = watch.check_all(queue.Lease(1, watch.KIND, {}, 1, 1))
    assert then is not None
    then()
    assert binding().state == "changed"
    (mail,) = [job.payload for job in Job.objects.filter(kind="mail.send")]
    assert "pets.create_pet" in str(mail)
    watch.check_all(queue.Lease(1, watch.KIND, {}, 1, 1))
    assert Job.objects.filter(kind="mail.send").count() == 1


@pytest.mark.both_databases
def test_daily_job_encrypts_headers_under_the_present_key(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    tools = b'[{"name": "find", "description": "Finds", "inputSchema": {"type": "object"}}]'
    monkeypatch.setattr(source_client, "list_mcp_tools", lambda _url, _header: tools)
    given = {"header_name": "Authorization", "header_value": "Bearer s3cret"}
    source = source_store.add_mcp_server(url="https://mcp.example/mcp", by=OLGA, **given)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another" * 10
    assert not is_current(source.header_secret)
    then = watch.check_all(queue.Lease(1, watch.KIND, {}, 1, 1))
    assert then is not None
    then()
    source.refresh_from_db()
    assert is_current(source.header_secret)
    assert decrypt_secret(source.header_secret) == "Bearer s3cret"


@pytest.mark.both_databases
def test_binding_follows_a_tool_that_is_renamed() -> None:
    source = add_source()
    create_pets(source)
    draft = drafts.get_draft("pets")
    files = {name: text.replace("create_pet", "add_pet") for name, text in draft.files.items()}
    drafts.save_draft(capability_id="pets", files=files, based_on=draft.version, by=OLGA)
    assert binding("add_pet").key == CREATE
    check(source, required=[])
    assert binding("add_pet").state == "changed"


def take_over(**more: Any) -> Any:
    seen = takeover.plan_takeover("pets", "create_pet").seen
    given: dict[str, Any] = {"capability_id": "pets", "tool_name": "create_pet", "by": OLGA, "seen": seen}
    return takeover.take_over(**given | more)


def tool_of_draft() -> Any:
    tools = json.loads(drafts.get_draft("pets").files["tools.json"])
    return next(tool for tool in tools if tool["name"] == "create_pet")


def test_takeover_writes_the_fields_of_the_source_into_the_draft() -> None:
    source = add_source()
    create_pets(source)
    check(source, required=["name", "kind"])
    assert [(one.name, one.is_edited) for one in takeover.plan_takeover("pets", "create_pet").fields] == [
        ("args_schema", False)
    ]
    take_over()
    assert tool_of_draft()["args_schema"]["required"] == ["name", "kind"]
    assert (binding().state, binding().changes) == ("same", [])
    assert check(source, required=["name", "kind"]) == []


def test_takeover_leaves_what_an_author_has_edited_unless_told() -> None:
    source = add_source()
    create_pets(source)
    draft = drafts.get_draft("pets")
    files = {**draft.files, "tools.json": draft.files["tools.json"].replace("Its name", "What it is called")}
    drafts.save_draft(capability_id="pets", files=files, based_on=draft.version, by=OLGA)
    check(source, required=["name", "kind"])
    (field,) = takeover.plan_takeover("pets", "create_pet").fields
    assert field.is_edited
    take_over()
    assert "What it is called" in json.dumps(tool_of_draft())
    check(source, required=[])
    take_over(overwrite=["args_schema"])
    assert "What it is called" not in json.dumps(tool_of_draft())
    assert "required" not in tool_of_draft()["args_schema"]


def test_takeover_is_of_what_was_shown() -> None:
    source = add_source()
    create_pets(source)
    check(source, required=[])
    seen = takeover.plan_takeover("pets", "create_pet").seen
    check(source, required=["name", "kind"])
    with pytest.raises(StatusConflict):
        take_over(seen=seen)
    assert tool_of_draft()["args_schema"]["required"] == ["name"]
    seen = takeover.plan_takeover("pets", "create_pet").seen
    draft = drafts.get_draft("pets")
    files = {**draft.files, "skill.md": draft.files["skill.md"] + "\nMore.\n"}
    drafts.save_draft(capability_id="pets", files=files, based_on=draft.version, by=OLGA)
    with pytest.raises(StatusConflict):
        take_over(seen=seen)


@pytest.mark.both_databases
def test_document_cannot_stand_in_for_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_client, "fetch_document", lambda _url: content())
    source = source_store.add_address(url="https://api.example/openapi.json", by=OLGA)
    create_pets(source)
    with pytest.raises(InvalidRequest):
        watch.check_source(source_id=source.pk, by=OLGA, content=content(required=[]))
    assert (binding().state, source.items.get(key=CREATE).digest) == ("same", binding().digest)


def test_takeover_of_what_is_gone_says_so() -> None:
    source = add_source()
    create_pets(source, CREATE, DELETE)
    check(source, paths={"/pets/{id}": {}})
    with pytest.raises(InvalidRequest, match=r"no 'DELETE /pets/\{id\}' any more"):
        takeover.plan_takeover("pets", "delete_pets_by_id")
    with pytest.raises(NotFound):
        takeover.plan_takeover("pets", "nothing")
