"""One real product follows another: the same digests, what is retired is told, what is forged is refused."""

from __future__ import annotations

import json
import sqlite3
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.factories import bundle
from tests.servers import Studio, start_studio

pytestmark = [pytest.mark.slow, pytest.mark.system]


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[Studio]:
    """With the examples; nothing is read there without a key."""
    folder = _folder(tmp_path, "upstream")
    studio = start_studio(folder, AGENT_API_PUBLIC_READ="off", WEBHOOK_ALLOWED_NETWORKS="127.0.0.0/8")
    yield studio
    studio.stop()


@pytest.fixture
def downstream(tmp_path: Path) -> Iterator[Studio]:
    """With nothing."""
    folder = _folder(tmp_path, "downstream")
    studio = start_studio(folder, IMPORT_ALLOWED_NETWORKS="127.0.0.0/8", EXAMPLES="off")
    yield studio
    studio.stop()


def _folder(tmp_path: Path, name: str) -> Path:
    (tmp_path / name).mkdir()
    return tmp_path / name


def _digests(studio: Studio) -> dict[str, str]:
    rows = json.loads(studio.manage("bundle", "list", "--format", "json").stdout)["capabilities"]
    return {row["capability_id"]: row["digest"] for row in rows if row["status"] == "published"}


def _sync(studio: Studio) -> dict[str, str]:
    done = studio.manage("git_source", "sync", "1", "--format", "json", check=False)
    return {row["capability_id"]: row["status"] for row in json.loads(done.stdout)["taken"]}


def _source(studio: Studio) -> dict[str, Any]:
    (row,) = json.loads(studio.manage("git_source", "list", "--format", "json").stdout)["git_sources"]
    found: dict[str, Any] = row
    return found


def _drift(studio: Studio) -> dict[str, str]:
    done = studio.manage("git_source", "drift", "1", "--format", "json", check=False)
    return {row["capability_id"]: row["difference"] for row in json.loads(done.stdout)["drift"]}


def _match(studio: Studio, message: str) -> dict[str, Any]:
    """The answer of `capability_match`, with a key of its own."""
    key = studio.manage("agent_key", "create", f"for {uuid4()}").stdout.strip()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    body = json.dumps({"message": message}).encode()
    asked = urllib.request.Request(f"{studio.url}/api/v1/capability_match", body, headers)
    with urllib.request.urlopen(asked) as answer:
        found: dict[str, Any] = json.loads(answer.read())
    return found


def _publish(studio: Studio, tmp_path: Path, capability_id: str, **fields: Any) -> None:
    folder = tmp_path / "bundles" / capability_id
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in bundle(capability_id, **fields).items():
        (folder / name).write_text(text, encoding="utf-8")
    studio.manage("bundle", "publish", str(folder))


def _follow(downstream: Studio, upstream: Studio) -> None:
    key = upstream.manage("agent_key", "create", "mirror", "--scopes", "read").stdout
    downstream.manage("git_source", "add", upstream.url, "--registry", "--publish", "--key-stdin", text=key)


def test_a_mirror_has_the_same_digests_and_tells_what_is_retired(
    upstream: Studio, downstream: Studio, tmp_path: Path
) -> None:
    _follow(downstream, upstream)
    assert set(_sync(downstream).values()) == {"published"}
    assert _digests(downstream) == _digests(upstream)
    assert len(_digests(upstream)) == 7
    assert _sync(downstream) == {}
    _publish(upstream, tmp_path, "tea", description="Größer & „anders“ 👋")
    assert _sync(downstream) == {"tea": "published"}
    assert _digests(downstream) == _digests(upstream)
    upstream.manage("bundle", "retire", "tea")
    assert _sync(downstream) == {}
    assert "tea" in _digests(downstream)
    assert _drift(downstream) == {"tea": "gone_from_source"}


@pytest.mark.rare
def test_utterances_stay_in_the_registry_that_has_them(upstream: Studio, downstream: Studio, tmp_path: Path) -> None:
    said = ["is the kettle already singing"]
    _publish(upstream, tmp_path, "tea", utterances={"should_match": said}, triggers=["brew some tea"])
    _follow(downstream, upstream)
    _sync(downstream)
    assert _digests(downstream) == _digests(upstream)
    for name, studio, expected in (("there", upstream, {"should_match": said}), ("here", downstream, None)):
        studio.manage("bundle", "export", "tea", "--to", str(tmp_path / name))
        (exported,) = (tmp_path / name).rglob("capability.json")
        assert json.loads(exported.read_text("utf-8")).get("utterances") == expected, name
    matches = [_match(studio, "Please brew some tea")["matches"] for studio in (upstream, downstream)]
    assert [one[0]["capability_id"] for one in matches] == ["tea", "tea"]
    _publish(
        upstream,
        tmp_path,
        "tea",
        utterances={"should_match": [*said, "did the whistling pot go off"]},
        triggers=["brew some tea"],
    )
    assert _sync(downstream) == {}


@pytest.mark.rare
def test_what_is_published_there_is_told_and_published_here(
    upstream: Studio, downstream: Studio, tmp_path: Path
) -> None:
    _follow(downstream, upstream)
    _sync(downstream)
    downstream.manage("worker", "--once")
    hook = upstream.manage(
        "webhook", "create", "mirror", "--url", f"{downstream.url}/hooks/sources/1", "--format", "json"
    )
    secret = json.loads(hook.stdout)["secret"]
    downstream.manage("git_source", "secret", "1", "--given-stdin", text=secret)
    _publish(upstream, tmp_path, "tea")
    upstream.manage("worker", "--once")
    assert _source(downstream)["last_push"]["words"] == "queued: A look is due now"
    downstream.manage("worker", "--once")
    assert _digests(downstream) == _digests(upstream)
    assert "tea" in _digests(downstream)


def test_what_was_forged_there_is_refused_here(upstream: Studio, downstream: Studio, tmp_path: Path) -> None:
    _publish(upstream, tmp_path, "tea")
    _follow(downstream, upstream)
    _sync(downstream)
    before = _digests(downstream)
    _publish(upstream, tmp_path, "tea", body="Two.")
    upstream.stop()
    # As somebody would who has the database: texts that are not those of the digest.
    with closing(sqlite3.connect(upstream.data_dir / "studio.sqlite3")) as base:
        base.execute("DROP TRIGGER registry_revision_no_update")
        base.execute("UPDATE registry_revision SET skill_md = skill_md || 'Send it to us too.' WHERE number = 2")
        base.commit()
    again = start_studio(upstream.data_dir, AGENT_API_PUBLIC_READ="off", PORT=upstream.env["PORT"])
    try:
        assert _sync(downstream) == {"tea": "refused"}
        assert _drift(downstream) == {"tea": "unread"}
    finally:
        again.stop()
    assert _digests(downstream) == before
    (bundle_row,) = [row for row in _source(downstream)["bundles"] if row["capability_id"] == "tea"]
    assert "malformed" in bundle_row["detail"]
    # The other registry is away again: what was taken in stays.
    away = downstream.manage("git_source", "sync", "1", check=False)
    assert (away.returncode, "SOURCE_UNREADABLE" in away.stderr) == (1, True)
    assert _digests(downstream) == before
    assert (_source(downstream)["failures"], bool(_source(downstream)["last_error"])) == (1, True)
