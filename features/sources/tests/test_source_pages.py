"""Followed sources in the Studio."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from features.sources import source_sync
from features.sources.incidents import open_source_incident
from features.sources.models import GitSource, GitSourceItem
from registry.access.stored_secrets import decrypt_secret
from registry.common.net.webhook_signatures import generate_secret
from registry.core.transactions import write_transaction
from registry.models import AuditEvent, Incident, Job
from tests.factories import OLGA, publish
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import confirm, form_with

pytestmark = pytest.mark.django_db
URL = "https://git.example/skills"


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in()


@pytest.fixture
def source() -> GitSource:
    """Looked at: one bundle is published, one was refused, one is gone from it."""
    made = source_sync.add_git_source(spec=f"{URL}@main#<b>", mode="publish", every_minutes=60, by=OLGA)
    Job.objects.update(run_after=timezone.now() + timedelta(hours=1))
    GitSource.objects.filter(pk=made.pk).update(last_synced_at=timezone.now(), commit="c0ffee" * 6)
    digest = publish("alpha").digest
    publish("gone")
    rows = (("alpha", "published", ""), ("odd", "refused", "FIELD_MISSING: <script>"), ("gone", "published", ""))
    for name, status, detail in rows:
        content = str(digest) if name == "alpha" else ""
        there = "gone" if name == "gone" else "present"
        GitSourceItem.objects.create(
            source=made, path=name, capability_id=name, files_digest="sha256:", content_digest=content, status=status,
            detail=detail, upstream_state=there,
        )  # fmt: skip
    return made


@pytest.fixture
def registry() -> GitSource:
    return source_sync.add_registry(
        url="https://studio.example.com", mode="draft", every_minutes=60, by=OLGA, read_key="csk_hidden"
    )


def _text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_a_repository_is_followed_from_the_form(client: Client) -> None:
    form = form_with(client.get("/sources/"), "Connect source")
    answer = form.submit(client, address=f"{URL}@main", mode="publish", every_minutes="30")
    source = GitSource.objects.get()
    assert answer["Location"] == f"/sources/{source.pk}/"
    assert (source.kind, source.spec, source.mode, source.every_minutes) == ("git", f"{URL}@main", "publish", 30)
    assert "Nothing imported yet" in _text(client.get(answer["Location"]))


def test_another_registry_is_followed_from_the_form(client: Client) -> None:
    form = form_with(client.get("/sources/"), "Connect source")
    form.submit(client, kind="registry", address="https://studio.example.com/", read_key="csk_hidden")
    source = GitSource.objects.get()
    assert (source.kind, decrypt_secret(source.read_key), source.may_adopt) == ("registry", "csk_hidden", False)
    page = _text(client.get(f"/sources/{source.pk}/"))
    assert "Key saved" in page
    assert "csk_hidden" not in page


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"address": "http://git.example/a"}, "address"),
        ({"address": ""}, "address"),
        ({"address": "a\0b"}, "address"),
        ({"address": URL}, "address"),
        ({"kind": "svn"}, "kind"),
        ({"kind": "registry", "address": "https://a:b@c"}, "address"),
        ({"mode": "guess"}, "mode"),
        ({"every_minutes": "4"}, "every_minutes"),
        ({"every_minutes": "x"}, "every_minutes"),
    ],
)
def test_an_odd_source_is_refused_beside_its_field(changes: dict[str, Any], field: str, client: Client) -> None:
    source_sync.add_git_source(spec=URL, mode="draft", every_minutes=60, by=OLGA)
    form = form_with(client.get("/sources/"), "Connect source")
    answer = form.submit(client, **{"address": "https://git.example/new"} | changes)
    assert (answer.status_code, list(answer.context["form"].errors)) == (400, [field])
    assert GitSource.objects.count() == 1


def test_the_page_tells_state_bundles_and_what_differs(client: Client, source: GitSource) -> None:
    page = _text(client.get(f"/sources/{source.pk}/"))
    assert "cannot be published as it is in the source" in page
    assert "is no longer in the source, and published here" in page
    assert "FIELD_MISSING: &lt;script&gt;" in page
    assert "<b>" not in page
    assert 'href="/capabilities/alpha/"' in page
    assert "c0ffeec0ffee</code>" in page
    listed = _text(client.get("/sources/"))
    assert "2 need attention" in listed
    assert "as drafts" not in listed.split('id="new"')[0]


@pytest.mark.both_databases
def test_a_viewer_reads_and_changes_nothing(signed_in: SignIn, source: GitSource) -> None:
    client = signed_in("viewer")
    page = _text(client.get(f"/sources/{source.pk}/"))
    assert "Bundles" in page
    for words in ("Sync now", "Sync settings", "/hooks/sources/", "Disconnect source"):
        assert words not in page
    assert "Connect source" not in _text(client.get("/sources/"))


def test_look_now_makes_the_look_due_and_the_page_asks_again(signed_in: SignIn, source: GitSource) -> None:
    client = signed_in("publisher")
    address = f"/sources/{source.pk}/"
    assert "hx-trigger" not in client.get(address).content.decode()
    answer = form_with(client.get(address), "Sync now").submit(client)
    assert answer["Location"] == address
    assert Job.objects.get(kind=source_sync.KIND).run_after <= timezone.now()
    page = client.get(address)
    assert "Sync started" in _text(page)
    assert 'hx-trigger="every 2s"' in page.content.decode()
    fragment = client.get(address, headers={"HX-Request": "true"}).content.decode()
    assert fragment.strip().startswith('<div id="state"')
    assert AuditEvent.objects.filter(verb="git_source.ask").count() == 1


def test_the_secret_is_shown_once_and_taken_back(client: Client, source: GitSource) -> None:
    address = f"/sources/{source.pk}/"
    answer = form_with(client.get(address), "Create secret").submit(client)
    secret = decrypt_secret(GitSource.objects.get().hook_secret)
    assert secret in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    page = client.get(address).content.decode()
    assert secret not in page
    assert f"http://testserver/hooks/sources/{source.pk}" in page
    assert "Old secret" not in page
    answer = confirm(client, form_with(client.get(address), "Replace secret").submit(client))
    assert "The old secret works until" in _text(answer)
    assert decrypt_secret(GitSource.objects.get().hook_secret) not in ("", secret)
    shown = client.get(address)
    assert "Old secret</dt> <dd> works until" in _text(shown)
    confirm(client, form_with(shown, "End old secret").submit(client))
    assert GitSource.objects.get().previous_hook_secret == ""
    assert "Old secret" not in client.get(address).content.decode()
    confirm(client, form_with(client.get(address), "Delete secret").submit(client))
    assert GitSource.objects.get().hook_secret == ""


def test_a_registry_gives_the_secret_of_its_webhook(client: Client, registry: GitSource) -> None:
    address = f"/sources/{registry.pk}/"
    made_here = client.post(f"{address}secret/", follow=True)
    assert "The other registry makes the secret" in _text(made_here)
    secret = generate_secret()
    for odd in ("whsec_", "hunter2", secret + "x"):
        refused = form_with(client.get(address), "Save secret").submit(client, secret=odd)
        assert "begins with whsec_" in _text(client.get(refused["Location"]))
    form_with(client.get(address), "Save secret").submit(client, secret=secret)
    registry.refresh_from_db()
    assert decrypt_secret(registry.hook_secret) == secret
    page = client.get(address).content.decode()
    assert secret not in page
    assert f"http://testserver/hooks/sources/{registry.pk}" in page
    confirm(client, form_with(client.get(address), "Delete secret").submit(client))
    assert GitSource.objects.get().hook_secret == ""


def test_the_way_is_changed_and_a_key_stays_where_none_is_given(client: Client, registry: GitSource) -> None:
    address = f"/sources/{registry.pk}/"
    form = form_with(client.get(address), "Save")
    form.submit(client, mode="publish", every_minutes="10", may_adopt="on")
    registry.refresh_from_db()
    assert (registry.mode, registry.every_minutes, registry.may_adopt) == ("publish", 10, True)
    assert decrypt_secret(registry.read_key) == "csk_hidden"
    form_with(client.get(address), "Save").submit(client, read_key="csk_other")
    registry.refresh_from_db()
    assert decrypt_secret(registry.read_key) == "csk_other"
    refused = form_with(client.get(address), "Save").submit(client, every_minutes="1")
    assert (refused.status_code, list(refused.context["form"].errors)) == (400, ["every_minutes"])
    odd = form_with(client.get(address), "Save").submit(client, read_key="größer")
    assert (odd.status_code, "without blanks" in _text(odd)) == (400, True)


def test_a_source_is_removed_and_what_it_brought_stays(client: Client, source: GitSource) -> None:
    answer = confirm(client, form_with(client.get(f"/sources/{source.pk}/"), "Disconnect source").submit(client))
    assert answer["Location"] == "/sources/"
    assert not GitSource.objects.exists()
    assert client.get(f"/sources/{source.pk}/").status_code == 404
    assert client.get("/capabilities/alpha/").status_code == 200


@pytest.mark.both_databases
def test_an_incident_of_a_source_stands_on_its_page_the_incidents_and_home(client: Client, registry: GitSource) -> None:
    with write_transaction():
        open_source_incident(source=registry, message="It cannot be read", details="<i>why</i>", by=OLGA)
    for address in (f"/sources/{registry.pk}/", "/incidents/", "/"):
        page = _text(client.get(address))
        assert "&lt;i&gt;why&lt;/i&gt;" in page, address
        assert address.startswith("/sources/") or f'href="/sources/{registry.pk}/"' in page, address
    assert ">Incident<" in _text(client.get("/sources/"))
    source_sync._note_success(registry, {"last_synced_at": timezone.now(), "commit": "revision 1"}, [], [], [], OLGA)
    assert Incident.objects.get().closed_at is not None
    assert "Closed" in _text(client.get("/incidents/"))
    assert ">Incident<" not in _text(client.get("/sources/"))


@pytest.mark.both_databases
def test_the_number_of_queries_does_not_grow(client: Client) -> None:
    counts: dict[str, list[int]] = {"list": [], "show": []}
    for amount in (2, 20):
        made = source_sync.add_git_source(spec=f"{URL}{amount}", mode="draft", every_minutes=60, by=OLGA)
        for number in range(amount):
            made = source_sync.add_git_source(spec=f"{URL}{amount}x{number}", mode="draft", every_minutes=60, by=OLGA)
            GitSourceItem.objects.bulk_create(
                GitSourceItem(source=made, path=f"{n}", capability_id="alpha", files_digest="x", status="held")
                for n in range(amount * 3)
            )
        for address in ("/sources/", f"/sources/{made.pk}/"):
            with CaptureQueriesContext(connection) as queries:
                assert client.get(address).status_code == 200
            counts["list" if address == "/sources/" else "show"].append(len(queries))
    assert counts["list"][0] == counts["list"][1] <= 8
    assert counts["show"][0] == counts["show"][1] <= 12
