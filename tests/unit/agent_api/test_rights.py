"""One registry, every route and MCP tool, every kind of reader: no response names what the reader may not see.

Reads are those of the OpenAPI document; any other new route, or a tool of MCP, without a row here fails. Pages have
their matrix in `tests/unit/studio/pages/test_permissions.py`; past lists are in `test_hidden_ids.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from features.oauth.tests.assistant import access_token
from features.sets import set_store
from features.sets.set_reader import list_sets
from features.sharing import share_links
from registry.access import teams
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.matching.skill_groups import set_group
from registry.models import Capability, Operator
from registry.publishing import publication
from registry.snapshot import PUBLIC as PUBLIC_READER
from registry.snapshot import current_snapshot
from tests.factories import OLGA, agent_key, bundle, publish, tool
from tests.operations import list_operations
from tests.sweeps import check_each, rolled_back
from tests.unit.studio.conftest import make_operator

pytestmark = pytest.mark.django_db

# Of each kind one capability. Its marker is in every text of it and in nothing else.
KINDS = ("listed", "other_team", "other_group", "unlisted", "draft", "retired", "deprecated")
IN_GROUP_A = {"listed", "other_team", "unlisted", "draft", "retired", "deprecated"}
PUBLIC = {"listed", "other_team", "other_group", "deprecated"}


def _id(kind: str) -> str:
    return f"zq_{kind}"


def _marker(kind: str) -> str:
    return f"quorl{kind.replace('_', '')}"


def _bundle(kind: str, capability_id: str = "") -> dict[str, str]:
    word = _marker(kind)
    files = bundle(
        capability_id or _id(kind),
        [tool(f"{capability_id or _id(kind)}_read_{word}")],
        name=word.title(),
        description=f"Everything about {word} for the household.",
        intent_triggers=[f"{word} please", f"show my {word}"],
        skill_groups=["group_a" if kind in IN_GROUP_A else "group_b"],
        body=f"Answer about {word} in one sentence.",
    )
    return files | {f"references/{word}.md": f"# {word}\n"}


@dataclass(frozen=True)
class Reader:
    """`sees` are the kinds that may be named to it by the agent's routes."""

    headers: dict[str, str]
    sees: frozenset[str]
    scopes: frozenset[str] = frozenset({"read"})
    prefix: str = ""
    # Whose session the client has; empty for none.
    role: str = ""


@pytest.fixture
def readers(settings: Any) -> dict[str, Reader]:
    """The registry, and who reads it."""
    settings.AGENT_API_PUBLIC_READ = True
    settings.PUBLIC_URL = "http://localhost:8000"
    for kind in KINDS:
        if kind != "draft":
            assert publication.publish(files=_bundle(kind), by=OLGA).status == "published"
    drafts.save_draft(capability_id=_id("draft"), files=_bundle("draft"), based_on=None, by=OLGA)
    for group in ("group_a", "group_b"):
        set_group(group_id=group, by=OLGA)
    team = teams.create_team(name="Others", by=OLGA)
    teams.set_owning_team(capability_id=_id("other_team"), key=team.pk, by=OLGA)
    publication.set_visibility(capability_id=_id("unlisted"), visibility="unlisted", by=OLGA)
    # What it leads to is hidden from most.
    publication.deprecate(capability_id=_id("deprecated"), replaced_by=_id("unlisted"), by=OLGA)
    publication.retire(capability_id=_id("retired"), by=OLGA)
    for role in ("viewer", "author", "publisher", "admin"):
        make_operator(role)
    members = [{"capability_id": _id(kind)} for kind in KINDS if kind not in ("draft", "retired")]
    desk = {"set_id": "zq_desk", "name": "Desk", "description": "All of them.", "members": members}
    set_store.save_set(desk, by=Actor("command_line", "olga"))
    _, url = share_links.create_link(name="visitors", skill_group="group_a", days=1, by=OLGA)
    return dict(_readers(url.rpartition("/")[2]))


