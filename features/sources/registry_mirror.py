"""Another registry as a source: its list and its loads over the agent API, each bundle checked against its digest.

The digest in the list is recomputed from the load response: a bundle that does not match it is never
imported. Example messages are in no load, because they come from users: they stay in the registry that has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import orjson
import rfc8785

from capability_kit.bundles.digest import bytes_digest, digest_of_load, text_digest
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.bundles.content_spool import ContentSpool
from capability_rules.bundles.file_pointer import CAPABILITY_BYTES_MAX
from capability_rules.bundles.json_edits import to_json
from capability_rules.bundles.supporting_files import COUNT_MAX, is_in_folder, named_paths
from capability_rules.bundles.text import BUNDLE_BYTES_MAX, size_bytes
from features.sources.models import GitSource, GitSourceItem
from features.sources.source_state import KnownState, SourceBundleState, SourceSnapshot, inspect_bundle, is_up_to_date
from registry.common.errors import SourceMisconfigured
from registry.common.net.registry_client import RegistryClient, RegistryResponse

LIST_PATH: Final = "/api/v1/capability_registry_list"
LOAD_PATH: Final = "/api/v1/capability_skill_load"
FILE_PATH: Final = "/api/v1/capability_file_load"
CONTENT_PATH: Final = "/api/v1/capability_file_content"
ENTRIES_MAX: Final = 10_000
_PAGE: Final = 1000
_ID: Final = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(?:_[a-z0-9]+)*")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_PARTS: Final = {"capability": dict, "skill_doc": str, "tools": list, "ui_schemas": list}
_FORGED: Final = "Its digest differs from the one in the registry's list; it was not imported"


@dataclass(frozen=True, slots=True)
class _MirroredEntry:
    """A line of the other registry's list."""

    capability_id: str
    digest: str
    upstream_state: Literal["present", "deprecated"]


def read_registry(source: GitSource, known: KnownState, key: str) -> SourceSnapshot:
    """Read the list, and while the result is walked through the bundles that are not `known` as they are there.

    Raises `SourceUnreadable`, and `SourceMisconfigured` where trying again would not help.
    """
    upstream = RegistryClient(source.url, key)
    here = {path: item for path, item in known.items() if item.upstream_state != GitSourceItem.UpstreamState.GONE}
    is_all_settled = all(is_up_to_date(source, item, item.files_digest) for item in here.values())
    first = upstream.get(LIST_PATH, {"limit": str(_PAGE)}, etag=source.etag if is_all_settled else "")
    if first.status == 304:
        return SourceSnapshot([_as_known(item) for item in here.values()], source.commit, source.etag)
    entries, revision, is_whole = _read_list(upstream, first)
    # The tag of a first page says nothing of the pages behind it.
    etag = first.etag if is_whole and len(first.etag) <= 200 else ""
    return SourceSnapshot(_each(upstream, entries, source, known), f"revision {revision}", etag)


def _as_known(item: GitSourceItem) -> SourceBundleState:
    upstream_state: Any = item.upstream_state
    told = {"upstream_state": upstream_state, "declared_digest": item.declared_digest}
    return SourceBundleState(None, item.path, item.capability_id, item.files_digest, item.content_digest, **told)


def _read_list(upstream: RegistryClient, first: RegistryResponse) -> tuple[list[_MirroredEntry], int, bool]:
    """All entries, the registry revision, and whether one page had them all."""
    page = _page(upstream, first)
    entries, revision, pages = _entries(upstream, page), page["registry_revision"], 1
    while page["next_cursor"]:
        asked = {"limit": str(_PAGE), "cursor": page["next_cursor"]}
        page = _page(upstream, upstream.get(LIST_PATH, asked))
        entries += _entries(upstream, page)
        pages += 1
        if len(entries) > ENTRIES_MAX or pages > ENTRIES_MAX // _PAGE + 1:
            raise SourceMisconfigured(
                f"{upstream.url}: more than {ENTRIES_MAX:,} capabilities; use a key of some groups"
            )
    return list({entry.capability_id: entry for entry in entries}.values()), revision, pages == 1


def _page(upstream: RegistryClient, answer: RegistryResponse) -> dict[str, Any]:
    page = _json(answer.body)
    fits = (
        isinstance(page, dict)
        and isinstance(page.get("capabilities"), list)
        and isinstance(page.get("registry_revision"), int)
        and isinstance(page.get("next_cursor"), str | None)
    )
    if not fits:
        raise SourceMisconfigured(f"{upstream.url}: what it answers is not the list of a Capability Studio")
    found: dict[str, Any] = page
    return found


def _entries(upstream: RegistryClient, page: dict[str, Any]) -> list[_MirroredEntry]:
    """Those that agents can load; a key of there that sees drafts gets no drafts here."""
    found = []
    for row in page["capabilities"]:
        given = row if isinstance(row, dict) else {}
        name, digest, status = given.get("capability_id"), given.get("digest"), given.get("status")
        if not (_is(_ID, name) and _is(_DIGEST, digest)):
            raise SourceMisconfigured(f"{upstream.url}: an entry of its list has an invalid capability_id or digest")
        if status in ("published", "deprecated"):
            found.append(_MirroredEntry(str(name), str(digest), "deprecated" if status == "deprecated" else "present"))
    return found


