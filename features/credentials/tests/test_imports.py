"""Imports from a private repository, over HTTPS with git's own backend."""

from __future__ import annotations

import json
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.serializers import serialize
from django.test import Client

from capability_rules.errors import SourceUnreadable
from features.credentials import credential_store
from features.credentials.models import Credential
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NotFound, SourceMisconfigured
from registry.importing import git_import_jobs
from registry.models import AuditEvent, Capability, GitImport
from registry.operations import worker
from tests.factories import bundle
from tests.git_https import commit, git, make_certificate, served
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db
COMMAND = Actor("command_line", "root")
TOKEN = "glpat-canaryCanary"
GIT = "/new-capability/git/"


@pytest.fixture
def url(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, {f"alpha/{name}": text for name, text in bundle("alpha").items()})
    made = make_certificate(tmp_path)
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    monkeypatch.setenv("GIT_SSL_CAINFO", str(made[0]))
    with served(folder, made, login=f"x-access-token:{TOKEN}") as address:
        yield address


@pytest.fixture
def token(url: str) -> Credential:
    host = url.removeprefix("https://").partition("/")[0]
    return credential_store.create_credential(name="token", hosts=[host], secret=TOKEN, by=COMMAND)


def _run_job() -> GitImport:
    worker.Worker().run_due()
    return GitImport.objects.latest("pk")


def test_an_admin_imports_and_members_once_it_is_open(url: str, token: Credential, signed_in: SignIn) -> None:
    assert signed_in("admin").post(GIT, {"source": url, "credential": "token"}).status_code == 302
    assert _run_job().state == "stored"
    assert Capability.objects.get().capability_id == "alpha"

    author = signed_in("author")
    assert 'value="token"' not in author.get(GIT).content.decode()
    assert author.post(GIT, {"source": url, "credential": "token"}).status_code == 400
    credential_store.open_to_members(name="token", is_open=True, by=COMMAND)
    assert 'value="token"' in author.get(GIT).content.decode()
    again = {"source": url, "credential": "token", "replace": "on"}
    assert author.post(GIT, again).status_code == 302
    assert _run_job().state == "stored"
    users = [event.detail["used_for"] for event in AuditEvent.objects.filter(verb="credential.use")]
    assert [words.rpartition(" by ")[2] for words in users] == ["the-admin", "the-author"]


def test_the_job_asks_again_who_may(url: str, token: Credential, signed_in: SignIn) -> None:
    credential_store.open_to_members(name="token", is_open=True, by=COMMAND)
    signed_in("author").post(GIT, {"source": url, "credential": "token"})
    credential_store.open_to_members(name="token", is_open=False, by=COMMAND)
    run = _run_job()
    assert (run.state, "not open to members" in run.reason) == ("refused", True)
    assert not Capability.objects.exists()


def test_what_may_not_be_used_is_refused_before_anything_is_fetched(url: str, token: Credential) -> None:
    start = git_import_jobs.start_import
    with pytest.raises(NotFound):
        start(source=url, by=COMMAND, credential="other")
    with pytest.raises(SourceMisconfigured, match="not for"):
        start(source="https://elsewhere.example/x", by=COMMAND, credential="token")
    credential_store.open_to_members(name="token", is_open=True, by=COMMAND)
    with pytest.raises(Forbidden):
        start(source=url, by=Actor("agent_key", "ci"), credential="token")
    credential_store.end_credential(name="token", by=COMMAND)
    with pytest.raises(SourceMisconfigured, match="ended"):
        start(source=url, by=COMMAND, credential="token")
    assert not GitImport.objects.exists()


@pytest.mark.both_databases
def test_a_token_in_an_address_is_kept_for_an_admin_and_refused_for_others(url: str, signed_in: SignIn) -> None:
    secret = url.replace("https://", f"https://oauth2:{TOKEN}@")
    refused = signed_in("author").post(GIT, {"source": secret})
    assert refused.status_code == 400
    assert TOKEN not in refused.content.decode()
    with pytest.raises(SourceUnreadable):
        git_import_jobs.start_import(source=secret.replace("canary", "wrong"), by=COMMAND)
    assert not Credential.objects.exists()

    plain = url.replace("https://", f"https://{TOKEN}@")
    assert signed_in("admin").post(GIT, {"source": plain}).status_code == 302
    run = _run_job()
    assert (run.state, run.source, run.credential) == ("stored", url, Credential.objects.get().name)
    rows = [*GitImport.objects.all(), *AuditEvent.objects.all(), *Credential.objects.all()]
    assert "canary" not in serialize("json", rows)


def test_the_command_imports_with_one(url: str, token: Credential, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("bundle", "import", url, "--credential", "token", "--format", "json")
    assert json.loads(capsys.readouterr().out)["results"][0]["capability_id"] == "alpha"
    with pytest.raises(SystemExit):
        call_command("bundle", "import", "examples", "--credential", "token")


@pytest.mark.both_databases
def test_an_admin_opens_and_closes_one_on_the_page(token: Credential, signed_in: SignIn) -> None:
    admin: Client = signed_in("admin")
    admin.post("/credentials/open/", {"name": "token", "open": "on"})
    assert Credential.objects.get().is_open
    admin.post("/credentials/open/", {"name": "token"})
    assert not Credential.objects.get().is_open
    verbs = AuditEvent.objects.filter(verb__in=["credential.open", "credential.close"]).values_list("verb", flat=True)
    assert list(verbs.order_by("pk")) == ["credential.open", "credential.close"]
