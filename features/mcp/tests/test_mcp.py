"""The Model Context Protocol in both eras: the same tools and skills, and refusals that each era expects."""

from __future__ import annotations

import base64
import hashlib
import json
import tomllib
from datetime import timedelta
from typing import Any

import orjson
import pytest
import yaml
from django.test import Client
from django.utils import timezone

from features.mcp import protocol
from features.sharing import share_links
from features.sharing.models import ShareLink
from registry.models import Proposal
from registry.publishing import publication
from registry.snapshot import STORE
from studio.config.parsers import Rate
from tests.cases import valid_bundle
from tests.factories import OLGA, agent_key, bundle, damage, publish, tool, unlisted
from tests.servers import ROOT

pytestmark = pytest.mark.django_db
MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}

ODD_META = {**META, "io.modelcontextprotocol/clientCapabilities": 1}


@pytest.fixture(autouse=True)
def public(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = True


def _post(body: Any, path: str = "/mcp", **headers: str) -> Any:
    data = body if isinstance(body, bytes) else json.dumps(body)
    return Client(enforce_csrf_checks=True).post(path, data, content_type="application/json", headers=headers)


def _legacy(method: str, **params: Any) -> Any:
    response = _post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
    return response.json()


def _modern(method: str, *, meta: Any = META, name: str = "", version: str = MODERN, **params: Any) -> Any:
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": method} | ({"Mcp-Name": name} if name else {})
    return _post({"jsonrpc": "2.0", "id": "a", "method": method, "params": {**params, "_meta": meta}}, **headers)


def _document(result: Any) -> Any:
    """What a tool answered, as text."""
    return orjson.loads(result["content"][0]["text"])


def _result(response: Any) -> Any:
    assert response.status_code == 200, response.content
    return response.json()["result"]


# The older era


@pytest.mark.parametrize(
    ("asked", "answered"),
    [("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-11-25"), ("2099-01-01", "2025-11-25"), (None, "2025-11-25")],
)
def test_initialize(asked: str | None, answered: str) -> None:
    result = _legacy("initialize", protocolVersion=asked, capabilities={}, clientInfo={})["result"]
    assert result["protocolVersion"] == answered
    assert (result["serverInfo"]["name"], result["serverInfo"]["version"]) == ("capability-studio", _project_version())
    assert result["capabilities"]["extensions"] == {"io.modelcontextprotocol/skills": {"directoryRead": True}}


def test_a_notification_is_taken_and_not_answered() -> None:
    response = _post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (response.status_code, response.content) == (202, b"")


@pytest.mark.parametrize("method", ["ping", "tools/list", "resources/templates/list", "prompts/list", "skills/list"])
def test_an_old_answer_has_nothing_of_the_new_era(method: str) -> None:
    result = _legacy(method)["result"]
    assert not {"resultType", "ttlMs", "cacheScope"} & set(result)


def test_unknown_methods_are_told_to_both_eras() -> None:
    assert _legacy("nothing/here")["error"]["code"] == -32601
    for method in ("nothing/here", "ping", "initialize"):
        response = _modern(method)
        assert (response.status_code, response.json()["error"]["code"]) == (404, -32601)
    assert _legacy("server/discover")["error"]["code"] == -32601


# The newer era


def test_discover() -> None:
    result = _result(_modern("server/discover"))
    assert result["supportedVersions"][0] == MODERN
    assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", 300_000, "public")
    server = result["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert (server["name"], server["version"]) == ("capability-studio", _project_version())


def _project_version() -> str:
    project: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return project["version"]


def test_every_new_answer_is_complete() -> None:
    publish("alpha")
    for method, ttl in (
        ("tools/list", 300_000), ("resources/templates/list", 300_000), ("resources/list", 0), ("prompts/list", 0),
        ("skills/list", 0),
    ):  # fmt: skip
        result = _result(_modern(method))
        assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", ttl, "public")
    result = _result(_call())
    assert result["resultType"] == "complete"
    assert "ttlMs" not in result


def _call() -> Any:
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "capability_registry_list"}
    params = {"name": "capability_registry_list", "_meta": META}
    return _post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, **headers)


