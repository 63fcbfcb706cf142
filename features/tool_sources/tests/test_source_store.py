from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from capability_rules.errors import InvalidRequest, SourceUnreadable
from features.tool_sources import source_client, source_store, watch
from features.tool_sources.models import ToolSource
from features.tool_sources.tests.pet_store import CREATE, DELETE, LIST, add_source, content, create_pets
from registry.access.stored_secrets import is_current
from registry.common.errors import NotFound
from registry.models import AuditEvent
from tests.factories import OLGA

pytestmark = pytest.mark.django_db


@pytest.mark.both_databases
def test_source_keeps_what_a_document_offers() -> None:
    source = add_source()
    assert (source.kind, source.title, source.form, source.url) == ("document", "Pets", "OpenAPI", "")
    assert [item.key for item in source.items.all()] == [LIST, CREATE, DELETE]
    assert [item.is_read for item in source.items.all()] == [True, False, False]
    assert AuditEvent.objects.filter(verb="tool_source.add", detail__source_id=source.pk).exists()


def test_source_that_cannot_be_read_is_not_kept() -> None:
    with pytest.raises(SourceUnreadable, match="Line 1, column 5"):
        source_store.add_document(content=b"a: b: c", by=OLGA)
    assert not ToolSource.objects.exists()


def test_source_at_an_address_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_client, "fetch_document", lambda _url: content())
    source = source_store.add_address(url=" https://api.example/openapi.json#x ", by=OLGA)
    assert (source.kind, source.url) == ("address", "https://api.example/openapi.json")


def test_header_of_a_server_is_encrypted_and_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    tools = b'{"tools": [{"name": "find", "description": "Finds", "inputSchema": {"type": "object"}}]}'

    def answer(_url: str, header: object) -> bytes:
        seen.append(header)
        return tools

    monkeypatch.setattr(source_client, "list_mcp_tools", answer)
    given = {"header_name": "Authorization", "header_value": "Bearer s3cret"}
    source = source_store.add_mcp_server(url="https://mcp.example/mcp", by=OLGA, **given)
    assert "s3cret" not in source.header_secret
    assert "s3cret" not in str(list(AuditEvent.objects.values_list("detail", flat=True)))
    source_store.read_again(source)
    assert seen == [("Authorization", "Bearer s3cret")] * 2


@pytest.mark.both_databases
def test_query_of_an_address_is_encrypted_and_shown_nowhere(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    asked: list[str] = []

    def fetch(url: str) -> bytes:
        asked.append(url)
        return content()

    monkeypatch.setattr(source_client, "fetch_document", fetch)
    url = "https://api.example/openapi.json?api_key=s3cret-word&format=json"
    source = source_store.add_address(url=url, by=OLGA)
    assert source.url == "https://api.example/openapi.json?api_key=…&format=…"
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another" * 10
    create_pets(source)
    source_store.tidy_sources()
    watch.check_source(source_id=source.pk, by=OLGA)
    assert asked == [url, url]
    source.refresh_from_db()
    assert is_current(source.query_secret)
    kept = [*ToolSource.objects.values(), *AuditEvent.objects.values()]
    assert "s3cret" not in str(kept)
    # As it was kept before.
    ToolSource.objects.filter(pk=source.pk).update(url=url, query_secret="")
    source_store.tidy_sources()
    source.refresh_from_db()
    assert (source.url, source_store.full_address(source)) == (
        "https://api.example/openapi.json?api_key=…&format=…",
        url,
    )


@pytest.mark.parametrize(
    "name",
    ["Host", "transfer-encoding", "Content-Length", "Connection", "Accept", "Mcp-Session-Id", "Proxy-Authorization"],
)
def test_header_that_the_client_sets_itself_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest):
        source_store.add_mcp_server(url="https://mcp.example/mcp", by=OLGA, header_name=name, header_value="a")


@pytest.mark.parametrize(("name", "value"), [("A", ""), ("", "b"), ("A B", "c"), ("A", "b\nc"), ("A", "é")])
def test_header_of_a_server_has_a_form(name: str, value: str) -> None:
    with pytest.raises(InvalidRequest, match="header"):
        source_store.add_mcp_server(url="https://mcp.example/mcp", by=OLGA, header_name=name, header_value=value)


@pytest.mark.parametrize(
    "url", ["ftp://a.example/x", "https://u:p@a.example/x", "https://", "x", "https://a.example:0/"]
)
def test_address_of_another_form_is_refused(url: str) -> None:
    with pytest.raises(SourceUnreadable, match="An address is https://host/path"):
        source_store.add_address(url=url, by=OLGA)


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1/x", "https://localhost/x", "https://[::1]/x", "https://169.254.169.254/"]
)
def test_address_inside_is_refused(url: str) -> None:
    with pytest.raises(SourceUnreadable, match="IMPORT_ALLOWED_NETWORKS"):
        source_store.add_address(url=url, by=OLGA)


@pytest.mark.both_databases
def test_source_that_nobody_used_is_forgotten_after_a_week() -> None:
    used, unused, new = (add_source() for _ in range(3))
    create_pets(used)
    ToolSource.objects.filter(pk__in=[used.pk, unused.pk]).update(created_at=timezone.now() - timedelta(days=8))
    source_store.tidy_sources()
    assert set(ToolSource.objects.all()) == {used, new}


def test_source_is_removed_and_its_tools_stay() -> None:
    source = add_source()
    create_pets(source)
    source_store.remove_source(source_id=source.pk, by=OLGA)
    with pytest.raises(NotFound):
        source_store.get_source(source.pk)
    assert AuditEvent.objects.get(verb="tool_source.remove").detail == {"source_id": source.pk, "tools": 2}
