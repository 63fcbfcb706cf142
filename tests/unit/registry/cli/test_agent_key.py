"""`manage.py agent_key`."""

from __future__ import annotations

from typing import Any

import pytest

from registry.access.agent_keys import hash_key
from registry.access.teams import create_team
from registry.models import AgentKey
from tests.factories import OLGA

pytestmark = pytest.mark.django_db


def test_a_new_key_is_printed_alone(manage: Any) -> None:
    done = manage("agent_key", "create", "my agent")
    assert (done.code, done.err) == (0, "")
    assert done.out == done.out.strip() + "\n"
    row = AgentKey.objects.get()
    assert row.key_hash == hash_key(done.out.strip())
    assert (row.name, row.scopes) == ("my agent", ["read", "feedback"])


def test_scopes_and_json(manage: Any) -> None:
    done = manage("agent_key", "create", "ci", "--scopes", "publish, read", "--format", "json")
    assert set(done.document) == {"name", "scopes", "team", "capabilities", "key"}
    assert done.document["scopes"] == ["read", "publish"]


@pytest.mark.parametrize("arguments", [["x", "--scopes", "root"], ["x", "--scopes", ""], [""], ["a\x1b[31m"]])
def test_an_odd_name_or_scope_is_refused(manage: Any, arguments: list[str]) -> None:
    done = manage("agent_key", "create", *arguments)
    assert (done.code, done.out) == (1, "")
    assert "INVALID_REQUEST" in done.err
    assert "\x1b" not in done.err


def test_a_name_is_taken_once(manage: Any) -> None:
    manage("agent_key", "create", "x")
    done = manage("agent_key", "create", "x", "--format", "json")
    assert (done.code, done.document["error"]["code"]) == (1, "NAME_TAKEN")


def test_list_and_revoke(manage: Any) -> None:
    key = manage("agent_key", "create", "x").out.strip()
    for done in (manage("agent_key", "list"), manage("agent_key", "list", "--format", "json")):
        assert done.code == 0
        assert key not in done.out
        assert key[:8] in done.out
    assert manage("agent_key", "list", "--format", "json").document["keys"][0]["revoked_at"] is None
    assert manage("agent_key", "revoke", "x").out == "x: revoked\n"
    assert "revoked" in manage("agent_key", "list").out
    assert manage("agent_key", "revoke", "x", "--format", "json").document["revoked_at"]
    done = manage("agent_key", "revoke", "nobody")
    assert (done.code, "NOT_FOUND" in done.err) == (1, True)


def test_a_key_of_a_team_and_one_of_capabilities(manage: Any) -> None:
    create_team(name="Health", by=OLGA)
    made = manage("agent_key", "create", "t", "--scopes", "publish", "--team", "Health", "--format", "json")
    assert (made.document["team"], made.document["capabilities"]) == ("Health", None)
    assert manage("agent_key", "create", "c", "--scopes", "publish", "--capabilities", "beta, alpha").code == 0
    first, second = manage("agent_key", "list", "--format", "json").document["keys"]
    assert (first["team"], first["capabilities"]) == (None, ["alpha", "beta"])
    assert (second["team"], second["capabilities"]) == ("Health", None)
    listed = manage("agent_key", "list").out
    assert ("changes team Health" in listed, "changes alpha,beta" in listed) == (True, True)
    for odd, code in ((("--team", "Nobody"), "NOT_FOUND"), (("--capabilities", "No"), "INVALID_REQUEST"),
                      (("--team", "Health", "--capabilities", "alpha"), "INVALID_REQUEST")):  # fmt: skip
        done = manage("agent_key", "create", "odd", "--scopes", "publish", *odd)
        assert (done.code, code in done.err) == (1, True)


def test_a_limited_key(manage: Any) -> None:
    done = manage("agent_key", "create", "x", "--groups", "b, a", "--read-only-tools", "--preview")
    assert done.code == 0
    row = AgentKey.objects.get()
    assert (row.groups, row.read_only_tools, row.preview) == (["a", "b"], True, True)
    assert "  groups a,b; no write tools; preview  " in manage("agent_key", "list").out
    (listed,) = manage("agent_key", "list", "--format", "json").document["keys"]
    assert (listed["groups"], listed["read_only_tools"], listed["preview"]) == (["a", "b"], True, True)


@pytest.mark.parametrize("groups", ["", ",", "A", "a b", "a,_"])
def test_an_odd_group_is_refused(manage: Any, groups: str) -> None:
    """A key that is limited to nothing readable must not become one without limits."""
    done = manage("agent_key", "create", "x", "--groups", groups)
    assert (done.code, "INVALID_REQUEST" in done.err) == (1, True)
    assert not AgentKey.objects.exists()