@pytest.mark.parametrize(
    ("headers", "meta", "code"),
    [
        ({"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}, None, -32602),
        ({"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}, {}, -32602),
        ({"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}, ODD_META, -32602),
        ({"MCP-Protocol-Version": MODERN}, META, -32020),
        ({"MCP-Protocol-Version": MODERN, "Mcp-Method": "ping"}, META, -32020),
        ({"MCP-Protocol-Version": "2025-11-25", "Mcp-Method": "tools/list"}, META, -32020),
        ({"Mcp-Method": "tools/list"}, META, -32020),
        ({"MCP-Protocol-Version": "2099-01-01"}, None, -32022),
    ],
)  # fmt: skip
def test_headers_and_body_must_agree(headers: dict[str, str], meta: Any, code: int) -> None:
    params = {} if meta is None else {"_meta": meta}
    response = _post({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}, **headers)
    assert (response.status_code, response.json()["error"]["code"]) == (400, code)


def test_an_unknown_version_is_told_what_there_is() -> None:
    response = _post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, **{"MCP-Protocol-Version": "1999-01-01"})
    data = response.json()["error"]["data"]
    assert (data["requested"], data["supported"][0]) == ("1999-01-01", MODERN)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("skill://alpha/SKILL.md", 200),
        ("=?base64?" + base64.b64encode(b"skill://alpha/SKILL.md").decode() + "?=", 200),
        ("skill://beta/SKILL.md", 400),
        ("=?base64?***?=", 400),
        ("", 400),
    ],
)
def test_the_name_in_the_header(name: str, status: int) -> None:
    publish("alpha")
    assert _modern("resources/read", name=name, uri="skill://alpha/SKILL.md").status_code == status


# Tools


def test_tools_are_closed_objects_with_words_for_everything() -> None:
    tools = _tools(Authorization=f"Bearer {agent_key('read', 'feedback', 'propose')}")
    assert [row["name"] for row in tools] == [
        "capability_registry_list",
        "capability_skill_load",
        "capability_skill_reload",
        "prompt_render",
        "capability_match",
        "capability_search",
        "capability_feedback",
        "capability_propose",
        "form_open",
        "call_check",
    ]
    writes = [row["name"] for row in tools if not row["annotations"]["readOnlyHint"]]
    assert writes == ["capability_feedback", "capability_propose"]
    for row in tools:
        schema = row["inputSchema"]
        assert (schema["type"], schema["additionalProperties"]) == ("object", False)
        assert all(value["description"] for value in schema["properties"].values())


def _tools(path: str = "/mcp", **headers: str) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    return _post(body, path, **headers).json()["result"]["tools"]


def test_tools_that_write_are_listed_for_those_who_may() -> None:
    for scopes, writes in (((), []), (("feedback",), ["capability_feedback"]), (("propose",), ["capability_propose"])):
        headers = {"Authorization": f"Bearer {agent_key('read', *scopes)}"} if scopes else {}
        rows = _tools(**headers)
        assert [row["name"] for row in rows if not row["annotations"]["readOnlyHint"]] == writes


@pytest.mark.parametrize(
    ("name", "arguments", "api"),
    [
        ("capability_registry_list", {}, "capability_registry_list"),
        ("capability_registry_list", {"fields": "minimal"}, "capability_registry_list?fields=minimal"),
        ("capability_registry_list", {"limit": 1}, "capability_registry_list?limit=1"),
        ("capability_skill_load", {"capability_id": "alpha"}, "capability_skill_load?capability_id=alpha"),
        ("capability_skill_load", {"capability_id": "nobody"}, "capability_skill_load?capability_id=nobody"),
        ("capability_skill_load", {}, "capability_skill_load"),
        ("capability_search", {"q": "alpha"}, "capability_search?q=alpha"),
    ],
)  # fmt: skip
def test_a_tool_answers_as_the_api_does(name: str, arguments: dict[str, Any], api: str) -> None:
    publish("alpha", [tool("alpha_list")])
    publish("beta")
    response = Client().get(f"/api/v1/{api}")
    result = _legacy("tools/call", name=name, arguments=arguments)["result"]
    assert _document(result) == response.json()
    assert ("structuredContent" in result) is (response.status_code != 200)
    meta = {"capability-studio/result": "structured"}
    asked = _legacy("tools/call", name=name, arguments=arguments, _meta=meta)["result"]
    assert asked["structuredContent"] == response.json()
    assert bool(asked["content"]) is (response.status_code != 200)
    assert result["isError"] == (response.status_code != 200)


def test_a_tool_refuses_an_argument_that_it_does_not_have() -> None:
    publish("alpha")
    for name, arguments in (("capability_skill_load", {"id": "alpha"}), ("capability_registry_list", {"grup": "x"})):
        result = _legacy("tools/call", name=name, arguments=arguments)["result"]
        assert result["isError"] is True
        assert result["structuredContent"]["error"]["code"] == "INVALID_REQUEST"
        assert f"'{next(iter(arguments))}'; it has " in result["structuredContent"]["error"]["message"]


def test_the_newest_release_and_the_prompt_are_those_of_the_api() -> None:
    publish("alpha", [tool("alpha_list")])
    body = {"capability_ids": ["alpha"], "environment": {"os": "linux"}}
    for name, arguments in (("prompt_render", body), ("capability_skill_reload", {"capability_id": "alpha"})):
        response = Client().post(f"/api/v1/{name}", arguments, content_type="application/json").json()
        result = _document(_legacy("tools/call", name=name, arguments=arguments)["result"])
        sizes = {"prompt", "characters", "tokens_estimate"} if name == "prompt_render" else set()
        assert result.keys() == response.keys()
        assert all(result[key] == response[key] for key in response.keys() - sizes)
    assert (
        "Skill instructions:"
        in _legacy("tools/call", name="prompt_render", arguments=body)["result"]["content"][0]["text"]
    )


def test_tools_of_a_skill_are_named_as_what_the_host_has_to_provide() -> None:
    """A client can call none of them here, whatever it read them in."""
    publish("alpha", [tool("alpha_save", "write")])
    body = {"capability_ids": ["alpha"]}
    prompt = _legacy("prompts/get", name="alpha")["result"]["messages"][0]["content"]["text"]
    rendered = _document(_legacy("tools/call", name="prompt_render", arguments=body)["result"])["prompt"]
    for text in (prompt, rendered):
        assert "Available tools:" not in text
        assert "alpha__alpha_save" not in text
        title, _, lines = text.partition("Your host has to provide each of them")
        assert title.endswith("Tools that these skills use. ")
        assert lines.split("\n")[1].startswith("- alpha_save (write, waits for a person's approval): ")
    for row in _tools():
        if row["name"] in ("capability_skill_load", "prompt_render"):
            assert "host has to provide" in row["description"]
    over_http = Client().post("/api/v1/prompt_render", body, content_type="application/json").json()["prompt"]
    assert "Available tools:\n- alpha__alpha_save" in over_http


def test_a_skill_without_tools_says_nothing_of_tools() -> None:
    publish("alpha")
    assert "host" not in _legacy("prompts/get", name="alpha")["result"]["messages"][0]["content"]["text"]


@pytest.mark.parametrize(
    ("scopes", "said", "unsaid"),
    [
        (("read",), ["Nothing here changes a capability."], ["capability_feedback", "capability_propose"]),
        (("read", "feedback"), ["capability_feedback moves"], ["Nothing here changes", "capability_propose"]),
        (("read", "propose"), ["capability_propose hands"], ["Nothing here changes", "capability_feedback"]),
        (("read", "feedback", "propose"), ["capability_feedback", "capability_propose"], ["Nothing here changes"]),
    ],
)
def test_the_instructions_say_what_the_key_can_change(
    scopes: tuple[str, ...], said: list[str], unsaid: list[str]
) -> None:
    key = {"Authorization": f"Bearer {agent_key(*scopes)}"}
    old = _post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}, **key).json()["result"]
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "server/discover"} | key
    asked = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": META}}
    for instructions in (old["instructions"], _result(_post(asked, **headers))["instructions"]):
        assert all(words in instructions for words in said)
        assert not any(words in instructions for words in unsaid)
        assert "your host has to provide" in instructions


