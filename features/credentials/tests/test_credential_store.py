"""Credentials: to whom they may be sent, who keeps them, and how they end."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.serializers import serialize
from django.db import IntegrityError, transaction
from django.test import Client

from capability_rules.errors import InvalidRequest
from features.credentials import credential_store
from features.credentials.models import Credential
from features.sources import push_webhooks, source_sync
from features.webhooks import webhook_store
from registry.access.operators import create_operator
from registry.access.stored_secrets import is_current
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NameConflict, SourceMisconfigured, StatusConflict
from registry.models import AuditEvent
from registry.operations.backup.create import create_backup
from tests.factories import OLGA
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import ask_and_confirm, form_with

pytestmark = pytest.mark.django_db
COMMAND = Actor("command_line", "root")
CANARY = "ghp_canaryCanaryCanary"
URL = "https://git.example/team/skills"


def _create(**more: Any) -> Credential:
    given: dict[str, Any] = {"name": "token", "hosts": ["git.example"], "secret": CANARY, "by": COMMAND}
    return credential_store.create_credential(**given | more)


def _open(row: Credential, url: str = URL) -> tuple[str, str]:
    return credential_store.open_secret(row, url, used_for="source x")


def test_a_secret_is_sent_to_its_hosts_alone() -> None:
    row = _create(hosts=["Git.Example", "other.example:8443"])
    assert _open(row) == ("x-access-token", CANARY)
    assert _open(row, "https://other.example:8443/x")[1] == CANARY
    for url in (
        "https://other.example/x",
        "https://git.example.evil/x",
        "https://git.example:8443/x",
        "https://x/git.example",
        "http://git.example/x",
        "http://git.example:443/x",
    ):
        with pytest.raises(SourceMisconfigured, match="not for"):
            _open(row, url)
        with pytest.raises(InvalidRequest):
            credential_store.require_host(row, url)


def test_the_secret_is_in_no_row_and_no_audit_event() -> None:
    row = _create()
    _open(row)
    credential_store.replace_secret(name="token", secret=f"{CANARY}2", by=COMMAND)
    stored = serialize("json", [*Credential.objects.all(), *AuditEvent.objects.all()])
    assert CANARY not in stored
    assert "canary" not in repr(Credential.objects.get())


def test_each_user_of_each_secret_is_in_the_audit_log_once() -> None:
    row = _create()
    for used_for in ("source a", "source b", "source a", "source b"):
        credential_store.open_secret(row, URL, used_for=used_for)
    assert AuditEvent.objects.filter(verb="credential.use").count() == 2
    credential_store.replace_secret(name="token", secret="another", by=COMMAND)
    credential_store.open_secret(row, URL, used_for="source a")
    assert AuditEvent.objects.filter(verb="credential.use").count() == 3
    assert Credential.objects.get().last_used_for == "source a"


def test_what_is_ended_is_forgotten() -> None:
    row = _create()
    credential_store.end_credential(name="token", by=COMMAND)
    credential_store.end_credential(name="token", by=COMMAND)
    assert Credential.objects.get().secret == ""
    assert AuditEvent.objects.filter(verb="credential.end").count() == 1
    with pytest.raises(SourceMisconfigured, match="ended"):
        _open(row)
    with pytest.raises(StatusConflict):
        credential_store.replace_secret(name="token", secret="x", by=COMMAND)


def test_one_of_another_secret_key_is_ended_by_its_next_use(settings: Any) -> None:
    row = _create()
    settings.SECRET_KEY = "another key of fifty characters, as a restore has it"
    with pytest.raises(SourceMisconfigured, match="another SECRET_KEY"):
        _open(row)
    assert Credential.objects.get().ended_at is not None


@pytest.mark.both_databases
def test_the_daily_job_encrypts_under_the_present_key(settings: Any) -> None:
    row = _create()
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key of fifty characters, in its turn, for now"
    assert not is_current(Credential.objects.get().secret)
    credential_store.encrypt_stored(None)()  # type: ignore[arg-type]
    assert is_current(Credential.objects.get().secret)
    assert _open(row)[1] == CANARY


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "broken",
    [
        {"name": " "},
        {"hosts": []},
        {"hosts": ["https://git.example"]},
        {"hosts": ["*"]},
        {"hosts": ["git.example/x"]},
        {"username": "a:b"},
        {"secret": "two\nlines"},
        {"secret": ""},
        {"secret": "ü"},
    ],
)
def test_another_form_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        _create(**broken)
    assert Credential.objects.count() == 0


def test_admins_alone_keep_credentials() -> None:
    create_operator(username="pub", password="Correct-horse-battery-9", role="publisher", by=OLGA)
    for by in (Actor("operator", "pub"), Actor("agent_key", "ci")):
        with pytest.raises(Forbidden):
            _create(by=by)
    _create()
    with pytest.raises(NameConflict):
        _create()
    for by in (Actor("operator", "pub"), Actor("agent_key", "ci")):
        with pytest.raises(Forbidden):
            credential_store.end_credential(name="token", by=by)


@pytest.mark.both_databases
def test_a_row_that_the_code_would_not_write_is_refused() -> None:
    _create()
    for columns in ({"secret": ""}, {"ended_by": "x"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Credential.objects.update(**columns)


def test_an_admin_keeps_replaces_and_ends_one_and_never_sees_it_again(signed_in: SignIn) -> None:
    client: Client = signed_in("admin")
    form = form_with(client.get("/credentials/"), "Save credential")
    assert form.submit(client, name="token", hosts="git.example, a.example", secret=CANARY).status_code == 302
    page = client.get("/credentials/").content.decode()
    assert CANARY not in page
    assert "a.example, git.example" in page
    form_with(client.get("/credentials/"), "Save secret").submit(client, secret="another")
    assert _open(Credential.objects.get())[1] == "another"
    ask_and_confirm(client, "/credentials/end/", {"name": "token"})
    assert Credential.objects.get().secret == ""


def test_what_was_typed_stays_but_for_the_secret(signed_in: SignIn) -> None:
    client: Client = signed_in("admin")
    form = form_with(client.get("/credentials/"), "Save credential")
    page = form.submit(client, name="token", hosts="https://git.example", secret=CANARY)
    assert page.status_code == 400
    assert 'value="https://git.example"' in page.content.decode()
    assert CANARY not in page.content.decode()


def test_the_command_reads_the_secret_from_stdin(manage: Any) -> None:
    made = manage("credential", "create", "token", "--host", "git.example", stdin=f"{CANARY}\n")
    assert made.code == 0
    assert CANARY not in made.out
    assert CANARY not in manage("credential", "list", "--format", "json").out
    assert manage("credential", "end", "token").code == 0
    assert "ended" in manage("credential", "list").out


def test_no_secret_is_in_a_backup_as_text(tmp_path: Path) -> None:
    """Of credentials, webhooks, pushes, other registries and tools from an API."""
    _create()
    _, signing = webhook_store.create_webhook(name="chat", url="https://hooks.example.com/", by=OLGA)
    ways: dict[str, Any] = {"mode": "draft", "every_minutes": 60, "by": COMMAND}
    source_sync.add_registry(url="https://studio.example.com", read_key="csk_canaryOfARegistry", **ways)
    repository = source_sync.add_git_source(spec="https://git.example/skills", **ways)
    _, pushing = push_webhooks.create_push_secret(source_id=repository.pk, by=COMMAND)
    create_backup(to=tmp_path / "backup.zip")
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        text = b"".join(archive.read(name) for name in archive.namelist())
    assert b"git.example" in text
    for secret in (CANARY, signing, "csk_canaryOfARegistry", pushing):
        assert secret.encode() not in text