def _readers(token: str) -> Iterator[tuple[str, Reader]]:
    in_a = frozenset(PUBLIC & IN_GROUP_A)
    public = frozenset(PUBLIC)

    def key(*scopes: str, **limits: Any) -> dict[str, str]:
        return {"Authorization": f"Bearer {agent_key(*scopes, name='-'.join((*scopes, *limits)), **limits)}"}

    yield "anonymous", Reader({}, public)
    yield "wrong key", Reader({"Authorization": "Bearer none"}, frozenset(), frozenset())
    for scope in ("read", "feedback", "propose"):
        yield f"key {scope}", Reader(key(scope), public, frozenset({scope}))
    everything = ("read", "feedback", "propose")
    yield "key of three scopes", Reader(key(*everything), public, frozenset(everything))
    yield "limited key", Reader(key(*everything, groups=["group_a"]), in_a, frozenset(everything))
    yield "key without write tools", Reader(key("read", read_only_tools=True), public)
    preview = frozenset(PUBLIC | {"draft"})
    yield "preview key", Reader(key("read", preview=True), preview)
    yield "share link", Reader({}, in_a, prefix=f"share/{token}/")
    # `/mcp` takes it, and everything else refuses it, whatever its member may read on pages.
    yield (
        "token of an admin",
        Reader({"Authorization": f"Bearer {access_token('the-admin')}"}, public, frozenset(everything)),
    )
    for role in ("viewer", "author", "publisher", "admin"):
        # A session is not a key: it opens nothing here beside what is public.
        yield f"session of {role}", Reader({}, public, role=role)


Call = tuple[str, str, Any]
Calls = Callable[[str], list[Call]]


def _get(path: str) -> Calls:
    return lambda kind: [("GET", path.format(id=_id(kind), slug=_id(kind).replace("_", "-"), word=_marker(kind)), None)]


def _post(path: str, **body: Any) -> Calls:
    def calls(kind: str) -> list[Call]:
        text = json.dumps(body).replace("{id}", _id(kind)).replace("{word}", _marker(kind))
        return [("POST", path, json.loads(text))]

    return calls


def _version() -> str:
    """Of the set's plugins, which is the same for all readers."""
    held = current_snapshot()
    (found,) = list_sets(held, PUBLIC_READER)
    return found.version


def _copy_of(kind: str) -> list[Call]:
    """A proposal of nearly the same texts, and one that takes the same tool name."""
    return [
        ("POST", "api/v1/capability_propose", {"files": _bundle(kind, "my_copy")}),
        ("POST", "api/v1/capability_propose", {"files": _bundle(kind, "my_copy") | {
            "tools.json": _bundle(kind)["tools.json"], "skill.md": _bundle(kind)["skill.md"]}}),
    ]  # fmt: skip


V1, OP, HUB = "api/v1/", "api/v1/operator/", "clawhub/api/v1/"
# What a read is asked for.
QUERY = {
    "capability_id": "{id}",
    "path": "references/x.md",
    "proposal_id": "00000000-0000-4000-8000-000000000000",
    "set_id": "zq_desk",
}


def _reads() -> Iterator[tuple[str, Calls]]:
    """The reads that need nothing but what `QUERY` has."""
    for one in list_operations():
        if one.method == "GET" and set(one.required) <= QUERY.keys():
            yield one.name, _get(f"{one.path}?" + "&".join(f"{name}={QUERY[name]}" for name in one.required))