def test_a_proposal_is_taken_from_keys_that_may_make_it() -> None:
    arguments = {"files": bundle("beta"), "note": "for you"}
    result = _legacy("tools/call", name="capability_propose", arguments=arguments)["result"]
    assert result["structuredContent"]["error"]["code"] == "FORBIDDEN"
    headers = {"Authorization": f"Bearer {agent_key('read', 'propose')}"}
    params = {"name": "capability_propose", "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = _post(body, **headers).json()
    result = answer["result"]
    assert result["isError"] is False
    assert Proposal.objects.get().capability.capability_id == "beta"
    assert _document(result)["proposal_id"] == str(Proposal.objects.get().proposal_id)


def test_a_message_is_matched() -> None:
    publish("alpha")
    arguments = {"message": "alpha please"}
    result = _legacy("tools/call", name="capability_match", arguments=arguments)["result"]
    assert _document(result)["matches"][0]["capability_id"] == "alpha"


@pytest.mark.parametrize(
    "params", [{"name": "nothing"}, {}, {"name": 7}, {"name": "capability_match", "arguments": []}]
)
def test_odd_calls_are_refused(params: dict[str, Any]) -> None:
    assert _legacy("tools/call", **params)["error"]["code"] == -32602


def test_feedback_is_taken_from_keys_that_may_give_it() -> None:
    playbook = publication.publish(files=valid_bundle("playbook"), by=OLGA).capability_id
    arguments = {"capability_id": playbook, "outcome": "confirmed_success", "revision": 1}
    result = _legacy("tools/call", name="capability_feedback", arguments=arguments)["result"]
    assert result["isError"] is True
    assert result["structuredContent"]["error"]["code"] == "FORBIDDEN"
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    for name, given, is_error in (
        ("read", arguments, True),
        ("feedback", {**arguments, "outcome": "grand"}, True),
        ("feedback", {**arguments, "capability_id": "nobody"}, True),
        ("feedback", arguments, False),
    ):
        headers = {"Authorization": f"Bearer {agent_key('read', name)}"}
        params = {"name": "capability_feedback", "arguments": given}
        result = _post({**body, "params": params}, **headers).json()["result"]
        assert result["isError"] is is_error
    assert _document(result)["confidence"]["score"] == 0.6


# Prompts


def test_a_capability_off_the_menu_is_not_offered_as_a_prompt() -> None:
    publish("alpha", metadata={"user-invocable": "false"})
    publish("beta")
    assert [each["name"] for each in _legacy("prompts/list")["result"]["prompts"]] == ["beta"]
    assert _legacy("prompts/get", name="alpha")["result"]["messages"]


def test_each_capability_is_a_prompt() -> None:
    publish("alpha", name="Alpha")
    unlisted("hidden")
    (prompt,) = _legacy("prompts/list")["result"]["prompts"]
    assert (prompt["name"], prompt["title"]) == ("alpha", "Alpha")
    assert [(each["name"], each["required"]) for each in prompt["arguments"]] == [("arguments", False)]
    result = _legacy("prompts/get", name="alpha", arguments={"arguments": "of today"})["result"]
    body = {"capability_ids": ["alpha"], "arguments": {"alpha": "of today"}}
    rendered = Client().post("/api/v1/prompt_render", body, content_type="application/json").json()["prompt"]
    assert result["messages"] == [{"role": "user", "content": {"type": "text", "text": rendered}}]
    assert "of today" in rendered
    assert _legacy("prompts/get", name="alpha")["result"]["description"] == prompt["description"]
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "prompts/get", "Mcp-Name": "alpha"}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "alpha", "_meta": META}}
    assert _result(_post(asked, **headers))["resultType"] == "complete"


