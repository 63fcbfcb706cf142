"""`capability_skill_load` and `capability_skill_reload`: one bundle, pinned or the newest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_kit.bundles.digest import digest_of_load
from capability_rules.bundles.bundle_reader import read_bundle
from registry.catalog.drafts import save_draft
from registry.models import Incident, LoadCount, Revision, UnknownCapabilityRequest
from registry.publishing import publication
from registry.snapshot import response_cache
from registry.usage import usage_counters
from tests.factories import OLGA, bearer, bundle, damage, publish, tool, unlisted
from tests.servers import ROOT

pytestmark = pytest.mark.django_db

LOAD, RELOAD = "capability_skill_load", "capability_skill_reload"
KEYS = [
    "capability_id",
    "version",
    "revision",
    "digest",
    "status",
    "replaced_by",
    "skill_doc",
    "tools",
    "ui_schemas",
    "capability",
]


def _load(api: Any, capability_id: str = "alpha", **query: Any) -> Any:
    return api.ok(api.get(LOAD, {"capability_id": capability_id, **query}), "skill_load")


def test_an_answer_is_what_the_author_wrote(api: Any) -> None:
    outcome = publish(tools=[tool("alpha_list")], utterances={"should_match": ["alpha now"]}, emoji="👋")
    document = _load(api)
    files = bundle(tools=[tool("alpha_list")], emoji="👋")
    assert list(document) == KEYS
    assert document["skill_doc"] == files["skill.md"]
    assert document["tools"] == json.loads(files["tools.json"])
    assert document["ui_schemas"] == []
    assert document["capability"] == json.loads(files["capability.json"])
    assert (document["version"], document["revision"], document["digest"]) == ("latest", 1, outcome.digest)
    assert (document["status"], document["replaced_by"]) == ("published", None)


@pytest.mark.parametrize("name", sorted(folder.name for folder in (ROOT / "examples").iterdir()))
def test_every_example_loads_with_a_digest_that_can_be_recomputed(api: Any, name: str) -> None:
    (source,) = read_bundle(str(ROOT / "examples" / name))
    publication.publish(files=source.files, by=OLGA)
    for document in (
        _load(api, name),
        api.ok(api.post(LOAD, {"capability_id": name}), "skill_load"),
        api.ok(api.post(RELOAD, {"capability_id": name}), "skill_load"),
    ):
        assert document["digest"] == digest_of_load(document)
        assert document["digest"] == api.get("capability_registry_list").json()["capabilities"][0]["digest"]


def test_front_matter_is_no_part_of_the_skill_doc(api: Any) -> None:
    files = bundle()
    files["skill.md"] = "---\nname: alpha\n---\n" + files["skill.md"]
    publication.publish(files=files, by=OLGA)
    assert _load(api)["skill_doc"] == bundle()["skill.md"]


def test_a_deprecated_one_loads_and_says_so(api: Any) -> None:
    publish()
    publish("beta")
    etag = api.get(LOAD, {"capability_id": "alpha"}).headers["ETag"]
    publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    document = _load(api)
    assert (document["status"], document["replaced_by"]) == ("deprecated", "beta")
    assert document["digest"] == digest_of_load(document)
    assert api.get(LOAD, {"capability_id": "alpha"}).headers["ETag"] != etag


# Pins


def test_pins(api: Any) -> None:
    first, second = publish(), publish(body="Two.")
    for query in ({"revision": 1}, {"digest": first.digest}, {"revision": 1, "digest": first.digest}):
        document = _load(api, **query)
        assert (document["revision"], document["digest"], digest_of_load(document)) == (1, first.digest, first.digest)
        assert api.post(LOAD, {"capability_id": "alpha", **query}).json() == document
        assert api.post(RELOAD, {"capability_id": "alpha", **query}).json() == document
    assert _load(api, revision=2, digest=second.digest)["revision"] == 2


@pytest.mark.parametrize(
    "query", [{"revision": 3}, {"digest": "sha256:" + "0" * 64}, {"revision": 3, "digest": "sha256:" + "0" * 64}]
)
def test_an_unknown_pin_is_told(api: Any, query: dict[str, Any]) -> None:
    publish()
    api.error(api.get(LOAD, {"capability_id": "alpha", **query}), 404, "REVISION_NOT_FOUND")
    api.error(api.post(LOAD, {"capability_id": "alpha", **query}), 404, "REVISION_NOT_FOUND")


def test_pins_that_disagree_are_refused(api: Any) -> None:
    first, second = publish(), publish(body="Two.")
    for query in (
        {"revision": 1, "digest": second.digest},
        {"revision": 2, "digest": first.digest},
        {"revision": 1, "digest": "sha256:" + "0" * 64},
    ):
        api.error(api.get(LOAD, {"capability_id": "alpha", **query}), 400, "INVALID_REQUEST")


def test_a_pin_of_another_capability_is_unknown(api: Any) -> None:
    publish()
    other = publish("beta")
    api.error(api.get(LOAD, {"capability_id": "alpha", "digest": other.digest}), 404, "REVISION_NOT_FOUND")


def test_a_pin_that_was_unknown_is_found_once_it_is_published(api: Any) -> None:
    publish()
    api.error(api.get(LOAD, {"capability_id": "alpha", "revision": 2}), 404, "REVISION_NOT_FOUND")
    publish(body="Two.")
    publish(body="Three.")
    assert _load(api, revision=2)["revision"] == 2


def test_one_digest_with_two_numbers(api: Any) -> None:
    """New utterances make a new revision of the same digest; either number agrees with it."""
    first = publish()
    publish(utterances={"should_match": ["alpha now"]})
    assert _load(api, revision=1, digest=first.digest)["revision"] == 1
    assert _load(api, digest=first.digest)["revision"] == 2


def test_a_retired_one_is_gone_even_by_pin(api: Any) -> None:
    outcome = publish()
    _load(api)
    _load(api, revision=1)
    publication.retire(capability_id="alpha", by=OLGA)
    for query in ({}, {"revision": 1}, {"digest": outcome.digest}):
        api.error(api.get(LOAD, {"capability_id": "alpha", **query}), 404, "CAPABILITY_NOT_FOUND")
        api.error(api.post(RELOAD, {"capability_id": "alpha", **query}), 404, "CAPABILITY_NOT_FOUND")


def test_a_pin_after_a_rollback(api: Any) -> None:
    publish()
    publish(body="Two.")
    publication.rollback(capability_id="alpha", to=1, by=OLGA)
    assert _load(api)["revision"] == 1
    assert _load(api, revision=2)["revision"] == 2


# Not found


def test_the_words_of_the_contract(api: Any) -> None:
    publish("sleep")
    publish("workouts")
    error = api.error(api.get(LOAD, {"capability_id": "sleep_tracking"}), 404, "CAPABILITY_NOT_FOUND")
    assert error["message"] == "No capability found for ID 'sleep_tracking'"
    assert error["available_capabilities"] == ["sleep", "workouts"]
    assert error["available_total"] == 2
    assert error["suggestions"] == [{"capability_id": "sleep", "name": "Sleep"}]


def test_names_and_descriptions_are_looked_at_too_but_not_those_of_what_is_hidden(api: Any) -> None:
    publish("weights", name="Weight Tracking", description="Log a weigh-in.")
    publish("meals", name="Meals", description="For tracking what was eaten.")
    publish("cars", name="Cars", description="About cars.")
    unlisted("secret", name="Sleep Tracking")
    error = api.error(api.get(LOAD, {"capability_id": "sleep_tracking"}), 404, "CAPABILITY_NOT_FOUND")
    assert [one["capability_id"] for one in error["suggestions"]] == ["weights", "meals"]
    assert "secret" not in json.dumps(error)


@pytest.mark.parametrize(
    "wanted", ["draft_only", "gone", "Alpha", "alpha ", "x" * 200, "größe", "👋", "'; DROP TABLE", "../alpha", "%00"]
)
def test_what_readers_cannot_have_is_not_found(api: Any, wanted: str) -> None:
    publish()
    publish("gone")
    publication.retire(capability_id="gone", by=OLGA)
    save_draft(capability_id="draft_only", files=bundle("draft_only"), based_on=None, by=OLGA)
    error = api.error(api.get(LOAD, {"capability_id": wanted}), 404, "CAPABILITY_NOT_FOUND")
    assert error["available_capabilities"] == ["alpha"]
    api.error(api.post(LOAD, {"capability_id": wanted}), 404, "CAPABILITY_NOT_FOUND")


def test_at_most_a_hundred_are_named_the_nearest_first(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from registry.snapshot import STORE, Snapshot, SnapshotEntry

    names = [f"capability_{number:04}" for number in range(3000)]
    entries = {
        name: SnapshotEntry(name, "published", None, 1, 1, "", 1, name.title(), (), (), b"", b"") for name in names
    }
    monkeypatch.setattr(STORE, "snapshot", Snapshot(1, 0, entries, {}))
    monkeypatch.setattr(STORE, "has_read", True)
    monkeypatch.setattr(STORE, "is_watched", True)
    error = api.error(api.get(LOAD, {"capability_id": "capability_2718x"}), 404, "CAPABILITY_NOT_FOUND")
    assert error["available_capabilities"][0] == "capability_2718"
    assert (len(error["available_capabilities"]), error["available_total"]) == (100, 3000)
    assert len(error["suggestions"]) == 5
    assert error["suggestions"][0] == {"capability_id": "capability_2718", "name": "Capability_2718"}


def test_misses_and_loads_are_counted(api: Any) -> None:
    publish()
    headers = bearer()
    for _ in range(2):
        api.get(LOAD, {"capability_id": "sleep"})
        _load(api)
        api.get(LOAD, {"capability_id": "alpha"}, headers=headers)
    usage_counters.flush()
    assert UnknownCapabilityRequest.objects.get().count == 2
    assert sorted(LoadCount.objects.values_list("key_name", "count")) == [("", 2), ("key 0", 2)]


# Malformed


def test_a_damaged_bundle_is_told_with_what_is_wrong(api: Any) -> None:
    (source,) = read_bundle(str(ROOT / "examples" / "workouts"))
    publication.publish(files=source.files, by=OLGA)
    revision = Revision.objects.get()
    publish("weights", name="Weight Tracking")
    tools = json.loads(revision.tools_json or "")
    del next(each for each in tools if each["name"] == "workout_session_create")["args_schema"]
    damage(revision, tools_json=json.dumps(tools))
    error = api.error(api.get(LOAD, {"capability_id": "workouts"}), 422, "SKILL_MALFORMED")
    assert error["message"] == "Skill 'workouts' has invalid tool schema"
    assert error["details"] == "Missing required field 'args_schema' in tool 'workout_session_create'"
    assert error["findings"][0]["file"] == "tools.json"
    assert error["last_good_digest"] is None
    assert (error["capability_id"], error["name"]) == ("workouts", "Workout Planning & Logging")
    assert error["suggestions"] == [{"capability_id": "weights", "name": "Weight Tracking"}]
    api.error(api.post(RELOAD, {"capability_id": "workouts"}), 422, "SKILL_MALFORMED")
    assert Incident.objects.count() == 1
    listed = api.get("capability_registry_list").json()["capabilities"]
    assert [each["capability_id"] for each in listed] == ["weights", "workouts"]


def test_the_last_good_digest_can_be_pinned(api: Any) -> None:
    good = publish()
    publish(body="Two.")
    damage(Revision.objects.get(number=2), skill_md="nothing")
    error = api.error(api.get(LOAD, {"capability_id": "alpha"}), 422, "SKILL_MALFORMED")
    assert error["last_good_digest"] == good.digest
    assert _load(api, digest=good.digest)["revision"] == 1


def test_a_mended_one_loads_at_once(api: Any) -> None:
    publish()
    damage(Revision.objects.get(), skill_md="nothing")
    api.error(api.get(LOAD, {"capability_id": "alpha"}), 422, "SKILL_MALFORMED")
    publish()
    assert _load(api)["revision"] == 2


def test_a_malformed_one_is_remembered_for_a_moment_only(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    publish()
    revision = Revision.objects.get()
    damage(revision, skill_md="nothing")
    for _ in range(3):
        api.error(api.get(LOAD, {"capability_id": "alpha"}), 422, "SKILL_MALFORMED")
    assert Incident.objects.get().count == 1
    damage(revision, skill_md=revision.skill_md)
    now = response_cache.time.monotonic()  # type: ignore[attr-defined]
    monkeypatch.setattr(response_cache.time, "monotonic", lambda: now + response_cache.MALFORMED_SECONDS + 1)  # type: ignore[attr-defined]
    assert _load(api)["revision"] == 1


def test_a_reload_goes_past_what_is_kept(api: Any) -> None:
    publish()
    _load(api)
    damage(Revision.objects.get(), skill_md="nothing")
    api.error(api.post(RELOAD, {"capability_id": "alpha"}), 422, "SKILL_MALFORMED")
    api.error(api.get(LOAD, {"capability_id": "alpha"}), 422, "SKILL_MALFORMED")


# Odd input


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"capability_id": ""},
        {"capability_id": "a\0b"},
        {"capability_id": "a\nb"},
        {"capability_id": "x" * 201},
        {"id": "alpha"},
        {"capability_id": ["alpha", "alpha"]},
        {"capability_id": "alpha", "revision": "0"},
        {"capability_id": "alpha", "revision": "x"},
        {"capability_id": "alpha", "revision": ""},
        {"capability_id": "alpha", "digest": "x"},
        {"capability_id": "alpha", "digest": ""},
        {"capability_id": "alpha", "digest": "sha256:" + "A" * 64},
        {"capability_id": "alpha", "digest": "sha256:" + "0" * 64 + "\n"},
    ],
    ids=str,
)
def test_an_odd_query_is_refused(api: Any, query: dict[str, Any]) -> None:
    publish()
    api.error(api.get(LOAD, query), 400, "INVALID_REQUEST")


@pytest.mark.parametrize("name", [LOAD, RELOAD])
@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        "alpha",
        7,
        None,
        True,
        {"capability_id": None},
        {"capability_id": ""},
        {"capability_id": 7},
        {"capability_id": ["alpha"]},
        {"capability_id": {}},
        {"capability_id": "a\0b"},
        {"capability_id": "x" * 201},
        {"capability_id": "alpha", "revision": 0},
        {"capability_id": "alpha", "revision": True},
        {"capability_id": "alpha", "revision": 1.5},
        {"capability_id": "alpha", "revision": []},
        {"capability_id": "alpha", "revision": 2**53},
        {"capability_id": "alpha", "revision": 10**400},
        {"capability_id": "alpha", "digest": 7},
        {"capability_id": "alpha", "digest": "sha256:"},
        b"",
        b"{",
        b"nope",
        b"\xff\xff",
        b"\x00",
        b'{"capability_id": "\\ud800"}',
        b'{"capability_id": NaN}',
        b"[" * 5000,
        b'{"capability_id": "alpha"} {}',
    ],
    ids=lambda body: str(body)[:40],
)
def test_an_odd_body_is_refused(api: Any, name: str, body: Any) -> None:
    publish()
    api.error(api.post(name, body), 400, "INVALID_REQUEST")


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/zip",
        "application/jsonp",
        "x",
    ],
)
def test_another_media_type_is_refused(api: Any, content_type: str) -> None:
    response = api.post(LOAD, {"capability_id": "alpha"}, content_type=content_type)
    api.error(response, 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"]
)
def test_json_is_json_however_it_is_written(api: Any, content_type: str) -> None:
    publish()
    api.ok(api.post(LOAD, {"capability_id": "alpha"}, content_type=content_type), "skill_load")


def test_a_body_that_is_too_large_is_refused(api: Any, settings: Any) -> None:
    body = b" " * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    api.error(api.post(LOAD, body), 413, "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize("length", ["0", "-1", "x", "9999999999999999999999"])
def test_a_content_length_that_lies_is_no_fault_of_ours(api: Any, length: str) -> None:
    response = api.post(LOAD, {"capability_id": "alpha"}, CONTENT_LENGTH=length)
    assert response.status_code in (400, 413), response.content


# Who may


@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize("name", [LOAD, RELOAD])
def test_without_public_read_a_key_is_needed(api: Any, name: str) -> None:
    publish()
    body = {"capability_id": "alpha"}
    api.error(api.post(name, body), 401, "UNAUTHENTICATED")
    api.error(api.post(name, {}), 401, "UNAUTHENTICATED")
    api.error(api.post(name, body, headers=bearer("publish", "feedback")), 403, "FORBIDDEN")
    api.ok(api.post(name, body, headers=bearer("read")), "skill_load")


def test_a_revoked_key_opens_nothing(api: Any) -> None:
    from registry.access.agent_keys import revoke_key

    publish()
    headers = bearer("read")
    api.ok(api.get(LOAD, {"capability_id": "alpha"}, headers=headers), "skill_load")
    revoke_key(name="key 0", by=OLGA)
    api.error(api.get(LOAD, {"capability_id": "alpha"}, headers=headers), 401, "UNAUTHENTICATED")
