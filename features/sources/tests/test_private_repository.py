"""A repository that needs a token, over HTTPS with git's own backend."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.core.serializers import serialize
from django.test import Client

from capability_rules.errors import InvalidRequest, SourceUnreadable
from features.credentials import credential_store
from features.credentials.models import Credential
from features.sources import push_webhooks, source_sync
from features.sources.models import GitSource
from features.sources.source_sync import SyncSettings
from registry.access.stored_secrets import is_current
from registry.common.actors import Actor
from registry.models import AuditEvent, Incident, Revision
from tests.factories import bundle
from tests.git_https import commit, git, make_certificate, served
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with

pytestmark = pytest.mark.django_db
COMMAND = Actor("command_line", "root")
TOKEN = "glpat-canaryCanary"
WAYS: dict[str, Any] = {"mode": "publish", "every_minutes": 60, "by": COMMAND}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, {f"alpha/{name}": text for name, text in bundle("alpha").items()})
    return folder


@pytest.fixture
def certificate(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    made = make_certificate(tmp_path)
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    monkeypatch.setenv("GIT_SSL_CAINFO", str(made[0]))
    return made


@pytest.fixture
def url(repository: Path, certificate: tuple[Path, Path]) -> Iterator[str]:
    with served(repository, certificate, login=f"x-access-token:{TOKEN}") as address:
        yield address


def _host(url: str) -> str:
    return url.removeprefix("https://").partition("/")[0]


def _credential(url: str, secret: str = TOKEN, name: str = "token") -> Credential:
    return credential_store.create_credential(name=name, hosts=[_host(url)], secret=secret, by=COMMAND)


def test_a_private_repository_is_followed(url: str) -> None:
    _credential(url)
    source = source_sync.add_git_source(spec=url, credential="token", **WAYS)
    source_sync.sync_source(source_id=source.pk, by=COMMAND)
    assert Revision.objects.get().capability.capability_id == "alpha"
    assert Credential.objects.get().last_used_for == f"source {url}"


def test_a_wrong_token_is_told_when_the_source_is_added(url: str) -> None:
    _credential(url, secret="wrong")
    with pytest.raises(SourceUnreadable, match="does not accept the credential 'token'"):
        source_sync.add_git_source(spec=url, credential="token", **WAYS)
    assert GitSource.objects.count() == 0


def test_without_one_the_failure_says_what_to_do(url: str) -> None:
    source = source_sync.add_git_source(spec=url, **WAYS)
    with pytest.raises(SourceUnreadable, match="choose one that may read it"):
        source_sync.sync_source(source_id=source.pk, by=COMMAND)


@pytest.mark.both_databases
def test_a_token_that_expires_fails_with_its_name_and_another_one_mends_it(
    url: str, repository: Path, certificate: tuple[Path, Path]
) -> None:
    _credential(url)
    source = source_sync.add_git_source(spec=url, credential="token", **WAYS)
    credential_store.replace_secret(name="token", secret="of yesterday", by=COMMAND)
    with pytest.raises(SourceUnreadable, match="'token'"):
        source_sync.sync_source(source_id=source.pk, by=COMMAND)
    _credential(url, name="newer")
    following = SyncSettings("publish", 60)
    source_sync.update_source(source_id=source.pk, following=following, by=COMMAND, credential="newer")
    source_sync.sync_source(source_id=source.pk, by=COMMAND)
    assert Revision.objects.count() == 1


def test_another_host_never_gets_the_token(repository: Path, certificate: tuple[Path, Path]) -> None:
    """By a redirect of its own host, by an address that changed, by a submodule."""
    heard: list[str] = []
    with served(repository, certificate, heard=heard) as elsewhere:
        led = elsewhere.rpartition("/")[0]
        with served(repository, certificate, leads_to=led) as url:
            _credential(url)
            with pytest.raises(SourceUnreadable):
                source_sync.add_git_source(spec=url, credential="token", **WAYS)
        with pytest.raises(InvalidRequest, match="not for"):
            source_sync.add_git_source(spec=elsewhere, credential="token", **WAYS)
        with served(repository, certificate, login=f"x-access-token:{TOKEN}") as url:
            _credential(url, name="second")
            git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository), "sub")
            text = (repository / ".gitmodules").read_text().replace(str(repository), elsewhere)
            commit(repository, {".gitmodules": text})
            source = source_sync.add_git_source(spec=url, credential="second", **WAYS)
            source_sync.sync_source(source_id=source.pk, by=COMMAND)
    assert not [header for header in heard if header]


def test_a_token_in_the_address_is_kept_as_a_credential_and_said(url: str, signed_in: SignIn) -> None:
    client: Client = signed_in("admin")
    form = form_with(client.get("/sources/"), "Connect source")
    address = url.replace("https://", f"https://x-access-token:{TOKEN}@")
    page = form.submit(client, kind="git", address=address, mode="publish")
    shown = client.get(page["Location"]).content.decode()
    row = Credential.objects.get()
    assert f"kept as the credential {row.name}" in shown
    assert TOKEN not in shown
    source = GitSource.objects.get()
    assert (source.url, source.credential) == (url, row)
    stored = serialize("json", [*GitSource.objects.all(), *Credential.objects.all(), *AuditEvent.objects.all()])
    assert TOKEN not in stored


def test_a_wrong_token_in_the_address_is_not_kept(url: str) -> None:
    with pytest.raises(SourceUnreadable) as refused:
        source_sync.add_git_source(spec=url.replace("https://", "https://hush-hush@"), **WAYS)
    assert "hush-hush" not in refused.value.message
    assert Credential.objects.count() == 0


@pytest.mark.both_databases
def test_ending_a_credential_stops_what_uses_it_with_an_incident(url: str) -> None:
    _credential(url)
    source = source_sync.add_git_source(spec=url, credential="token", **WAYS)
    credential_store.end_credential(name="token", by=COMMAND)
    incident = Incident.objects.get(source_id=source.pk, closed_at__isnull=True)
    assert "'token' is ended" in incident.details
    with pytest.raises(SourceUnreadable, match="is ended"):
        source_sync.sync_source(source_id=source.pk, by=COMMAND)


def test_the_token_is_in_no_argument_of_a_process(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other users of the machine see arguments, and not the environment."""
    import subprocess

    seen: list[Any] = []
    real = subprocess.Popen

    def popen(command: Any, *args: Any, **options: Any) -> Any:
        seen.append(command)
        return real(command, *args, **options)

    monkeypatch.setattr(subprocess, "Popen", popen)
    _credential(url)
    source_sync.add_git_source(spec=url, credential="token", **WAYS)
    pair = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
    assert seen
    assert TOKEN not in repr(seen)
    assert pair not in repr(seen)