@pytest.mark.parametrize(
    "params",
    [{"name": "nobody"}, {"name": "hidden"}, {"name": "A!"}, {}, {"name": "alpha", "arguments": {"arguments": 1}},
     {"name": "alpha", "arguments": []}, {"name": "alpha", "arguments": {"arguments": "x" * 5000}}],
)  # fmt: skip
def test_odd_prompts_are_refused(params: dict[str, Any]) -> None:
    publish("alpha")
    unlisted("hidden")
    assert _legacy("prompts/get", **params)["error"]["code"] == -32602


def test_pages_of_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "PAGE", 2)
    for name in ("a", "b", "c"):
        publish(name)
    first = _legacy("prompts/list")["result"]
    second = _legacy("prompts/list", cursor=first["nextCursor"])["result"]
    assert [each["name"] for each in (*first["prompts"], *second["prompts"])] == ["a", "b", "c"]
    assert "nextCursor" not in second
    assert _legacy("prompts/list", cursor=7)["error"]["code"] == -32602


# Skills


def test_skills_say_what_their_files_hold() -> None:
    publish("alpha_two", [tool("alpha_list")], metadata={"a": "1"}, utterances={"should_match": ["secret words"]})
    (skill,) = _legacy("skills/list")["result"]["skills"]
    assert skill["uri"] == "skill://alpha-two/SKILL.md"
    assert [row["uri"].rpartition("alpha-two/")[2] for row in skill["resources"]] == [
        "SKILL.md",
        "references/capability.json",
        "references/tools.json",
    ]
    for row in skill["resources"]:
        (content,) = _legacy("resources/read", uri=row["uri"])["result"]["contents"]
        raw = content["text"].encode()
        assert (row["size"], row["digest"]) == (len(raw), f"sha256:{hashlib.sha256(raw).hexdigest()}")
        assert b"secret" not in raw
        if row["uri"].endswith("SKILL.md"):
            assert yaml.safe_load(content["text"].split("---\n")[1]) == skill["frontmatter"]
    assert _legacy("skills/get", uri=skill["uri"])["result"] == {"skill": skill}