# Every route that machines call: what is asked of it for each kind of capability.
ROUTES: dict[str, Calls] = dict(_reads()) | {
    "capability_registry_list": lambda kind: [
        ("GET", f"{V1}capability_registry_list{query}", None)
        for query in ("", "?fields=minimal", "?updated_since_revision=0", "?updated_since_revision=1", "?group=group_a",
                      "?group=group_b")
    ] if kind == "draft" else [],
    "capability_skill_load": lambda kind: [
        *_get(V1 + "capability_skill_load?capability_id={id}")(kind),
        *_get(V1 + "capability_skill_load?capability_id={id}&revision=1")(kind),
        *_get(V1 + "capability_skill_load?capability_id={word}")(kind),
        *_post(V1 + "capability_skill_load", capability_id="{id}")(kind),
    ],
    "capability_skill_reload": _post(V1 + "capability_skill_reload", capability_id="{id}"),
    "capability_match": _post(V1 + "capability_match", message="show my {word} please", top_k=20),
    "capability_search": _get(V1 + "capability_search?q={word}+household&top_k=50"),
    "prompt_render": _post(V1 + "prompt_render", capability_ids=["{id}"]),
    "capability_feedback": _post(V1 + "capability_feedback", capability_id="{id}", outcome="used"),
    "capability_propose": _copy_of,
    "capability_install": _post(V1 + "capability_install", code="SKILL-AAAA-BBBB-CCCC"),
    "schema": _get(V1 + "schema"),
    "docs": _get(V1 + "docs"),
    "bundle_validate": lambda kind: [("POST", f"{OP}bundle_validate", {"bundles": [{"files": _bundle(kind)}]})],
    "bundle_publish": lambda kind: [("POST", f"{OP}bundle_publish", {"bundles": [{"files": _bundle(kind)}]})],
    "bundle_import": lambda kind: [("POST", f"{OP}bundle_import", {"bundles": [{"files": _bundle(kind)}]})],
    "bundle_rollback": _post(OP + "bundle_rollback", capability_id="{id}", to=1),
    "capability_quarantine": _post(OP + "capability_quarantine", capability_id="{id}", note="x"),
    "capability_deprecate": _post(OP + "capability_deprecate", capability_id="{id}"),
    "capability_retire": _post(OP + "capability_retire", capability_id="{id}"),
    "capability_restore": _post(OP + "capability_restore", capability_id="{id}"),
    "draft_save": lambda kind: [("POST", f"{OP}draft_save", {"capability_id": _id(kind), "files": _bundle(kind)})],
    "waiver_create": _post(
        OP + "waiver_create", capability_id="{id}", code="SEC_X", place="skill.md", reason="r", until="2030-01-01"
    ),
    "waiver_end": _post(OP + "waiver_end", capability_id="{id}", waiver_id=1),
    "scan_results_upload": _post(
        OP + "scan_results_upload", capability_id="{id}", files_digest="sha256:" + "0" * 64, sarif={}
    ),
    "evaluation_results_upload": _post(OP + "evaluation_results_upload", capability_id="{id}", evaluation={}),
    "tool_source_read": _post(OP + "tool_source_read", document="[]"),
    "tool_source_import": _post(
        OP + "tool_source_import", source_id=1, capability_id="{id}", operations=[{"key": "x"}]
    ),
    "tool_source_check": _post(OP + "tool_source_check", source_id=1),
    "draft_publish": _post(OP + "draft_publish", capability_id="{id}", draft_version=1),
    "set_save": _post(
        OP + "set_save", set_id="zq_desk", name="x", description="x", members=[{"capability_id": "{id}"}]
    ),
    "set_delete": _post(OP + "set_delete", set_id="zq_desk"),
    "marketplace": _get(".claude-plugin/marketplace.json"),
    "set_plugin": lambda kind: [
        ("GET", f"sets/zq_desk/{_version()}/{form}.{end}", None)
        for form in ("claude", "codex") for end in ("zip", "dsse.json")
    ],
    "shared_connect": _get("connect"),
    "resource_metadata": _get(".well-known/oauth-protected-resource/mcp"),
    "oauth_server_metadata": _get(".well-known/oauth-authorization-server"),
    "oauth_register": _post("oauth/register", redirect_uris=["https://{word}.example/"]),
    "oauth_token": _post("oauth/token", code="{word}"),
    "oauth_revoke": _post("oauth/revoke", token="{word}"),
    "source_hook": lambda kind: [("POST", "hooks/sources/1", {})] if kind == "draft" else [],
    "skills_index": _get(".well-known/agent-skills/index.json"),
    "skill_artifact": _get(".well-known/agent-skills/{slug}/1/SKILL.md"),
    "skills_search": _get("api/search?q={word}"),
    "clawhub_well_known": _get(".well-known/clawhub.json"),
    "clawhub_whoami": _get(HUB + "whoami"),
    "clawhub_search": _get(HUB + "search?q={word}"),
    "clawhub_download": _get(HUB + "download?slug={slug}"),
    "clawhub_resolve": _get(HUB + "resolve?slug={slug}"),
    "clawhub_upload_url": _post(HUB + "skills/-/upload-url"),
    "clawhub_upload": lambda kind: [("PUT", f"{HUB}uploads/00000000-0000-4000-8000-000000000000", {})]
    if kind == "draft" else [],
    "clawhub_skills": _get(HUB + "skills"),
    "clawhub_skill": _get(HUB + "skills/{slug}"),
    "clawhub_moderation": _get(HUB + "skills/{slug}/moderation"),
    "clawhub_file": _get(HUB + "skills/{slug}/file?path=SKILL.md"),
    "clawhub_versions": _get(HUB + "skills/{slug}/versions"),
    "clawhub_version": _get(HUB + "skills/{slug}/versions/1.0.0"),
    "signing_keys": _get(".well-known/capability-studio-keys.json"),
    "schema_file": _get("schemas/capability.schema.json"),
    "metrics": _get("metrics"),
    "mcp": lambda kind: [("POST", "mcp", message) for message in _mcp_messages(kind)],
}  # fmt: skip
TOOLS: dict[str, Callable[[str], dict[str, Any]]] = {
    "capability_registry_list": lambda _: {"updated_since_revision": 0},
    "capability_skill_load": lambda kind: {"capability_id": _id(kind)},
    "capability_skill_reload": lambda kind: {"capability_id": _id(kind)},
    "capability_match": lambda kind: {"message": f"show my {_marker(kind)} please"},
    "capability_search": lambda kind: {"q": f"{_marker(kind)} household"},
    "prompt_render": lambda kind: {"capability_ids": [_id(kind)]},
    "capability_feedback": lambda kind: {"capability_id": _id(kind), "outcome": "used"},
    "capability_propose": lambda kind: {"files": _bundle(kind, "my_copy")},
    "form_open": lambda kind: {"capability_id": _id(kind), "schema_id": "Any.v1"},
    "call_check": lambda kind: {"capability_id": _id(kind), "tool": "any", "arguments": {}},
}


