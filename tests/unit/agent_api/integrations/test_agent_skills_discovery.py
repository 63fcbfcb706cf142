"""The discovery index names what is published, by the digests of the very bytes that it leads to."""

from __future__ import annotations

import hashlib
import io
import zipfile
from datetime import timedelta
from typing import Any
from urllib.parse import urljoin

import pytest
from django.test import Client
from django.utils import timezone

from capability_rules.agent_skills.importer import import_skill
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.validation import validate_bundle
from features.sharing import share_links
from features.sharing.models import ShareLink
from registry.models import LoadCount, Revision
from registry.publishing import publication
from registry.usage.usage_counters import flush
from studio.config.parsers import Rate
from tests.factories import OLGA, agent_key, damage, publish, tool, unlisted

pytestmark = pytest.mark.django_db
INDEX = "/.well-known/agent-skills/index.json"


@pytest.fixture(autouse=True)
def public(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = True


def _get(path: str, **headers: str) -> Any:
    return Client().get(path, headers=headers)


def _index(base: str = "") -> dict[str, dict[str, Any]]:
    response = _get(base + INDEX)
    assert response.status_code == 200, response.content
    document = response.json()
    assert document["$schema"] == "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    return {row["name"]: row for row in document["skills"]}


def _link(**options: Any) -> str:
    return share_links.create_link(name="partner", by=OLGA, **options)[1].removeprefix("http://127.0.0.1:8000")


def test_the_index_and_the_artifacts_agree() -> None:
    publish("alpha_two", [tool("alpha_list")], utterances={"should_match": ["secret words"]})
    publish("beta", intent_triggers=None, skill_profile="agent_skill", name="beta")
    rows = _index()
    assert list(rows) == ["alpha-two", "beta"]
    assert rows["alpha-two"]["type"] == "archive"
    assert rows["beta"] | {"digest": ""} == {
        "name": "beta",
        "type": "skill-md",
        "description": "Everything about Beta.",
        "url": "beta/1/SKILL.md",
        "digest": "",
    }
    for row in rows.values():
        artifact = _get(urljoin(INDEX, row["url"]))
        assert artifact.status_code == 200
        assert "sha256:" + hashlib.sha256(artifact.content).hexdigest() == row["digest"]
        assert b"secret" not in artifact.content
        expected = "application/zip" if row["type"] == "archive" else "text/markdown; charset=utf-8"
        assert artifact.headers["Content-Type"] == expected


def test_the_archive_holds_what_is_loaded() -> None:
    publish("alpha_two", [tool("alpha_list")])
    response = _get(urljoin(INDEX, _index()["alpha-two"]["url"]))
    assert response.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    bundle = validate_bundle(import_skill(SourceBundle("", dict(files))).files or {}).bundle
    assert bundle is not None
    assert bundle.digest == Revision.objects.get().digest


def test_conditional_reads() -> None:
    publish("alpha")
    first = _get(INDEX)
    again = _get(INDEX, **{"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert first.headers["Cache-Control"] == "public, max-age=0, must-revalidate"
    publish("alpha", body="Two.")
    assert _get(INDEX, **{"If-None-Match": first.headers["ETag"]}).status_code == 200


def test_an_older_artifact_stays_until_the_capability_is_retired() -> None:
    publish("alpha")
    before = urljoin(INDEX, _index()["alpha"]["url"])
    publish("alpha", body="Two.")
    assert _index()["alpha"]["url"].startswith("alpha/2/")
    assert _get(before).status_code == 200
    assert _get(before.replace("/1/", "/9/")).status_code == 404
    publication.retire(capability_id="alpha", by=OLGA)
    assert _index() == {}
    assert _get(before).status_code == 404


def test_without_a_key_only_where_that_is_allowed(settings: Any) -> None:
    publish("alpha")
    url = urljoin(INDEX, _index()["alpha"]["url"])
    settings.AGENT_API_PUBLIC_READ = False
    key = {"Authorization": f"Bearer {agent_key()}"}
    for path in (INDEX, url):
        assert _get(path).status_code == 401
        response = _get(path, **key)
        assert (response.status_code, response.headers["Cache-Control"]) == (200, "private, no-cache")


def test_other_methods_and_odd_addresses() -> None:
    publish("alpha")
    response = Client().post(INDEX)
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")
    for path in ("alpha/1/other.zip", "alpha/1/../x", "Alpha/1/SKILL.md", "alpha/x/SKILL.md", "beta/1/SKILL.md"):
        assert _get(f"/.well-known/agent-skills/{path}").status_code == 404


def test_a_damaged_bundle_is_left_out_and_its_artifact_refused() -> None:
    publish("alpha")
    publish("beta")
    damage(Revision.objects.get(capability__capability_id="alpha"), skill_md="x")
    assert list(_index()) == ["beta"]
    assert _get("/.well-known/agent-skills/alpha/1/SKILL.md").status_code == 422


def test_a_warm_read_asks_no_database(django_assert_num_queries: Any) -> None:
    from registry.snapshot import STORE

    publish("alpha")
    url = urljoin(INDEX, _index()["alpha"]["url"])
    base = _link()
    STORE.is_watched = True
    STORE.refresh()
    for path in (INDEX, base + INDEX, url, base + url):
        _get(path)
    with django_assert_num_queries(0):
        for path in (INDEX, base + INDEX, url, base + url):
            assert _get(path).status_code == 200


def test_downloads_are_counted_as_loads() -> None:
    publish("alpha")
    base = _link()
    _get(urljoin(base + INDEX, _index(base)["alpha"]["url"]))
    flush()
    assert list(LoadCount.objects.values_list("capability_id", "revision", "key_name", "count")) == [
        ("alpha", 1, "share:partner", 1)
    ]


# Share links


def test_a_share_link_opens_without_a_key(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = False
    publish("alpha")
    base = _link()
    response = _get(base + INDEX)
    assert (response.status_code, response.headers["Cache-Control"]) == (200, "private, no-cache")
    assert _get(urljoin(base + INDEX, _index(base)["alpha"]["url"])).status_code == 200


def test_a_share_link_shows_its_group_alone() -> None:
    publish("alpha", skill_groups=["fitness"])
    publish("beta")
    base = _link(skill_group="fitness")
    assert list(_index(base)) == ["alpha"]
    assert _get(f"{base}/.well-known/agent-skills/beta/1/beta.zip").status_code == 404
    assert list(_index()) == ["alpha", "beta"]


def test_a_link_that_is_revoked_or_past_its_end_opens_nothing() -> None:
    base = _link(days=1)
    assert _get(base + INDEX).status_code == 200
    ShareLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    from registry.snapshot import STORE

    STORE.forget()
    assert _get(base + INDEX).status_code == 404
    ShareLink.objects.update(expires_at=None)
    STORE.forget()
    assert _get(base + INDEX).status_code == 200
    share_links.revoke_link(name="partner", by=OLGA)
    assert _get(base + INDEX).status_code == 404


def test_guessing_is_limited(settings: Any) -> None:
    settings.RATE_LIMITS = {"guess": Rate(count=3, seconds=60)}
    good = _link()
    codes = [_get(f"/share/{'x' * 30}{number:03}{INDEX}").status_code for number in range(5)]
    assert codes == [404, 404, 404, 429, 429]
    assert _get(good + INDEX).status_code == 200


def test_what_is_not_listed_is_in_no_index() -> None:
    publish("alpha", skill_groups=["fitness"])
    unlisted("hidden", skill_groups=["fitness"])
    base = _link(skill_group="fitness")
    for prefix in ("", base):
        assert list(_index(prefix)) == ["alpha"]
        assert _get(f"{prefix}/.well-known/agent-skills/hidden/1/SKILL.md").status_code == 404
        assert _get(f"{prefix}/.well-known/agent-skills/hidden/1/hidden.zip").status_code == 404