def test_directories() -> None:
    publish("alpha", [tool("alpha_list")])
    rows = _legacy("resources/directory/read", uri="skill://alpha")["result"]["resources"]
    assert [(row["uri"], row["mimeType"]) for row in rows] == [
        ("skill://alpha/SKILL.md", "text/markdown"),
        ("skill://alpha/references", "inode/directory"),
    ]
    rows = _legacy("resources/directory/read", uri="skill://alpha/references/")["result"]["resources"]
    assert [row["uri"] for row in rows] == [
        "skill://alpha/references/capability.json",
        "skill://alpha/references/tools.json",
    ]


@pytest.mark.parametrize("method", ["resources/read", "resources/directory/read", "skills/get"])
@pytest.mark.parametrize(
    "uri", ["skill://nobody/SKILL.md", "file:///etc/passwd", "skill://alpha/../x", "skill://", "x"]
)
def test_an_unknown_resource_is_told_with_its_address(method: str, uri: str) -> None:
    publish("alpha")
    error = _legacy(method, uri=uri)["error"]
    assert (error["code"], error["data"]) == (-32602, {"uri": uri})


def test_a_name_with_an_underscore_is_none() -> None:
    publish("alpha_two")
    assert "result" in _legacy("resources/read", uri="skill://alpha-two/SKILL.md")
    assert "error" in _legacy("resources/read", uri="skill://alpha_two/SKILL.md")


def test_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "PAGE", 2)
    for name in ("alpha", "beta", "gamma"):
        publish(name)
    first = _legacy("skills/list")["result"]
    assert [row["frontmatter"]["name"] for row in first["skills"]] == ["alpha", "beta"]
    second = _legacy("skills/list", cursor=first["nextCursor"])["result"]
    assert [row["frontmatter"]["name"] for row in second["skills"]] == ["gamma"]
    assert "nextCursor" not in second
    assert _legacy("resources/list", cursor=7)["error"]["code"] == -32602


def test_a_damaged_bundle_is_left_out() -> None:
    from registry.models import Revision

    publish("alpha")
    damage(Revision.objects.get(), skill_md="x")
    assert _legacy("skills/list")["result"] == {"skills": []}
    assert "error" in _legacy("resources/read", uri="skill://alpha/SKILL.md")


# The door


