"""`prompt_render`: the bytes that an agent reads, for whoever wants to see them first."""

from __future__ import annotations

from typing import Any

import pytest

from capability_client import Session, SessionOptions
from capability_kit.bundles.bundle import Bundle, Listing
from capability_kit.environment.probe import Environment
from capability_kit.prompt import render_prompt
from capability_rules.bundles.bundle_reader import read_bundle
from registry.models import Revision, UnknownCapabilityRequest
from registry.publishing import publication
from tests.factories import OLGA, bearer, bundle, damage, publish, tool
from tests.servers import ROOT

pytestmark = pytest.mark.django_db

RENDER = "prompt_render"


def _render(api: Any, *ids: str, **body: Any) -> Any:
    return api.ok(api.post(RENDER, {"capability_ids": list(ids), **body}), "prompt")


def _publish_example(name: str) -> None:
    (source,) = read_bundle(str(ROOT / "examples" / name))
    publication.publish(files=source.files, by=OLGA)


def test_it_is_what_a_session_would_write(api: Any) -> None:
    _publish_example("weights")
    loaded = Bundle.from_answer(api.get("capability_skill_load", {"capability_id": "weights"}).json())
    found = _render(api, "weights", arguments={"weights": "last week"})
    assert found == render_prompt([loaded], arguments={"weights": "last week"}).as_dict()
    assert found == _render(api, "weights", arguments={"weights": "last week"})

    class Shelf:
        def list(self) -> Listing:
            return Listing((), 0)

        def load(self, capability_id: str, *, digest: str | None = None) -> Bundle:
            return loaded

        reload = load

    session = Session(Shelf(), environment=Environment(), options=SessionOptions())
    session.load("weights", arguments="last week")
    assert session.prompt().as_dict() == found


def test_the_order_given_is_kept_and_the_budget_is_said(api: Any) -> None:
    publish("beta", body="Answer. " * 1800)
    publish("alpha", body="Answer. " * 1800)
    found = _render(api, "beta", "alpha", "beta")
    assert found["included"] == ["beta"]
    assert [row["capability_id"] for row in found["omitted"]] == ["alpha"]
    assert found["omitted"][0]["reason"].startswith("BUDGET")
    assert found["characters"] == len(found["prompt"])


def test_an_environment_decides_what_is_ready(api: Any) -> None:
    publish(os=["linux"], dependencies={"bins": ["ffmpeg"], "env": ["API_KEY"]})
    assert _render(api, "alpha")["included"] == ["alpha"]
    for environment, reason in (
        ({"os": "darwin"}, "UNAVAILABLE"),
        ({"os": "linux"}, "NEED_SETUP"),
        ({"os": "linux", "bins": ["ffmpeg"]}, "NEED_AUTH"),
    ):
        found = _render(api, "alpha", environment=environment)
        assert found["included"] == []
        assert found["omitted"][0]["reason"].startswith(f"{reason}: ")
    ready = {"os": "linux", "bins": ["ffmpeg"], "env": ["API_KEY"]}
    assert _render(api, "alpha", environment=ready)["included"] == ["alpha"]


def test_an_unknown_id_is_not_found_and_counted(api: Any) -> None:
    from registry.usage import usage_counters

    publish()
    error = api.error(api.post(RENDER, {"capability_ids": ["alpha", "alphas"]}), 404, "CAPABILITY_NOT_FOUND")
    assert error["available_capabilities"] == ["alpha"]
    usage_counters.flush()
    assert UnknownCapabilityRequest.objects.filter(capability_id="alphas").exists()


def test_a_malformed_one_is_said_as_such(api: Any) -> None:
    publish(tools=[tool("alpha_list")])
    damage(Revision.objects.get(), tools_json="[]")
    api.error(api.post(RENDER, {"capability_ids": ["alpha"]}), 422, "SKILL_MALFORMED")


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"capability_ids": "alpha"},
        {"capability_ids": []},
        {"capability_ids": ["alpha"] * 21},
        {"capability_ids": [5]},
        {"capability_ids": [""]},
        {"capability_ids": ["a\x00"]},
        {"capability_ids": ["alpha"], "environment": []},
        {"capability_ids": ["alpha"], "environment": {"os": "beos"}},
        {"capability_ids": ["alpha"], "environment": {"shell": "sh"}},
        {"capability_ids": ["alpha"], "environment": {"bins": ["x"] * 1001}},
        {"capability_ids": ["alpha"], "arguments": "x"},
        {"capability_ids": ["alpha"], "arguments": {"beta": "x"}},
        {"capability_ids": ["alpha"], "arguments": {"alpha": 5}},
        {"capability_ids": ["alpha"], "arguments": {"alpha": "x" * 4001}},
        {"capability_ids": ["alpha"], "arguments": {"alpha": "\ud800"}},
        [],
    ],
)
def test_odd_input_is_refused(api: Any, body: Any) -> None:
    publish()
    api.error(api.post(RENDER, body), 400, "INVALID_REQUEST")


@pytest.mark.usefixtures("closed")
def test_it_needs_the_scope_read(api: Any) -> None:
    publish()
    body = {"capability_ids": ["alpha"]}
    api.error(api.post(RENDER, body), 401, "UNAUTHENTICATED")
    api.error(api.post(RENDER, body, headers=bearer("publish")), 403, "FORBIDDEN")
    assert api.ok(api.post(RENDER, body, headers=bearer("read")), "prompt")["included"] == ["alpha"]
    assert bundle()["skill.md"].strip() in api.post(RENDER, body, headers=bearer("read")).json()["prompt"]
