"""`Idempotency-Key`: a write under the same key is done once, and its answer given again."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.renderers import JSONRenderer

from agent_api.openapi.document import build_document
from features.acceptances.models import Acceptance
from features.acceptances.waiver_store import create_waiver
from features.sets import set_store
from features.sets.tests.documents import COMMAND, document
from features.tool_sources import source_store
from features.tool_sources.models import ToolSource
from registry.access import agent_keys
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.core import idempotency
from registry.core.jobs import queue
from registry.models import AgentKey, AuditEvent, Capability, Draft, FeedbackEvent, IdempotencyRecord, Revision
from registry.operations import housekeeping
from registry.publishing import publication
from registry.publishing.scan_results import store_scan_results
from studio.config.parsers import Rate
from tests.factories import OLGA, agent_key, bearer, bundle, publish, zip_of

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
# By POST, and yet nothing is written.
READS = {"capability_skill_load", "capability_skill_reload", "bundle_validate", "capability_match", "prompt_render"}
SCAN = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "Trivy"}}, "results": [{"level": "warning"}]}]}
WAIVER = {"capability_id": "alpha", "code": "SCAN_RESULT", "place": "capability.json", "reason": "Known."}
TOOL_LIST = [{"name": "find", "description": "Finds", "input_schema": {"type": "object", "properties": {}}}]
ALL = ("read", "feedback", "propose", "publish")


@pytest.fixture
def key() -> dict[str, str]:
    return bearer(*ALL)


def _under(key: dict[str, str], word: str = "first") -> dict[str, str]:
    return key | {"Idempotency-Key": word}


def _tell(api: Any, headers: dict[str, str], outcome: str = "used", capability_id: str = "alpha") -> Any:
    return api.post("capability_feedback", {"capability_id": capability_id, "outcome": outcome}, headers=headers)


def _draft() -> int:
    drafts.replace_draft(capability_id="alpha", files=bundle(body="Draft."), by=OLGA)
    return Draft.objects.get(discarded_at__isnull=True).version


def _scanned() -> None:
    store_scan_results(capability_id="alpha", log=SCAN, by=OLGA)


def _in_a_week() -> date:
    return timezone.now().date() + timedelta(days=7)


def _tool_source() -> ToolSource:
    return source_store.add_document(content=json.dumps(TOOL_LIST).encode(), by=OLGA)


def _evaluation() -> dict[str, Any]:
    digest = Revision.objects.get().digest
    row = {"case": "greets", "case_digest": digest, "passed": True}
    return {"tool": "harness", "digest": digest, "model": "small", "results": [row]}


def _set_of_alpha() -> None:
    set_store.save_set(document("alpha"), by=COMMAND)


def _waived() -> None:
    _scanned()
    create_waiver(**WAIVER, until=_in_a_week(), by=Actor("command_line", "olga"))


def _deprecated() -> None:
    publication.deprecate(capability_id="alpha", by=OLGA)


# Each call that writes: what must be there before, and a body that it takes.
CALLS: dict[str, tuple[Callable[[], Any], Callable[[], dict[str, Any]]]] = {
    "capability_feedback": (lambda: None, lambda: {"capability_id": "alpha", "outcome": "used"}),
    "capability_install": (lambda: None, lambda: {"code": Capability.objects.get().install_code}),
    "capability_propose": (lambda: None, lambda: {"files": bundle("beta")}),
    "operator/bundle_publish": (lambda: None, lambda: {"bundles": [{"path": "b", "files": bundle("beta")}]}),
    "operator/bundle_import": (lambda: None, lambda: {"bundles": [{"path": "b", "files": bundle("beta")}]}),
    "operator/bundle_rollback": (lambda: publish(body="Two."), lambda: {"capability_id": "alpha", "to": 1}),
    "operator/capability_deprecate": (lambda: None, lambda: {"capability_id": "alpha"}),
    "operator/capability_retire": (lambda: None, lambda: {"capability_id": "alpha"}),
    "operator/capability_quarantine": (lambda: None, lambda: {"capability_id": "alpha"}),
    "operator/capability_restore": (_deprecated, lambda: {"capability_id": "alpha"}),
    "operator/draft_save": (
        lambda: None,
        lambda: {"capability_id": "beta", "files": bundle("beta"), "based_on": None},
    ),
    "operator/draft_publish": (
        _draft,
        lambda: {"capability_id": "alpha", "draft_version": Draft.objects.get(discarded_at__isnull=True).version},
    ),
    "operator/scan_results_upload": (
        lambda: None,
        lambda: {"capability_id": "alpha", "files_digest": Revision.objects.get().files_digest, "sarif": SCAN},
    ),
    "operator/evaluation_results_upload": (
        lambda: None,
        lambda: {"capability_id": "alpha", "evaluation": _evaluation()},
    ),
    "operator/tool_source_read": (lambda: None, lambda: {"document": json.dumps(TOOL_LIST)}),
    "operator/tool_source_import": (
        lambda: None,
        lambda: {"source_id": _tool_source().pk, "capability_id": "alpha", "operations": [{"key": "find"}]},
    ),
    "operator/tool_source_check": (
        lambda: None,
        lambda: {"source_id": _tool_source().pk, "document": json.dumps(TOOL_LIST)},
    ),
    "operator/waiver_create": (_scanned, lambda: WAIVER | {"until": _in_a_week().isoformat()}),
    "operator/set_save": (lambda: None, lambda: document("alpha")),
    "operator/set_delete": (_set_of_alpha, lambda: {"set_id": "desk"}),
    "operator/waiver_end": (_waived, lambda: {"capability_id": "alpha", "waiver_id": Acceptance.waivers.get().pk}),
}


def _writing() -> set[str]:
    found = set()
    for path, operations in build_document()["paths"].items():
        name = path.removeprefix("/api/v1/")
        if "post" in operations and name.rpartition("/")[2] not in READS:
            found.add(name)
    return found


def test_every_write_has_a_case_here_and_describes_the_header() -> None:
    assert _writing() == set(CALLS)
    for path, operations in build_document()["paths"].items():
        for method, operation in operations.items():
            named = [each for each in operation.get("parameters", []) if each["name"] == "Idempotency-Key"]
            is_write = method == "post" and path.removeprefix("/api/v1/") in CALLS
            assert len(named) == is_write, (path, method)
            assert not is_write or "422" in operation["responses"]


@pytest.mark.parametrize("name", CALLS)
def test_the_same_call_again_is_answered_and_not_done(api: Any, key: dict[str, str], name: str) -> None:
    publish()
    prepare, body = CALLS[name]
    prepare()
    asked = body()
    first = api.post(name, asked, headers=_under(key))
    assert first.status_code in (200, 201), first.content
    rows = AuditEvent.objects.count()
    again = api.post(name, asked, headers=_under(key))
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["Content-Type"] == first.headers["Content-Type"]
    assert ("Idempotency-Replayed" in first.headers, again.headers["Idempotency-Replayed"]) == (False, "true")
    assert AuditEvent.objects.count() == rows


def test_without_a_key_it_is_done_each_time(api: Any, key: dict[str, str]) -> None:
    publish()
    for expected in (1, 2):
        assert _tell(api, key).json()["confidence"]["uses"] == expected
    assert not IdempotencyRecord.objects.exists()


def test_another_call_under_the_key_is_refused(api: Any, key: dict[str, str]) -> None:
    publish()
    _tell(api, _under(key))
    api.error(_tell(api, _under(key), "likely_success"), 422, "IDEMPOTENCY_KEY_REUSED")
    other = {"capability_id": "alpha", "outcome": "used"}
    api.error(api.post("operator/capability_retire", other, headers=_under(key)), 422, "IDEMPOTENCY_KEY_REUSED")
    assert FeedbackEvent.objects.count() == 1
    assert Capability.objects.get().status == "published"


def test_the_layout_of_the_body_does_not_count(api: Any, key: dict[str, str]) -> None:
    publish()
    first = _tell(api, _under(key))
    again = api.post("capability_feedback", b'{ "outcome":"used",\n "capability_id": "alpha"}', headers=_under(key))
    assert again.content == first.content


def test_a_zip_and_its_query_count(api: Any, key: dict[str, str]) -> None:
    data = zip_of(bundle())
    options = {"content_type": "application/zip", "headers": _under(key)}
    first = api.post("/api/v1/operator/bundle_publish?note=a", data, **options)
    assert first.json()["results"][0]["status"] == "published"
    assert api.post("/api/v1/operator/bundle_publish?note=a", data, **options).content == first.content
    api.error(api.post("/api/v1/operator/bundle_publish?note=b", data, **options), 422, "IDEMPOTENCY_KEY_REUSED")


def test_each_caller_has_keys_of_its_own(api: Any) -> None:
    publish()
    assert [_tell(api, _under(bearer())).json()["confidence"]["uses"] for _ in range(2)] == [1, 2]


def test_a_refusal_is_tried_anew(api: Any, key: dict[str, str]) -> None:
    api.error(_tell(api, _under(key)), 404, "CAPABILITY_NOT_FOUND")
    publish()
    assert _tell(api, _under(key)).status_code == 200


@pytest.mark.parametrize("word", ["", "x" * 256, "é", "a\tb", "\x7f"])
def test_an_odd_key(api: Any, key: dict[str, str], word: str) -> None:
    publish()
    api.error(_tell(api, _under(key, word)), 400, "INVALID_REQUEST")
    assert not FeedbackEvent.objects.exists()


@pytest.mark.parametrize("word", ["x", "x" * 255, '"8e03978e-40d5-43dd-bc93-6894a57f9324"', "a b"])
def test_a_good_key(api: Any, key: dict[str, str], word: str) -> None:
    publish()
    assert _tell(api, _under(key, word)).content == _tell(api, _under(key, word)).content


def test_the_key_opens_nothing_by_itself(api: Any, settings: Any) -> None:
    """Whoever was revoked, or is too fast, gets no kept answer either."""
    publish()
    key = {"Authorization": f"Bearer {agent_key('feedback', name='gone')}"}
    settings.RATE_LIMITS = {"write": Rate(count=3, seconds=60)}
    for _ in range(3):
        assert _tell(api, _under(key)).status_code == 200
    api.error(_tell(api, _under(key)), 429, "RATE_LIMITED")
    agent_keys.revoke_key(name="gone", by=OLGA)
    api.error(_tell(api, _under(key)), 401, "UNAUTHENTICATED")
    api.error(_tell(api, _under(bearer("read"))), 403, "FORBIDDEN")


class _PulledPlugError(Exception):
    pass


def test_the_write_and_its_answer_are_there_together_or_not_at_all(
    api: Any, key: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    publish()

    def fail(*args: Any, **kwargs: Any) -> None:
        raise _PulledPlugError

    with monkeypatch.context() as patch:
        patch.setattr(IdempotencyRecord.objects, "create", fail)
        assert _tell(api, _under(key)).status_code == 500
    assert (FeedbackEvent.objects.count(), IdempotencyRecord.objects.count()) == (0, 0)
    assert _tell(api, _under(key)).status_code == 200
    assert (FeedbackEvent.objects.count(), IdempotencyRecord.objects.count()) == (1, 1)


def test_after_a_day_it_is_another_write(api: Any, key: dict[str, str]) -> None:
    publish()
    _tell(api, _under(key))
    IdempotencyRecord.objects.update(at=timezone.now() - timedelta(hours=25))
    assert _tell(api, _under(key), "likely_success").json()["confidence"]["uses"] == 2


def test_what_is_old_is_forgotten_every_day(api: Any, key: dict[str, str]) -> None:
    publish()
    _tell(api, _under(key, "old"))
    IdempotencyRecord.objects.update(at=timezone.now() - idempotency.RETENTION - timedelta(minutes=1))
    _tell(api, _under(key, "new"))
    housekeeping.queue_daily(timezone.now().date())
    while queue.run_next_job():
        pass
    assert [row.idempotency_key for row in IdempotencyRecord.objects.all()] == ["new"]


@pytest.mark.django_db(transaction=True)
def test_of_two_at_the_same_time_one_does_it(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second has to wait until the first is committed, and gets its answer."""
    publish()
    key = bearer()
    begun, answers = threading.Event(), []
    render = JSONRenderer.render

    def slow(self: Any, *args: Any, **kwargs: Any) -> Any:
        begun.set()
        threading.Event().wait(0.5)
        return render(self, *args, **kwargs)

    monkeypatch.setattr(JSONRenderer, "render", slow)

    def tell() -> None:
        answers.append(_tell(api, _under(key)))
        connection.close()

    threads = [threading.Thread(target=tell) for _ in range(3)]
    threads[0].start()
    begun.wait(10)
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len({response.content for response in answers}) == 1
    assert [response.status_code for response in answers] == [200, 200, 200]
    assert sorted("Idempotency-Replayed" in response.headers for response in answers) == [False, True, True]
    assert (FeedbackEvent.objects.count(), AgentKey.objects.count(), Revision.objects.count()) == (1, 1, 1)
