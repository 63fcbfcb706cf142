"""The digest, as any client can recompute it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
import rfc8785

from capability_kit.bundles.digest import bundle_digest, digest_of_load

PARTS: dict[str, Any] = {
    "capability": {"name": "Größe", "capability_id": "a"},
    "skill_doc": "# A\n",
    "tools": [],
    "ui_schemas": [],
}


def test_it_is_what_the_contract_says() -> None:
    canonical = '{"capability":{"capability_id":"a","name":"Größe"},"skill_doc":"# A\\n","tools":[],"ui_schemas":[]}'
    expected = "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()
    assert bundle_digest(**PARTS) == expected
    assert digest_of_load({"digest": "x", "revision": 7, "confidence": {}, **PARTS}) == expected


@pytest.mark.parametrize(
    ("one", "other"), [(1, 1.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (1e21, 1e21), (-0.0, 0), ("\u00e9", "é")]
)
def test_equal_values_have_one_digest(one: Any, other: Any) -> None:
    assert bundle_digest(**PARTS | {"tools": [one]}) == bundle_digest(**PARTS | {"tools": [other]})


@pytest.mark.parametrize(("one", "other"), [("é", "e\u0301"), ([1, 2], [2, 1]), (1, "1"), (None, False), ("a", "a\n")])
def test_other_values_have_another(one: Any, other: Any) -> None:
    assert bundle_digest(**PARTS | {"tools": [one]}) != bundle_digest(**PARTS | {"tools": [other]})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53 + 1])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        bundle_digest(**PARTS | {"tools": [value]})


def test_json_on_the_wire_keeps_it() -> None:
    parts = PARTS | {"tools": [{"x": 0.1, "y": 1e-7, "z": 123456789.5, "w": 2**53 - 1}]}
    assert bundle_digest(**json.loads(json.dumps(parts))) == bundle_digest(**parts)
