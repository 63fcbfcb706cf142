"""Sources of tools: read once, kept with what they offer, read again when somebody asks or a day has passed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any, Final

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from capability_rules.errors import InvalidRequest, SourceUnreadable
from features.credentials.credential_store import open_secret
from features.credentials.git_logins import find_for_import
from features.tool_sources import source_client
from features.tool_sources.drift import close_incident
from features.tool_sources.isolation import read_tools_isolated
from features.tool_sources.models import ToolBinding, ToolSource, ToolSourceItem
from features.tool_sources.source_tools import SourceTool, ToolCatalog
from registry.access.key_limits import has_limit
from registry.access.operators import is_admin
from registry.access.stored_secrets import SecretUnreadable, decrypt_secret, encrypt_secret, renew_encryption
from registry.access.teams import require_edit_permission
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NotFound
from registry.common.net.guarded_client import is_client_header, mask_query
from registry.core import audit
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction

SOURCES_MAX: Final = 500
# A source that nobody took a tool from is forgotten.
RETENTION: Final = timedelta(days=7)
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9-]{1,100}")
_HEADER_VALUE_MAX: Final = 2000
_AUTHORIZATION: Final = "Authorization"
Kind = ToolSource.Kind


def add_document(*, content: bytes, by: Actor) -> ToolSource:
    """Keep what a document offers. Raises `SourceUnreadable`, and `InvalidRequest` where too many are kept."""
    return _add(Kind.DOCUMENT, content, by)


def add_address(*, url: str, by: Actor) -> ToolSource:
    """Like `add_document`, for a document at a URL, which is read again each day once a tool was taken from it."""
    address = source_client.check_url(url)
    return _add(Kind.ADDRESS, source_client.fetch_document(address), by, **_address_columns(address))


def add_mcp_server(
    *, url: str, by: Actor, header_name: str = "", header_value: str = "", credential: str = ""
) -> ToolSource:  # fmt: skip
    """As `add_address`, of an MCP server; the header is sent with each request. `credential` is the name of one whose
    secret is its value, as a bearer token where no other header is named.

    Raises `NotFound`, `Forbidden`, and `SourceUnreadable` for a credential that is not for `by`, or not for this host.
    """
    address, name, value = source_client.check_url(url), header_name.strip(), header_value.strip()
    if credential and value:
        raise InvalidRequest("A header has a value or a credential, not both")
    name = name or (_AUTHORIZATION if credential else "")
    if bool(name) != bool(value or credential):
        raise InvalidRequest("A header has a name and a value")
    if name and not (_HEADER_NAME.fullmatch(name) and _is_header_value(value)):
        raise InvalidRequest(f"A header's value has at most {_HEADER_VALUE_MAX:,} printable characters of ASCII")
    if is_client_header(name):
        raise InvalidRequest(f"The header {name} is set by the client itself; expected another, such as Authorization")
    row = find_for_import(credential, by) if credential else None
    columns = {"header_name": name, "credential": row, "header_secret": encrypt_secret(value) if value else ""}
    content = source_client.list_mcp_tools(address, _header(ToolSource(url=address, **columns)))
    return _add(Kind.MCP, content, by, **columns, **_address_columns(address))


def _header(source: ToolSource) -> tuple[str, str] | None:
    """Raises `SourceUnreadable` where its secret cannot be had."""
    if not source.header_name:
        return None
    if source.credential is None:
        return source.header_name, _decrypted(source.header_secret)
    _, secret = open_secret(source.credential, source.url, used_for=f"tools of {mask_query(source.url)}")
    is_token = source.header_name.lower() == _AUTHORIZATION.lower()
    return source.header_name, f"Bearer {secret}" if is_token else secret


def _address_columns(url: str) -> dict[str, str]:
    _, _, query = url.partition("?")
    return {"url": mask_query(url), "query_secret": encrypt_secret(query) if query else ""}


def full_address(source: ToolSource) -> str:
    """With the values of its query, for a request alone. Raises `SourceUnreadable`."""
    if not source.query_secret:
        return source.url
    return f"{source.url.partition('?')[0]}?{_decrypted(source.query_secret)}"


def _decrypted(secret: str) -> str:
    try:
        return decrypt_secret(secret)
    except SecretUnreadable:
        raise SourceUnreadable("Its secrets were encrypted under another SECRET_KEY: add it again") from None


def _is_header_value(value: str) -> bool:
    return len(value) <= _HEADER_VALUE_MAX and value.isascii() and value.isprintable()


def _add(kind: Kind, content: bytes, by: Actor, **columns: Any) -> ToolSource:
    catalog = read_tools_isolated(content)
    with write_transaction():
        _unused().delete()
        if ToolSource.objects.count() >= SOURCES_MAX:
            raise InvalidRequest(f"At most {SOURCES_MAX} sources of tools are kept; remove one first")
        source = ToolSource.objects.create(kind=kind, created_by=str(by), **_facts(content, catalog), **columns)
        _store_items(source, catalog.tools)
        record_event(source, "add", by, {"kind": str(kind), "operations": len(catalog.tools)})
    return source


def _facts(content: bytes, catalog: ToolCatalog) -> dict[str, Any]:
    return {
        "title": catalog.title[:200],
        "version": catalog.version[:60],
        "form": catalog.form,
        "digest": hashlib.sha256(content).hexdigest(),
        "skipped": [words[:300] for words in catalog.skipped[:50]],
        "read_at": timezone.now(),
    }


def _store_items(source: ToolSource, tools: Iterable[SourceTool]) -> None:
    ToolSourceItem.objects.filter(source=source).delete()
    ToolSourceItem.objects.bulk_create(
        [_item(source, position, tool) for position, tool in enumerate(tools)], batch_size=200
    )


def _item(source: ToolSource, position: int, tool: SourceTool) -> ToolSourceItem:
    return ToolSourceItem(
        source=source,
        position=position,
        key=tool.key[:600],
        method=tool.method[:8],
        name=tool.name,
        summary=tool.summary[:200],
        tags=list(tool.tags[:20]),
        is_read=tool.is_read,
        is_deprecated=tool.is_deprecated,
        contract=tool.contract,
        digest=tool.digest,
        losses=[asdict(loss) for loss in tool.losses[:50]],
        refused=tool.refused[:300],
    )


def record_event(source: ToolSource, verb: str, by: Actor, detail: Mapping[str, Any] | None = None) -> None:
    """Write a row of the audit log about a source, with its id; the caller holds the lock."""
    subject = (source.url or source.title)[:200]
    audit.record(by=by, verb=f"tool_source.{verb}", subject=subject, detail={"source_id": source.pk, **(detail or {})})


def require_owner(source: ToolSource, by: Actor) -> None:
    """The permission check of every function that changes a source: for its maker, admins, and those who may change
    each capability that has a tool of it. Raises `Forbidden`."""
    if source.created_by == str(by) or is_admin(by):
        return
    bound = source.bindings.order_by("capability__capability_id").values_list("capability__capability_id", flat=True)
    capability_ids = list(dict.fromkeys(bound))
    if not capability_ids and (by.kind == "operator" or has_limit(by)):
        raise Forbidden("Only who added the source and admins can change it, as long as no capability has a tool of it")
    for capability_id in capability_ids:
        require_edit_permission(capability_id, by)


def may_change(source: ToolSource, by: Actor) -> bool:
    """Whether somebody may change a source, as `require_owner` says."""
    try:
        require_owner(source, by)
    except Forbidden:
        return False
    return True


def read_again(source: ToolSource, content: bytes | None = None) -> tuple[bytes, ToolCatalog]:
    """What the source offers now; `content` is a newer document in the place of one that was brought.

    Raises `SourceUnreadable`, and `InvalidRequest` for a document in the place of an address.
    """
    if content is not None and source.url:
        raise InvalidRequest("This source has an address, and says what stands there: a document cannot replace it")
    if content is None:
        content = _fetch(source)
    return content, read_tools_isolated(content)


def _fetch(source: ToolSource) -> bytes:
    if source.kind == Kind.ADDRESS:
        return source_client.fetch_document(full_address(source))
    if source.kind == Kind.MCP:
        return source_client.list_mcp_tools(full_address(source), _header(source))
    raise SourceUnreadable("This document has no address: upload a newer one")


def store_reading(source: ToolSource, content: bytes, catalog: ToolCatalog) -> None:
    """Keep what was read in the place of what was there; the caller holds the lock."""
    facts = _facts(content, catalog)
    if facts["digest"] != source.digest:
        _store_items(source, catalog.tools)
    update_row(source, last_error="", **facts)


def remove_source(*, source_id: int, by: Actor) -> ToolSource:
    """Forget a source; the tools that were taken stay as they are, without a watch. Raises `NotFound`, `Forbidden`."""
    with write_transaction():
        source = get_source(source_id)
        require_owner(source, by)
        bindings = list(source.bindings.select_related("capability"))
        record_event(source, "remove", by, {"tools": len(bindings)})
        for capability in {one.capability for one in bindings}:
            close_incident(capability, source_id)
        ToolSource.objects.filter(pk=source.pk).delete()
    return source


def get_source(source_id: int) -> ToolSource:
    """The source of this number. Raises `NotFound`."""
    missing = NotFound(f"No source of tools has the number {source_id}; one that nobody used is kept for a week")
    return get_row(ToolSource.objects.filter(pk=source_id), missing)


def list_sources() -> QuerySet[ToolSource]:
    """The newest first, each with `tools`, how many operations it has, `used`, how many tools were taken, and
    `differing`, how many of those differ from it now."""
    differs = ~Q(bindings__state=ToolBinding.State.SAME)
    return ToolSource.objects.order_by("-id").annotate(
        tools=Count("items", distinct=True),
        used=Count("bindings", distinct=True),
        differing=Count("bindings", distinct=True, filter=differs),
    )


def _unused() -> QuerySet[ToolSource]:
    return ToolSource.objects.filter(bindings__isnull=True, created_at__lt=timezone.now() - RETENTION)


def tidy_sources() -> None:
    """Forget sources that nobody took a tool from within a week, and encrypt headers and queries of the others under
    the present key."""
    with write_transaction():
        _unused().delete()
        # Addresses of before are stored with their query.
        for source in ToolSource.objects.filter(query_secret="", url__contains="?"):
            update_row(source, **_address_columns(source.url))
        sources = ToolSource.objects.exclude(header_secret="", query_secret="")
        renew_encryption(sources, "header_secret", "query_secret")
