"""`manage.py git_source`, on a repository behind https."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from registry.common.net.webhook_signatures import generate_secret
from registry.models import Revision
from tests.factories import bundle, publish
from tests.git_https import commit, git, make_certificate, served

pytestmark = pytest.mark.django_db


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, {f"bundles/alpha/{name}": text for name, text in bundle("alpha").items()})
    return folder


@pytest.fixture
def url(repository: Path, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    certificate = make_certificate(tmp_path)
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate[0]))
    with served(repository, certificate) as address:
        yield address


def test_a_source_from_its_beginning_to_its_end(manage: Any, url: str, repository: Path) -> None:
    added = manage("git_source", "add", url, "--branch", "main", "--folder", "bundles", "--publish", "--format", "json")
    row = added.document
    source_id = str(row["id"])
    assert (row["source"], row["mode"], row["every_minutes"]) == (f"{url}@main#bundles", "publish", 60)
    assert "not read yet" in manage("git_source", "list").out
    before = manage("git_source", "drift", source_id)
    assert (before.code, "alpha  not_published" in before.out) == (1, True)
    synced = manage("git_source", "sync", source_id)
    assert (synced.code, synced.out.splitlines()[0]) == (0, "alpha  published")
    assert "0 imported, 1 unchanged" in manage("git_source", "sync", source_id).out
    agreed = manage("git_source", "drift", source_id)
    assert (agreed.code, agreed.out.strip()) == (0, "The source and the registry agree")
    publish("alpha", body="Fixed here.")
    (entry,) = manage("git_source", "drift", source_id, "--format", "json").document["drift"]
    assert (entry["capability_id"], entry["difference"]) == ("alpha", "registry_changed")
    (listed,) = manage("git_source", "list", "--format", "json").document["git_sources"]
    assert listed["commit"] == git(repository, "rev-parse", "HEAD").strip()
    assert [item["status"] for item in listed["bundles"]] == ["published"]
    assert "no longer followed" in manage("git_source", "remove", source_id).out
    assert manage("git_source", "list").out == ""
    assert Revision.objects.count() == 2


def test_a_refused_bundle_is_an_exit_code_and_a_line_in_the_list(manage: Any, url: str, repository: Path) -> None:
    commit(repository, {"bundles/alpha/capability.json": "{"})
    source_id = str(manage("git_source", "add", url, "--publish", "--format", "json").document["id"])
    synced = manage("git_source", "sync", source_id, "--format", "json")
    assert synced.code == 1
    assert [item["status"] for item in synced.document["taken"]] == ["refused"]
    assert "refused" in manage("git_source", "list").out


def test_a_repository_that_is_away_is_told(manage: Any, url: str, repository: Path) -> None:
    source_id = str(manage("git_source", "add", f"{url}x", "--format", "json").document["id"])
    failed = manage("git_source", "sync", source_id)
    assert (failed.code, "SOURCE_UNREADABLE" in failed.err) == (1, True)
    assert "failed 1 times" in manage("git_source", "list").out
    assert manage("git_source", "drift", source_id).code == 1


def test_the_secret_of_its_pushes_is_printed_once(manage: Any, settings: Any) -> None:
    settings.PUBLIC_URL = "https://studio.example.com"
    source_id = str(manage("git_source", "add", "https://git.example/a", "--format", "json").document["id"])
    made = manage("git_source", "secret", source_id, "--format", "json").document
    assert made["address"] == f"https://studio.example.com/hooks/sources/{source_id}"
    assert len(made["secret"]) >= 40
    assert made["old_secret_until"] is None
    rotated = manage("git_source", "secret", source_id).out
    assert made["secret"] not in rotated
    assert f"end it now with: git_source secret {source_id} --end-old" in rotated
    (listed,) = manage("git_source", "list", "--format", "json").document["git_sources"]
    assert listed["old_secret_until"] in rotated
    assert "the old secret is void" in manage("git_source", "secret", source_id, "--end-old").out
    assert "end it now" not in manage("git_source", "list").out
    (listed,) = manage("git_source", "list", "--format", "json").document["git_sources"]
    assert (listed["has_secret"], listed["last_push"]) == (True, None)
    assert "nothing is taken" in manage("git_source", "secret", source_id, "--drop").out
    assert manage("git_source", "list", "--format", "json").document["git_sources"][0]["has_secret"] is False


def test_another_registry_is_followed_and_the_way_changed(manage: Any) -> None:
    added = manage("git_source", "add", "https://studio.example.com", "--registry", "--format", "json").document
    assert (added["kind"], added["mode"], added["may_adopt"], added["has_key"]) == ("registry", "draft", False, False)
    source_id = str(added["id"])
    ways = ("--publish", "--every", "10", "--adopt")
    changed = manage("git_source", "change", source_id, *ways, "--format", "json").document
    assert (changed["mode"], changed["every_minutes"], changed["may_adopt"]) == ("publish", 10, True)
    left = manage("git_source", "change", source_id, "--leave", "--format", "json").document
    assert (left["mode"], left["every_minutes"], left["may_adopt"]) == ("publish", 10, False)
    assert manage("git_source", "secret", source_id).code == 1
    kept = manage("git_source", "secret", source_id, "--given-stdin", stdin=generate_secret())
    assert (kept.code, f"/hooks/sources/{source_id} accepts what" in kept.out) == (0, True)
    assert manage("git_source", "add", "https://b.example", "--registry", "--branch", "main").code == 1
    assert manage("git_source", "add", "https://git.example/a", "--adopt").code == 1


def test_a_new_secret_stands_on_a_line_of_its_own(manage: Any) -> None:
    source_id = str(manage("git_source", "add", "https://git.example/a", "--format", "json").document["id"])
    printed = manage("git_source", "secret", source_id).out.splitlines()
    assert [line.split()[0] for line in printed[:2]] == ["address", "secret"]
    assert "<U+000A>" not in "".join(printed)


def test_odd_arguments_are_refused(manage: Any) -> None:
    for arguments in (["http://git.example/a"], ["https://git.example/a", "--every", "1"]):
        refused = manage("git_source", "add", *arguments)
        assert (refused.code, refused.err.startswith("error[")) == (1, True)
    assert manage("git_source", "add", "https://git.example/a", "--draft", "--publish").code == 2
    for verb in ("sync", "drift", "remove", "change", "secret"):
        assert "No git source has the number 9" in manage("git_source", verb, "9").err
