"""Modules that share one running product do not see what another has written."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tests.bundle_files import bundle
from tests.servers import Studio, lend_studio

pytestmark = [pytest.mark.system, pytest.mark.slow]


def _list(studio: Studio, **headers: str) -> httpx2.Response:
    return httpx2.get(f"{studio.url}/api/v1/capability_registry_list", headers=headers, timeout=30)


def _names(studio: Studio) -> set[str]:
    entries: list[dict[str, Any]] = _list(studio).json()["capabilities"]
    return {entry["capability_id"] for entry in entries}


def test_whoever_borrows_it_next_has_it_as_it_was_prepared() -> None:
    with lend_studio() as studio:
        before = _names(studio)
        key = studio.manage("agent_key", "create", "pipeline", "--scopes", "read,publish").stdout.strip()
        bearer = {"Authorization": f"Bearer {key}"}
        body = {"bundles": [{"path": "lent", "files": bundle("lent")}]}
        url = f"{studio.url}/api/v1/operator/bundle_publish"
        published = httpx2.post(url, json=body, headers=bearer, timeout=30)
        assert published.json()["results"][0]["status"] == "published"
        assert _names(studio) == {*before, "lent"}
        (studio.data_dir / "written").mkdir()
    with lend_studio() as again:
        assert again.url == studio.url
        assert _names(again) == before
        assert _list(again, **bearer).status_code == 401
        load = f"{again.url}/api/v1/capability_skill_load?capability_id=lent"
        assert httpx2.get(load, timeout=30).status_code == 404
        assert not (again.data_dir / "written").exists()
        assert "lent" not in again.manage("bundle", "list").stdout
