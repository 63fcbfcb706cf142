"""What `deploy/api_changes.py` calls a change that can break a caller."""

from __future__ import annotations

import copy
import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers import ROOT

OLD: dict[str, Any] = {
    "paths": {
        "/list": {
            "get": {
                "parameters": [{"name": "page", "in": "query"}],
                "responses": {
                    "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Row"}}}}
                },
            },
            "post": {
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"required": ["id"], "properties": {"id": {}, "note": {}}}}
                    }
                },
                "responses": {"200": {}},
            },
        }
    },
    "components": {
        "schemas": {"Row": {"properties": {"id": {}, "parts": {"items": {"$ref": "#/components/schemas/Row"}}}}}
    },
}
SENT = ("paths", "/list", "post", "requestBody", "content", "application/json", "schema")


def _changed(*path: str, **values: Any) -> dict[str, Any]:
    document = copy.deepcopy(OLD)
    part = document
    for step in path:
        part = part[step]
    for name, value in values.items():
        if value is None:
            del part[name]
        else:
            part[name] = value
    return document


@pytest.mark.parametrize(
    ("new", "breaks", "words"),
    [
        (OLD, False, ""),
        (_changed("paths", "/list", post=None), True, "`POST /list` is gone"),
        (_changed("paths", "/list", put={}), False, "`PUT /list` is new"),
        (_changed("paths", "/list", "get", parameters=[]), True, "parameter `page` is gone"),
        (
            _changed("paths", "/list", "get", parameters=[{"name": "page", "in": "query", "required": True}]),
            True,
            "parameter `page` is required",
        ),
        (_changed(*SENT, required=["id", "note"]), True, "field `note` is required"),
        (_changed(*SENT, properties={"id": {}}), True, "field `note` is no longer taken"),
        (_changed(*SENT, properties={"id": {}, "note": {}, "more": {}}), False, "field `more` is taken"),
        (_changed("components", "schemas", "Row", properties={"parts": {}}), True, "field `id` of 200 is gone"),
        (_changed("paths", "/list", "post", responses={"200": {}, "409": {}}), False, "answers 409 too"),
    ],
)
def test_changes(new: dict[str, Any], breaks: bool, words: str) -> None:
    changes = runpy.run_path(str(ROOT / "deploy" / "api_changes.py"))["list_changes"](OLD, new)
    assert [is_breaking for is_breaking, _ in changes] == [breaks] * bool(words)
    assert all(words in text for _, text in changes)


def test_two_documents_are_compared(tmp_path: Path) -> None:
    places = []
    for name, document in (("old.json", OLD), ("new.json", _changed("paths", "/list", post=None))):
        places.append(str(tmp_path / name))
        (tmp_path / name).write_text(json.dumps(document), "utf-8")
    command = [sys.executable, "deploy/api_changes.py", *places]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == "### Callers have to look at\n\n- `POST /list` is gone\n\n### New\n\nNothing.\n\n"