def test_a_key_is_asked_for_where_reads_need_one(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = False
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    response = _post(body)
    assert (response.status_code, response.headers["WWW-Authenticate"][:6]) == (401, "Bearer")
    assert _post(body, Authorization=f"Bearer {agent_key()}").status_code == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://testserver", 200),
        ("https://app.example.com", 200),
        ("https://evil.example", 403),
        ("null", 403),
        ("moz-extension://testserver", 403),
        ("https://testserver", 200),
        ("http://testserver.evil.example", 403),
    ],
)
def test_pages_of_other_origins_are_kept_out(origin: str, status: int, settings: Any) -> None:
    settings.CORS_ALLOWED_ORIGINS = ("https://app.example.com",)
    assert _post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, Origin=origin).status_code == status


@pytest.mark.parametrize("method", ["get", "delete", "put"])
def test_other_methods_are_405_at_once(method: str) -> None:
    response = getattr(Client(), method)("/mcp")
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff", -32700),
        ([], -32600),
        ({"id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}, -32602),
    ],
)
def test_odd_messages_are_refused(body: Any, code: int) -> None:
    response = _post(body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, code)


def test_what_is_not_listed_is_behind_no_method() -> None:
    publish("alpha")
    unlisted("hidden")
    told = [
        _legacy("resources/list"),
        _legacy("tools/call", name="capability_registry_list", arguments={}),
        _legacy("tools/call", name="capability_match", arguments={"message": "hidden please"}),
        _legacy("tools/call", name="capability_search", arguments={"q": "hidden"}),
        _legacy("tools/call", name="capability_skill_load", arguments={"capability_id": "hidden"}),
    ]
    for answer in told[:-1]:
        assert "hidden" not in json.dumps(answer)
    assert told[-1]["result"]["isError"] is True
    assert told[-1]["result"]["structuredContent"]["error"]["code"] == "CAPABILITY_NOT_FOUND"


# Below a share link


def _link(**options: Any) -> str:
    url = share_links.create_link(name="partner", by=OLGA, **options)[1]
    return url.removeprefix("http://127.0.0.1:8000") + "/mcp"


def _shared(path: str, method: str, **params: Any) -> Any:
    response = _post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, path)
    assert response.status_code == 200, response.content
    return response.json()


