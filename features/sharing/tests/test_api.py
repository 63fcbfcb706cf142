"""`capability_install`, and what is not listed: seen by those who redeemed its code, unknown to everybody else."""

from __future__ import annotations

from typing import Any

import pytest

from registry.access import agent_keys
from registry.catalog import first_run
from registry.core.transactions import get_registry_revision
from registry.models import Capability, UnknownCapabilityRequest
from registry.publishing import publication
from registry.usage.usage_counters import flush
from studio.config.parsers import Rate
from tests.factories import OLGA, bearer, publish, unlisted

pytestmark = pytest.mark.django_db


@pytest.fixture
def key() -> dict[str, str]:
    return bearer()


def _install(api: Any, key: dict[str, str], code: Any) -> Any:
    return api.post("capability_install", {"code": code}, headers=key)


def _ids(api: Any, key: dict[str, str], **query: Any) -> list[str]:
    found = api.ok(api.get("capability_registry_list", query, headers=key), "registry_list")["capabilities"]
    return [entry["capability_id"] for entry in found]


def _load(api: Any, key: dict[str, str], capability_id: str) -> Any:
    return api.get("capability_skill_load", {"capability_id": capability_id}, headers=key)


def test_a_code_opens_what_is_not_listed_to_that_key_alone(api: Any, key: dict[str, str]) -> None:
    publish("beta")
    code = unlisted("alpha")
    before = api.get("capability_registry_list", headers=key)
    api.error(_load(api, key, "alpha"), 404, "CAPABILITY_NOT_FOUND")
    document = api.ok(_install(api, key, code), "installed")
    digest = Capability.objects.get(capability_id="alpha").published_revision.digest  # type: ignore[union-attr]
    assert document == {"capability_id": "alpha", "name": "Alpha", "digest": digest}
    after = api.get("capability_registry_list", headers=key | {"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert _ids(api, key) == ["alpha", "beta"]
    assert _load(api, key, "alpha").json()["digest"] == digest
    for other in (bearer(), {}):
        assert _ids(api, other) == ["beta"]
        error = api.error(_load(api, other, "alpha"), 404, "CAPABILITY_NOT_FOUND")
        assert (error["available_capabilities"], error["available_total"], error["suggestions"]) == (["beta"], 1, [])
        # Word for word what is said of an id that nobody has.
        unknown = api.error(_load(api, other, "alphb"), 404, "CAPABILITY_NOT_FOUND")
        assert str(unknown).replace("alphb", "alpha") == str(error)
    flush()
    assert UnknownCapabilityRequest.objects.get(capability_id="alpha").count == 3


def test_it_takes_no_pin_no_reload_and_no_feedback_from_others(api: Any, key: dict[str, str]) -> None:
    unlisted("alpha")
    api.error(api.get("capability_skill_load", {"capability_id": "alpha", "revision": 1}, headers=key), 404,
              "CAPABILITY_NOT_FOUND")  # fmt: skip
    for name in ("capability_skill_load", "capability_skill_reload"):
        api.error(api.post(name, {"capability_id": "alpha"}, headers=key), 404, "CAPABILITY_NOT_FOUND")
    body = {"capability_id": "alpha", "outcome": "used"}
    api.error(api.post("capability_feedback", body, headers=key), 404, "CAPABILITY_NOT_FOUND")


def _changed(api: Any, key: dict[str, str], since: int) -> tuple[list[str], list[str]]:
    query = {"updated_since_revision": since}
    document = api.get("capability_registry_list", query, headers=key).json()
    return [entry["capability_id"] for entry in document["capabilities"]], document["removed"]


def test_what_changed_tells_nothing_of_what_was_never_seen(api: Any, key: dict[str, str]) -> None:
    """Revision 1: beta. 2, 3: alpha, then unlisted. 4: alpha again. 5: its code. 6: beta unlisted. 7: retired."""
    publish("beta")
    code = unlisted("alpha")
    publish("alpha", body="Two.")
    assert _changed(api, key, 3) == ([], [])
    assert _changed(api, key, 2) == ([], ["alpha"])
    assert _changed(api, key, 1) == ([], [])
    guest = bearer()
    _install(api, guest, code)
    assert _changed(api, guest, 4) == (["alpha"], [])
    publication.set_visibility(capability_id="beta", visibility="unlisted", by=OLGA)
    publication.retire(capability_id="alpha", by=OLGA)
    assert _changed(api, key, 5) == ([], ["beta"])
    assert _changed(api, key, 6) == ([], [])
    assert _changed(api, guest, 4) == ([], ["alpha", "beta"])
    publication.set_visibility(capability_id="beta", visibility="listed", by=OLGA)
    assert _changed(api, key, 7) == (["beta"], [])


def test_what_a_code_shows_is_updated_once(api: Any) -> None:
    """For the key that redeemed it, whatever another key of the same sight has seen; others see nothing of it."""
    code = unlisted("alpha")
    publish("beta")
    first, second, other = bearer(), bearer(), bearer()
    _install(api, first, code)
    after_first = get_registry_revision()
    _install(api, second, code)
    now = get_registry_revision()
    assert (after_first, now) == (4, 5)
    assert _changed(api, first, 3) == (["alpha"], [])
    assert _changed(api, first, after_first) == ([], [])
    assert _changed(api, second, after_first) == (["alpha"], [])
    assert _changed(api, second, now) == ([], [])
    for since in range(3, now + 1):
        assert _changed(api, other, since) == ([], [])
    _install(api, first, code)
    assert get_registry_revision() == now


def test_a_code_of_what_the_key_sees_already_updates_nothing(api: Any) -> None:
    publish("alpha")
    guest = bearer()
    _install(api, guest, Capability.objects.get().install_code)
    assert get_registry_revision() == 1
    assert _changed(api, guest, 1) == ([], [])
    assert _changed(api, guest, 0) == (["alpha"], [])


def test_pages_of_the_past_hide_it_too(api: Any, key: dict[str, str]) -> None:
    publish("beta")
    unlisted("alpha")
    publish("gamma")
    first = api.get("capability_registry_list", {"limit": 1}, headers=key).json()
    publish("delta")
    second = api.get("capability_registry_list", {"limit": 1, "cursor": first["next_cursor"]}, headers=key).json()
    found = [*first["capabilities"], *second["capabilities"]]
    assert [entry["capability_id"] for entry in found] == ["beta", "gamma"]


@pytest.mark.parametrize("code", [None, "", 7, [], "SKILL-XXXX", "skill-f639-pj5j-wt3w", "SKILL_F639_PJ5J_WT3W"])
def test_another_form(api: Any, key: dict[str, str], code: Any) -> None:
    assert "SKILL-XXXX" in api.error(_install(api, key, code), 400, "INVALID_REQUEST")["message"] or not isinstance(
        code, str
    )


def test_an_unknown_code_and_who_may_not(api: Any, key: dict[str, str]) -> None:
    publish()
    api.error(_install(api, key, "SKILL-AAAA-AAAA-AAAA"), 404, "INSTALL_CODE_NOT_FOUND")
    code = Capability.objects.get().install_code
    api.error(_install(api, {}, code), 401, "UNAUTHENTICATED")
    api.error(_install(api, bearer("publish"), code), 403, "FORBIDDEN")


@pytest.mark.parametrize("is_same_key", [True, False])
def test_guessing_is_stopped_by_key_and_by_address(api: Any, settings: Any, is_same_key: bool) -> None:
    code = unlisted("alpha")
    mine, other = bearer(), bearer()
    settings.RATE_LIMITS = {"guess": Rate(count=3, seconds=60)}
    for _ in range(3):
        api.error(_install(api, mine, "SKILL-AAAA-AAAA-AAAA"), 404, "INSTALL_CODE_NOT_FOUND")
    key, address = (mine, "192.0.2.7") if is_same_key else (other, "127.0.0.1")
    for guess in (code, "SKILL-AAAA-AAAA-AAAA"):
        response = api.post("capability_install", {"code": guess}, headers=key, REMOTE_ADDR=address)
        api.error(response, 429, "RATE_LIMITED")
        assert int(response.headers["Retry-After"]) >= 1
    response = api.post("capability_install", {"code": code}, headers=other, REMOTE_ADDR="192.0.2.8")
    api.ok(response, "installed")


def test_a_revoked_key_is_not_let_in_by_what_it_redeemed(api: Any, key: dict[str, str]) -> None:
    _install(api, key, unlisted("alpha"))
    agent_keys.revoke_key(name="key 0", by=OLGA)
    api.error(_load(api, key, "alpha"), 401, "UNAUTHENTICATED")


def test_the_list_tells_where_a_first_session_begins(api: Any, key: dict[str, str]) -> None:
    publish()
    before = api.get("capability_registry_list", headers=key)
    assert "first_run" not in before.json()
    first_run.set_first_run(capability_id="alpha", by=OLGA)
    after = api.get("capability_registry_list", headers=key)
    assert after.json()["first_run"] == "alpha"
    assert after.headers["ETag"] != before.headers["ETag"]
    publication.set_visibility(capability_id="alpha", visibility="unlisted", by=OLGA)
    assert "first_run" not in api.get("capability_registry_list", headers=key).json()
    first_run.set_first_run(capability_id="", by=OLGA)
    assert first_run.get_first_run() == ""