@pytest.mark.both_databases
def test_what_a_source_keeps_is_in_no_row_as_text_and_renewed_each_day() -> None:
    source = source_sync.add_registry(url="https://studio.example.com", read_key="csk_canary", **WAYS)
    repository = source_sync.add_git_source(spec="https://git.example/skills", **WAYS)
    _, secret = push_webhooks.create_push_secret(source_id=repository.pk, by=COMMAND)
    stored = serialize("json", GitSource.objects.all())
    assert "csk_canary" not in stored
    assert secret not in stored
    # As an older version has left it.
    GitSource.objects.filter(pk=source.pk).update(read_key="csk_canary")
    push_webhooks.encrypt_stored(None)()  # type: ignore[arg-type]
    source.refresh_from_db()
    assert is_current(source.read_key)
    assert source_sync.read_stored_key(source) == "csk_canary"


@pytest.mark.both_databases
def test_a_key_of_another_secret_key_is_an_incident_of_the_source(settings: Any) -> None:
    source = source_sync.add_registry(url="https://studio.example.com", read_key="csk_canary", **WAYS)
    settings.SECRET_KEY = "another key of fifty characters, as a restore has it"
    with pytest.raises(SourceUnreadable, match="another SECRET_KEY"):
        source_sync.sync_source(source_id=source.pk, by=COMMAND)
    assert Incident.objects.filter(source_id=source.pk, closed_at__isnull=True).count() == 1