def _mcp_messages(kind: str) -> Iterator[dict[str, Any]]:
    slug = _id(kind).replace("_", "-")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("tools/call", {"name": name, "arguments": arguments(kind)}) for name, arguments in TOOLS.items()
    ]
    calls += [("prompts/list", {}), ("resources/list", {}), ("resources/templates/list", {}), ("tools/list", {})]
    calls += [("prompts/get", {"name": _id(kind)}), ("prompts/get", {"name": slug})]
    calls += [("resources/read", {"uri": f"skill://{slug}/SKILL.md"}), ("resources/read", {"uri": f"skill://{slug}/"})]
    for method, params in calls:
        yield {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _send(reader: Reader, call: Call) -> Any:
    method, path, body = call
    client = Client(raise_request_exception=False)
    if reader.role:
        client.force_login(Operator.objects.get(username=f"the-{reader.role}"))
    content: dict[str, Any] = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
    return client.generic(method, f"/{reader.prefix}{path}", headers=reader.headers, **content)


def _text(answer: Any) -> str:
    content: bytes = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return f"{answer.headers} {content.decode('utf-8', errors='replace')}".lower()


def _told(answer: Any, asked: str, kind: str) -> bool:
    """Whether the answer names a capability that the request did not name."""
    text = _text(answer)
    words = [_marker(kind), _id(kind), _id(kind).replace("_", "-")]
    return any(word in text and word not in asked for word in words)


def _route_names(found: Any = None) -> set[str]:
    names: set[str] = set()
    for pattern in found if found is not None else get_resolver("agent_api.urls").url_patterns:
        if isinstance(pattern, URLResolver):
            names |= _route_names(pattern.url_patterns)
        elif isinstance(pattern, URLPattern) and pattern.name:
            names.add(pattern.name)
    return names


def test_every_route_and_tool_has_a_row(readers: dict[str, Reader]) -> None:
    assert _route_names() == set(ROUTES)
    listed = _send(readers["key of three scopes"], ("POST", "mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
    assert {one["name"] for one in listed.json()["result"]["tools"]} == set(TOOLS)


# Each principal at each route, asked for one of the things that it may not see; for a release, for each of them.
@pytest.mark.parametrize("asks", ["one", pytest.param("all", marks=pytest.mark.rare)])
@pytest.mark.slow
def test_no_principal_is_told_of_what_it_may_not_see(asks: str, readers: dict[str, Reader]) -> None:
    def check(who: str) -> None:
        reader = readers[who]
        faults: list[tuple[Any, ...]] = []
        # What is hidden from it, and something that it sees.
        hidden, seen = [kind for kind in KINDS if kind not in reader.sees], sorted(reader.sees)[:1]
        for place, (route, calls) in enumerate(ROUTES.items(), start=len(who)):
            turn = hidden if asks == "all" else [hidden[place % len(hidden)]] if hidden else []
            # Operators' routes refuse at the door, whatever is asked of them.
            kinds = [*turn, *seen][: 1 if route in OPERATOR_ROUTES else None]
            for call in (one for kind in kinds for one in calls(kind)):
                answer = _send(reader, call)
                asked = json.dumps(call).lower()
                leaks = [kind for kind in KINDS if kind not in reader.sees and _told(answer, asked, kind)]
                if leaks or answer.status_code >= 500:
                    faults.append((route, call, answer.status_code, leaks))
                elif route in OPERATOR_ROUTES and answer.status_code not in (401, 403, 404):
                    faults.append((route, call, answer.status_code, "an operator's route is open"))
        assert faults == []

    check_each(readers, check, isolate=rolled_back)


OPERATOR_ROUTES = {one.name for one in list_operations() if one.is_for_operators}


def test_each_principal_loads_what_it_sees_and_nothing_else(readers: dict[str, Reader]) -> None:
    """The matrix beside its refusals: without it a registry that answers nothing would pass."""

    def check(cell: tuple[str, str]) -> None:
        who, kind = cell
        reader = readers[who]
        if reader.prefix or who == "token of an admin":
            message = {"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": _id(kind)}}
            answer = _send(reader, ("POST", "mcp", message))
            assert (_marker(kind) in _text(answer)) == (kind in reader.sees), answer.content
            return
        answer = _send(reader, ("GET", f"{V1}capability_skill_load?capability_id={_id(kind)}", None))
        if "read" not in reader.scopes:
            assert answer.status_code in (401, 403)
            return
        assert (answer.status_code == 200) == (kind in reader.sees), answer.content
        listed = _send(reader, ("GET", f"{V1}capability_registry_list", None))
        assert (_marker(kind) in _text(listed)) == (kind in reader.sees)

    check_each([(who, kind) for who in readers for kind in KINDS], check)


def test_a_key_that_publishes_sees_all_by_the_operators_routes(readers: dict[str, Reader]) -> None:
    key = Reader({"Authorization": f"Bearer {agent_key('publish', name='pipeline')}"}, frozenset(KINDS))
    listed = _text(_send(key, ("GET", f"{OP}bundle_list", None)))
    assert [kind for kind in KINDS if _id(kind) not in listed] == []
    assert Capability.objects.count() == len(KINDS)
    # Without the scope `read` the agent's routes stay closed.
    assert _send(key, ("GET", f"{V1}capability_registry_list", None)).status_code == 403


def test_a_redeemed_code_opens_that_capability_alone(readers: dict[str, Reader]) -> None:
    reader = readers["key read"]
    code = Capability.objects.get(capability_id=_id("unlisted")).install_code
    assert _send(reader, ("POST", f"{V1}capability_install", {"code": code})).status_code == 200
    for kind in KINDS:
        answer = _send(reader, ("GET", f"{V1}capability_skill_load?capability_id={_id(kind)}", None))
        assert (answer.status_code == 200) == (kind in reader.sees | {"unlisted"}), kind
    assert publish("zq_new").status == "published"
