"""A key of a team, or of some ids, at every operation of the operator API."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from features.acceptances import waiver_store
from registry.access import teams
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.common.installation import list_leaf_names
from registry.feature import find_feature, list_registry_models
from registry.models import Capability
from registry.publishing import publication
from registry.publishing.scan_results import get_files_digest
from tests.factories import OLGA, bearer, bundle, publish
from tests.operations import list_operations
from tests.sweeps import check_each, rolled_back

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
TERMINAL = Actor("command_line", "root")
LOG = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "Trivy"}}, "results": []}]}
DRAFT: dict[str, Any] = {"body": "Three.", "intent_triggers": ["what is"]}
LEAVES = {name for leaf in list_leaf_names() for name in find_feature(leaf).operator_api}
OPERATIONS = [one for one in list_operations() if one.is_for_operators and one.name not in LEAVES]


def _bundles(name: str) -> dict[str, Any]:
    return {"bundles": [{"path": name, "files": bundle(name, body="Four.")}]}


def _waiver(name: str) -> dict[str, Any]:
    given = {"code": "TRIGGER_TOO_GENERAL", "place": "capability.json", "reason": "Known.", "until": str(_soon())}
    return {"capability_id": name, **given}


def _of(name: str) -> dict[str, Any]:
    return {"capability_id": name, "note": "x"}


def _waiver_id(name: str) -> int:
    return waiver_store.list_waivers(Capability.objects.get(capability_id=name))[0].pk


# The body of each write, for a capability of this name.
WRITES: dict[str, Callable[[str], dict[str, Any]]] = {
    "bundle_publish": _bundles,
    "bundle_import": _bundles,
    "bundle_rollback": lambda name: {**_of(name), "to": 1},
    "capability_deprecate": _of,
    "capability_retire": _of,
    "capability_quarantine": _of,
    "capability_restore": _of,
    "draft_save": lambda name: {"capability_id": name, "files": bundle(name), "based_on": 1},
    "draft_publish": lambda name: {**_of(name), "draft_version": 1},
    "waiver_create": _waiver,
    "waiver_end": lambda name: {"capability_id": name, "waiver_id": _waiver_id(name)},
    "scan_results_upload": lambda name: {
        "capability_id": name,
        "sarif": LOG,
        "files_digest": get_files_digest(drafts.get_draft(name).files),
    },
}


def _soon() -> date:
    return datetime.now(UTC).date() + timedelta(days=9)


@pytest.fixture(params=["team", "ids"])
def key(request: pytest.FixtureRequest) -> dict[str, str]:
    """The header of a key that may change `own`, and not `other`."""
    team = teams.create_team(name="Health", by=OLGA)
    for name in ("own", "other"):
        publish(name)
        publish(name, body="Two.")
        drafts.save_draft(capability_id=name, files=bundle(name, **DRAFT), based_on=None, by=OLGA)
    teams.set_owning_team(capability_id="own", key=team.pk, by=OLGA)
    limit: dict[str, Any] = {"team": "Health"} if request.param == "team" else {"capability_ids": ["own", "new"]}
    return bearer("publish", name="pipeline", **limit)


def _prepare(name: str, operation: str) -> None:
    if operation == "capability_restore":
        publication.deprecate(capability_id=name, by=TERMINAL)
    if operation == "waiver_end":
        waiver_store.create_waiver(**{**_waiver(name), "until": _soon(), "by": TERMINAL})


def _stored() -> str:
    models = list_registry_models()
    return json.dumps(
        {str(model): list(model._default_manager.order_by("pk").values()) for model in models}, default=str
    )


def test_every_write_has_a_row() -> None:
    assert {one.name for one in OPERATIONS if one.is_write} == set(WRITES)


def test_no_operation_changes_what_is_not_the_keys(api: Any, key: dict[str, str]) -> None:
    def check(operation: str) -> None:
        _prepare("other", operation)
        body, before = WRITES[operation]("other"), _stored()
        error = api.error(api.post(f"operator/{operation}", body, headers=key), 403, "FORBIDDEN")
        assert "The key 'pipeline' may change" in error["message"]
        assert _stored() == before

    check_each(sorted(WRITES), check, isolate=rolled_back)


def test_every_operation_changes_what_is_the_keys(api: Any, key: dict[str, str]) -> None:
    def check(operation: str) -> None:
        _prepare("own", operation)
        answer = api.post(f"operator/{operation}", WRITES[operation]("own"), headers=key)
        assert answer.status_code == 200, answer.content
        assert not answer.json().get("results") or answer.json()["results"][0]["status"] != "refused", answer.json()

    check_each(sorted(WRITES), check, isolate=rolled_back)


def test_reads_are_as_before(api: Any, key: dict[str, str]) -> None:
    assert api.post("operator/bundle_validate", _bundles("other"), headers=key).status_code == 200
    for read in (one for one in OPERATIONS if one.method == "GET"):
        query = dict.fromkeys(read.required, "other")
        assert api.get(f"operator/{read.name}", query, headers=key).status_code == 200, read
    listed = api.ok(api.get("operator/bundle_list", headers=key), "bundle_list")["capabilities"]
    assert [row["capability_id"] for row in listed] == ["other", "own"]


def test_a_new_capability_is_the_teams_or_one_of_the_ids(api: Any, key: dict[str, str]) -> None:
    published = api.ok(api.post("operator/bundle_publish", _bundles("new"), headers=key), "bundle_results")
    assert published["results"][0]["status"] == "published"
    team = Capability.objects.select_related("team").get(capability_id="new").team
    answer = api.post("operator/bundle_publish", _bundles("third"), headers=key)
    if team is None:
        api.error(answer, 403, "FORBIDDEN")
    else:
        assert (team.name, answer.status_code) == ("Health", 200)


def test_in_a_call_of_several_only_its_own_are_published(api: Any, key: dict[str, str]) -> None:
    body = {"bundles": [*_bundles("other")["bundles"], *_bundles("own")["bundles"]]}
    document = api.ok(api.post("operator/bundle_publish", body, headers=key), "bundle_results")
    statuses = [(row["capability_id"], row["status"]) for row in document["results"]]
    assert statuses == [("other", "refused"), ("own", "published")]
    codes = [finding["code"] for finding in document["results"][0]["findings"] if finding["severity"] == "error"]
    assert codes == ["CHANGE_NOT_ALLOWED"]
    assert Capability.objects.get(capability_id="other").revisions.count() == 2