def _is(form: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and form.fullmatch(value) is not None


def _each(
    upstream: RegistryClient, entries: list[_MirroredEntry], source: GitSource, known: KnownState
) -> Iterator[SourceBundleState]:
    for entry in entries:
        item = known.get(entry.capability_id)
        if item is not None and is_up_to_date(source, item, _known_as(entry.digest, {})):
            yield replace(_as_known(item), upstream_state=entry.upstream_state, declared_digest=entry.digest)
            continue
        found = _load(upstream, entry, source, item)
        if found is not None:
            yield found


def _load(
    upstream: RegistryClient, entry: _MirroredEntry, source: GitSource, item: GitSourceItem | None
) -> SourceBundleState | None:
    """The bundle of that very digest; None where it went, or was quarantined, between the list and the load."""
    asked = {"capability_id": entry.capability_id, "digest": entry.digest}
    answer = upstream.get(LOAD_PATH, asked, also=(404, 422, 423))
    if answer.status in (404, 423):
        return None
    if answer.status == 422:
        return _refused(entry, "The other registry cannot give it out: its own copy is malformed")
    given = _json(answer.body)
    if not (isinstance(given, dict) and all(isinstance(given.get(key), kind) for key, kind in _PARTS.items())):
        return _refused(entry, "What the other registry returns for it is not a bundle")
    if given["capability"].get("capability_id") != entry.capability_id or _digest(given) != entry.digest:
        return _refused(entry, _FORGED)
    beside = _beside(given)
    known_as = _known_as(entry.digest, beside)
    if item is not None and is_up_to_date(source, item, known_as):
        return replace(_as_known(item), upstream_state=entry.upstream_state, declared_digest=entry.digest)
    spool = ContentSpool()
    texts = _files_beside(upstream, given, beside, spool)
    if texts is None:
        return _refused(entry, _FORGED)
    bundle = SourceBundle(f"{source.spec}/{entry.capability_id}", _files(given) | texts, contents=spool)
    return replace(
        inspect_bundle(bundle, source),
        files_digest=known_as,
        upstream_state=entry.upstream_state,
        declared_digest=entry.digest,
    )


def _beside(given: dict[str, Any]) -> dict[str, str]:
    """The supporting files that the load lists: `{path: digest}`, at most as many as a bundle may have."""
    rows = given.get("files")
    named = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    found = {str(row.get("path")): str(row.get("digest")) for row in named[: COUNT_MAX + 1]}
    marked = named_paths(given["capability"])
    return {path: digest for path, digest in sorted(found.items()) if is_in_folder(path) or path in marked}


def _known_as(digest: str, beside: dict[str, str]) -> str:
    """How the next sync recognizes it: by the digest in the list, so that no load is needed; where there are
    supporting files, which that digest does not cover, one over all."""
    return text_digest(json.dumps([digest, beside])) if beside else digest


def _files_beside(
    upstream: RegistryClient, given: dict[str, Any], beside: dict[str, str], spool: ContentSpool
) -> dict[str, bytes | str] | None:
    """Each checked against its digest; None where one does not match. Once they are more than a bundle may have, which
    refuses it, no more are asked for."""
    found: dict[str, bytes | str] = {}
    held, kept = sum(map(size_bytes, _files(given).values())), 0
    of_release = {"capability_id": given["capability"]["capability_id"], "revision": str(given.get("revision"))}
    for path, digest in beside.items():
        if kept > CAPABILITY_BYTES_MAX:
            break
        answer = upstream.get(FILE_PATH, of_release | {"path": path}, also=(404, 422, 423))
        file = _json(answer.body) if answer.status == 200 else None
        text = file.get("text") if isinstance(file, dict) else None
        if isinstance(file, dict) and text is None and file.get("type"):
            # By a path of ours: what the other registry calls its address leads nowhere else.
            content = upstream.get(CONTENT_PATH, of_release | {"path": path}, also=(404, 422, 423))
            if content.status != 200 or bytes_digest(content.body) != digest:
                return None
            found[path] = spool.add(content.body)
            kept += len(content.body)
            continue
        if not isinstance(text, str) or text_digest(text) != digest:
            return None
        size = size_bytes(text)
        if held + size > BUNDLE_BYTES_MAX:
            found[path] = spool.add(text.encode())
            kept += size
        else:
            found[path] = text
            held += size
    return found


def _refused(entry: _MirroredEntry, why: str) -> SourceBundleState:
    return SourceBundleState(
        None, entry.capability_id, entry.capability_id, entry.digest, "", entry.upstream_state, why, entry.digest
    )


def _digest(given: dict[str, Any]) -> str:
    try:
        return digest_of_load(given)
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeEncodeError):
        return ""


def _files(given: dict[str, Any]) -> dict[str, bytes | str]:
    """The bundle files. A text that begins like front matter gets an empty one first,
    which is not part of it."""
    skill = given["skill_doc"]
    lists = {f"{key}.json": to_json(given[key]) for key in ("tools", "ui_schemas") if given[key]}
    return {
        "capability.json": to_json(given["capability"]),
        "skill.md": f"---\n---\n{skill}" if skill.startswith("---") else skill,
        **lists,
    }


def _json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