def test_a_client_without_a_key_comes_by_a_share_link(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = False
    publish("alpha")
    path = _link()
    assert _shared(path, "initialize", protocolVersion="2025-11-25")["result"]["serverInfo"]["name"]
    assert all(row["annotations"]["readOnlyHint"] for row in _tools(path))
    loaded = _shared(path, "tools/call", name="capability_skill_load", arguments={"capability_id": "alpha"})["result"]
    assert _document(loaded)["capability_id"] == "alpha"
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    assert _post(asked, path, **headers).json()["result"]["cacheScope"] == "private"
    assert _post({"jsonrpc": "2.0", "id": 1, "method": "ping"}).status_code == 401


@pytest.mark.parametrize("name", ["capability_feedback", "capability_propose"])
def test_a_share_link_writes_nothing(name: str) -> None:
    given: dict[str, Any] = {"capability_feedback": {"capability_id": "alpha", "outcome": "used"}}
    arguments = given.get(name, {"files": {}})
    result = _shared(_link(), "tools/call", name=name, arguments=arguments)["result"]
    assert (result["isError"], result["structuredContent"]["error"]["code"]) == (True, "FORBIDDEN")


def test_a_share_link_of_a_group_shows_nothing_else_by_any_method() -> None:
    publish("alpha", skill_groups=["fitness", "secret_group"], replaced_by=None)
    publish("beta_secret", skill_groups=["secret_group"])
    unlisted("hidden_secret", skill_groups=["fitness"])
    path = _link(skill_group="fitness")
    called = [
        ("capability_registry_list", {"fields": "minimal"}),
        ("capability_registry_list", {"group": "other", "fields": "minimal"}),
        ("capability_match", {"message": "beta secret and hidden secret please"}),
        ("capability_search", {"q": "beta secret hidden"}),
        ("capability_search", {"q": "beta", "group": "secret_group"}),
    ]
    told = [_shared(path, "tools/call", name=name, arguments=given)["result"] for name, given in called]
    told += [_shared(path, method)["result"] for method in ("resources/list", "prompts/list", "skills/list")]
    for answer in told:
        assert "beta" not in json.dumps(answer)
        assert "hidden" not in json.dumps(answer)
    assert [row["name"] for row in told[-2]["prompts"]] == ["alpha"]
    for name in ("beta_secret", "hidden_secret"):
        for tool_name, given in (
            ("capability_skill_load", {"capability_id": name}),
            ("capability_skill_load", {"capability_id": name, "revision": 1}),
            ("capability_skill_reload", {"capability_id": name}),
            ("prompt_render", {"capability_ids": [name]}),
        ):
            result = _shared(path, "tools/call", name=tool_name, arguments=given)["result"]
            error = result["structuredContent"]["error"]
            assert (error["code"], error["available_capabilities"]) == ("CAPABILITY_NOT_FOUND", ["alpha"])
            assert error["suggestions"] == []
        uri = f"skill://{name.replace('_', '-')}/SKILL.md"
        assert _shared(path, "resources/read", uri=uri)["error"]["code"] == -32602
        assert _shared(path, "prompts/get", name=name)["error"]["code"] == -32602


def test_a_link_that_is_over_is_answered_as_on_its_other_paths() -> None:
    path = _link(days=1)
    index = path.removesuffix("/mcp") + "/.well-known/agent-skills/index.json"
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert _post(body, path).status_code == 200
    ShareLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    STORE.forget()
    expired = _post(body, path)
    assert (expired.status_code, expired.json()) == (404, Client().get(index).json())
    ShareLink.objects.update(expires_at=None)
    STORE.forget()
    assert _post(body, path).status_code == 200
    share_links.revoke_link(name="partner", by=OLGA)
    revoked = _post(body, path)
    assert (revoked.status_code, revoked.json()) == (404, Client().get(index).json())


def test_limits_hold_below_a_share_link(settings: Any) -> None:
    settings.RATE_LIMITS = {"guess": Rate(count=2, seconds=60), "match": Rate(count=1, seconds=60)}
    publish("alpha")
    path = _link()
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert [_post(body, f"/share/{'x' * 30}{n}/mcp").status_code for n in range(4)] == [404, 404, 429, 429]
    arguments = {"message": "alpha"}
    first, second = (
        _shared(path, "tools/call", name="capability_match", arguments=arguments)["result"] for _ in range(2)
    )
    assert (first["isError"], second["isError"]) == (False, True)
    assert second["structuredContent"]["error"]["code"] == "RATE_LIMITED"
    assert (
        _post(b'{"x": "' + b"y" * 2_000_000 + b'"}', path).status_code
        == _post(b'{"x": "' + b"y" * 2_000_000 + b'"}').status_code
    )
    assert _post(body, path, Origin="https://evil.example").status_code == 403
    assert Client().get(path).status_code == 405


# Batches, which the revisions until 2025-03-26 have


def test_a_batch_has_one_answer_for_each_request_and_none_for_a_notification() -> None:
    ping, wrong = {"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": "b", "method": "nothing/here"}
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    for headers in ({}, {"MCP-Protocol-Version": "2025-03-26"}):
        response = _post([ping, told, wrong, 7], **headers)
        assert response.status_code == 200
        first, second, third = response.json()
        assert (first["id"], first["result"]) == (1, {})
        assert (second["id"], second["error"]["code"]) == ("b", -32601)
        assert (third["id"], third["error"]["code"]) == (None, -32600)
    response = _post([told, told])
    assert (response.status_code, response.content) == (202, b"")


@pytest.mark.parametrize(
    ("body", "version", "words"),
    [
        ([], "", "1 to 50 messages"),
        ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}] * 51, "", "1 to 50 messages"),
        ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], "2025-06-18", "2025-06-18 has no batches"),
        ([{"jsonrpc": "2.0", "id": 1, "method": "initialize"}], "", "initialize is a message of its own"),
    ],
)
def test_what_cannot_be_a_batch_is_refused(body: Any, version: str, words: str) -> None:
    response = _post(body, **({"MCP-Protocol-Version": version} if version else {}))
    assert (response.status_code, words in response.json()["error"]["message"]) == (400, True)
