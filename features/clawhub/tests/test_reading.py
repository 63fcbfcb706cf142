"""ClawHub's protocol, reading: the same skills and bytes as by every other door."""

from __future__ import annotations

import hashlib
import io
import zipfile
from typing import Any

import pytest
from django.test import Client

from features.sharing import share_links
from registry.models import LoadCount, Revision
from registry.publishing import publication
from registry.usage.usage_counters import flush
from tests.factories import OLGA, bearer, bundle, damage, publish, tool, unlisted

pytestmark = pytest.mark.django_db
API = "/clawhub/api/v1/"


@pytest.fixture(autouse=True)
def public(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = True


def _get(address: str, headers: dict[str, str] | None = None, /, **query: Any) -> Any:
    return Client().get(address if address.startswith("/") else API + address, query, headers=headers or {})


def _json(address: str, headers: dict[str, str] | None = None, /, **query: Any) -> Any:
    response = _get(address, headers, **query)
    assert response.status_code == 200, response.content
    return response.json()


def _refusal(response: Any, status: int) -> str:
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    return str(response.content.decode())


def _hash(archive: bytes) -> str:
    """As the client does over what it has unpacked; its collation puts `references` before `SKILL.md`."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        lines = [f"{name}:{hashlib.sha256(files.read(name)).hexdigest()}" for name in files.namelist()]
    return hashlib.sha256("\n".join(sorted(lines, key=str.lower)).encode()).hexdigest()


def test_the_site_says_where_the_registry_is() -> None:
    assert _json("/.well-known/clawhub.json") == {
        "apiBase": "http://testserver/clawhub", "authBase": "http://testserver", "minCliVersion": "0.1.0",
    }  # fmt: skip


def test_whoami_names_the_key() -> None:
    user = _json("whoami", bearer("propose", name="CI of Ann"))["user"]
    assert user == {"handle": "ci-of-ann", "displayName": "CI of Ann", "image": None, "role": "user"}
    assert "clawhub login" in _refusal(_get("whoami"), 401)
    assert "The key is unknown" in _refusal(_get("whoami", {"Authorization": "Bearer nonsense"}), 401)


def test_search_tells_version_owner_and_score() -> None:
    publish("tea_timer", description="Times tea.")
    publish("weights")
    row = _json("search", q="tea", limit="25")["results"][0]
    assert 0 < row.pop("score") <= 1
    assert row.pop("updatedAt") > 1_600_000_000_000
    assert row == {
        "slug": "tea-timer", "displayName": "Tea Timer", "summary": "Times tea.", "version": "1.0.1",
        "ownerHandle": "studio", "owner": {"handle": "studio", "displayName": "Capability Studio", "image": None},
    }  # fmt: skip
    assert [row["slug"] for row in _json("search", q="tea timer", mode="exact")["results"]] == ["tea-timer"]
    assert "q is missing" in _refusal(_get("search"), 400)


def test_explore_goes_page_by_page() -> None:
    for name in ("alpha", "beta", "gamma"):
        publish(name)
    publish("alpha", body="Changed.")
    assert [row["slug"] for row in _json("skills")["items"]] == ["alpha", "gamma", "beta"]
    first = _json("skills", limit="2", sort="createdAt")
    assert [row["slug"] for row in first["items"]] == ["gamma", "beta"]
    second = _json("skills", limit="2", sort="createdAt", cursor=first["nextCursor"])
    assert ([row["slug"] for row in second["items"]], second["nextCursor"]) == (["alpha"], None)
    assert second["items"][0]["tags"] == {"latest": "1.0.2"}
    assert [row["slug"] for row in _json("skills", prefix="ga")["items"]] == ["gamma"]
    assert _json("skills", cursor="99")["items"] == []
    for query in ({"limit": "0"}, {"limit": "999"}, {"cursor": "x"}):
        _refusal(_get("skills", **query), 400)


def test_a_page_costs_the_same_however_much_there_is(django_assert_max_num_queries: Any) -> None:
    for number in range(12):
        publish(f"many_{number}")
    _json("skills")
    with django_assert_max_num_queries(6):
        assert len(_json("skills", sort="createdAt")["items"]) == 12


def test_a_skill_and_its_versions() -> None:
    publish("alpha")
    outcome = publication.publish(files=bundle("alpha", body="Two."), by=OLGA, note="Shorter")
    assert outcome.revision == 2
    one = _json("skills/alpha")
    assert one["latestVersion"]["version"] == "1.0.2"
    assert one["latestVersion"]["changelog"] == "Shorter"
    assert (one["owner"]["handle"], one["moderation"]) == ("studio", None)
    assert _json("skills/alpha/moderation") == {"moderation": None}
    page = _json("skills/alpha/versions", limit="1")
    assert ([row["version"] for row in page["items"]], page["nextCursor"]) == (["1.0.2"], "2")
    rest = _json("skills/alpha/versions", cursor="2")
    assert ([row["version"] for row in rest["items"]], rest["nextCursor"]) == (["1.0.1"], None)


def test_after_a_rollback_the_older_version_is_the_newest() -> None:
    publish("alpha")
    publish("alpha", body="Two.")
    publication.rollback(capability_id="alpha", to=1, by=OLGA)
    assert _json("skills/alpha")["latestVersion"]["version"] == "1.0.1"


def test_the_files_of_a_version_are_told_and_given() -> None:
    publish("alpha", [tool("alpha_list")])
    publish("alpha", [tool("alpha_list")], body="Two.")
    version = _json("skills/alpha/versions/1.0.1")["version"]
    assert [row["path"] for row in version["files"]] == [
        "SKILL.md", "references/capability.json", "references/tools.json",
    ]  # fmt: skip
    for row in version["files"]:
        content = _get("skills/alpha/file", path=row["path"], version="1.0.1").content
        assert (len(content), hashlib.sha256(content).hexdigest()) == (row["size"], row["sha256"])
    assert b"Two." in _get("skills/alpha/file", path="SKILL.md").content
    assert b"Two." in _get("skills/alpha/file", path="SKILL.md", tag="latest").content
    for query in ({"path": "skill.md"}, {"path": "../x"}, {"path": "zip"}, {}):
        assert "File not found" in _refusal(_get("skills/alpha/file", **query), 404)


def test_a_download_is_the_archive_of_the_discovery_index_and_a_load() -> None:
    publish("alpha", [tool("alpha_list")])
    publish("alpha", [tool("alpha_list")], body="Two.")
    got = _get("download", slug="alpha", ownerHandle="studio", version="1.0.2")
    assert got.headers["Content-Type"] == "application/zip"
    assert got.content == _get("/.well-known/agent-skills/alpha/2/alpha.zip").content
    assert b"Two." not in _get("download", slug="alpha", version="1.0.1").content
    flush()
    assert sum(LoadCount.objects.filter(revision=1).values_list("count", flat=True)) == 1


def test_even_a_lone_skill_md_comes_as_a_zip() -> None:
    publish("beta", intent_triggers=None, skill_profile="agent_skill", name="beta")
    with zipfile.ZipFile(io.BytesIO(_get("download", slug="beta").content)) as archive:
        assert archive.namelist() == ["SKILL.md"]


def test_a_local_copy_is_known_again() -> None:
    publish("alpha", [tool("alpha_list")])
    publish("alpha", [tool("alpha_list")], body="Two.")
    for version in ("1.0.1", "1.0.2"):
        hashed = _hash(_get("download", slug="alpha", version=version).content)
        assert _json("resolve", slug="alpha", hash=hashed) == {
            "match": {"version": version}, "latestVersion": {"version": "1.0.2"},
        }  # fmt: skip
    assert _json("resolve", slug="alpha", hash="0" * 64)["match"] is None
    assert "Skill not found" in _refusal(_get("resolve", slug="nothing", hash="0" * 64), 404)
    _refusal(_get("resolve", slug="alpha"), 400)
    _refusal(_get("resolve", hash="0"), 400)


@pytest.mark.parametrize(
    "path",
    ["skills/nothing", "skills/Alpha", "skills/al_pha", "skills/alpha/versions/2.0.0", "skills/alpha/versions/1.0.9",
     "skills/alpha/versions/1.0.01", "download?slug=alpha&version=latest2", "stars/alpha", "skills/alpha/verify", ""],
)  # fmt: skip
def test_what_is_not_there_is_said_in_plain_words(path: str) -> None:
    publish("alpha")
    _refusal(_get(path), 404)


def test_another_owner_has_nothing_here() -> None:
    publish("alpha")
    assert _json("skills/alpha", ownerHandle="@studio")["skill"]["slug"] == "alpha"
    assert _json("skills/alpha", bearer("read", name="Ann"), ownerHandle="ann")["skill"]["slug"] == "alpha"
    assert "@other/alpha" in _refusal(_get("skills/alpha", ownerHandle="other"), 404)


@pytest.mark.parametrize(
    "path", ["skills", "skills/alpha", "skills/alpha/versions", "skills/alpha/file?path=SKILL.md", "search?q=alpha",
             "download?slug=alpha", "resolve?slug=alpha&hash=0", "skills/alpha/moderation"],
)  # fmt: skip
def test_reads_need_a_key_where_nothing_is_public(path: str, settings: Any) -> None:
    publish("alpha")
    settings.AGENT_API_PUBLIC_READ = False
    assert _get(path).headers["WWW-Authenticate"].startswith("Bearer")
    _refusal(_get(path), 401)
    assert "scope 'read'" in _refusal(_get(path, bearer("publish", name="p")), 403)
    assert _get(path, bearer("read", name="r")).status_code == 200


def test_what_a_key_may_not_see_is_not_there() -> None:
    unlisted("secret")
    publish("writes", [tool("writes_save", "write")])
    publish("reads", [tool("reads_list")])
    assert [row["slug"] for row in _json("skills")["items"]] == ["reads", "writes"]
    _refusal(_get("skills/secret"), 404)
    _refusal(_get("download", slug="secret"), 404)
    careful = bearer("read", read_only_tools=True)
    assert [row["slug"] for row in _json("skills", careful)["items"]] == ["reads"]


def test_a_key_without_write_tools_gets_no_older_version() -> None:
    publish("alpha", [tool("alpha_save", "write")])
    publish("alpha", [tool("alpha_list")])
    careful = bearer("read", read_only_tools=True)
    assert [row["version"] for row in _json("skills/alpha/versions", careful)["items"]] == ["1.0.2"]
    _refusal(_get("download", careful, slug="alpha", version="1.0.1"), 404)
    _refusal(_get("skills/alpha/versions/1.0.1", careful), 404)
    _refusal(_get("skills/alpha/file", careful, path="SKILL.md", version="1.0.1"), 404)


def test_a_retired_skill_is_gone_with_all_its_versions() -> None:
    publish("alpha")
    publication.retire(capability_id="alpha", by=OLGA)
    for path in ("skills/alpha", "skills/alpha/versions", "download?slug=alpha&version=1.0.1"):
        _refusal(_get(path), 404)


def test_a_damaged_skill_is_refused_in_words() -> None:
    publish("alpha")
    damage(Revision.objects.get(), skill_md="x")
    assert "alpha" in _refusal(_get("download", slug="alpha"), 422)


def test_below_a_share_link_no_key_is_needed(settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = False
    publish("alpha", skill_groups=["health"])
    publish("beta")
    link = share_links.create_link(name="partner", by=OLGA, skill_group="health")[1]
    base = link.removeprefix("http://127.0.0.1:8000")
    assert _json(f"{base}/.well-known/clawhub.json")["apiBase"] == f"http://testserver{base}/clawhub"
    assert [row["slug"] for row in _json(f"{base}{API}skills")["items"]] == ["alpha"]
    assert _get(f"{base}{API}download", slug="alpha").status_code == 200
    _refusal(_get(f"{base}{API}skills/beta"), 404)
    _refusal(_get(f"/share/{'x' * 43}{API}skills"), 404)


def test_other_methods_are_refused() -> None:
    response = Client().delete(f"{API}skills/alpha")
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")
    assert response.headers["Content-Type"].startswith("text/plain")
