"""What a capability's page says of its needs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from registry.publishing import publication
from registry.selectors.need_overview import describe_needs
from tests.factories import OLGA, bundle, publish

pytestmark = pytest.mark.django_db


def _needing(**dependencies: Any) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(bundle("alpha")["capability.json"])
    return facts | {"dependencies": dependencies}


def test_overview_names_both_sides() -> None:
    publish("beta")
    capability = _needing(skills=["beta", "gone"], mcp_servers=["github"])
    files = bundle("alpha") | {"capability.json": json.dumps(capability)}
    assert publication.publish(files=files, by=OLGA).status == "published"
    needs = describe_needs(capability)
    assert list(needs.mcp_servers) == ["github"]
    assert [(one.capability_id, one.is_loadable) for one in needs.skills] == [("beta", True), ("gone", False)]
    other = describe_needs({"capability_id": "beta"})
    assert [one.capability_id for one in other.needed_by] == ["alpha"]


def test_overview_of_a_capability_without_dependencies_is_empty() -> None:
    assert not describe_needs(json.loads(bundle("alpha")["capability.json"]))
