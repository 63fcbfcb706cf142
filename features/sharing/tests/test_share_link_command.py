"""`manage.py share_link`."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.django_db


@pytest.mark.both_databases
def test_create_list_and_revoke(manage: Any) -> None:
    done = manage("share_link", "create", "partner", "--group", "fitness")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("http://127.0.0.1:8000/share/")
    token = done.out.strip().rpartition("/")[2]
    done = manage("share_link", "list")
    assert done.out == f"partner  {token[:4]}…  fitness  until it is revoked\n"
    (row,) = manage("share_link", "list", "--format", "json").document["share_links"]
    assert (row["name"], row["group"], row["revoked_at"]) == ("partner", "fitness", None)
    assert manage("share_link", "revoke", "partner").out == "partner: revoked\n"
    assert "revoked" in manage("share_link", "list").out
    assert manage("share_link", "revoke", "nobody", "--format", "json").document["error"]["code"] == "NOT_FOUND"


def test_json_tells_the_address(manage: Any) -> None:
    document = manage("share_link", "create", "partner", "--days", "3", "--format", "json").document
    assert document["url"].startswith("http://127.0.0.1:8000/share/")
    assert document["expires_at"] is not None
    assert manage("share_link", "create", "partner").code == 1
