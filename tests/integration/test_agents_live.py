"""The agents of docs/agents/ against the product itself, the two vendors played by a local server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from capability_client import CapabilityNotFound, Environment, Registry, Session, User
from capability_client.tests.registries import fake_registry
from docs.agents.anthropic_messages import AnthropicMessages
from docs.agents.openai_chat import OpenAiChat
from docs.agents.scripted import keep_weights
from tests.integration.stand_ins import anthropic_answer, openai_answer
from tests.json_values import parsed
from tests.servers import ROOT, Studio

pytestmark = [pytest.mark.system, pytest.mark.slow]


def test_the_client_and_the_product_understand_each_other(live_studio: Studio, tmp_path: Any) -> None:
    with Registry(live_studio.url, cache_dir=tmp_path, lock=tmp_path / "lock.json") as registry:
        listing = registry.list(limit=2)
        assert len(listing) == 7
        for entry in listing:
            bundle = registry.load(entry.capability_id)
            assert bundle.digest == entry.digest
            assert registry.load(entry.capability_id, digest=entry.digest) == bundle
            assert registry.reload(entry.capability_id).digest == bundle.digest
        with pytest.raises(CapabilityNotFound) as caught:
            registry.load("sleep_tracking")
        assert "Currently available" in caught.value.user_message()
        found = registry.match("I just weighed 187.6 lbs")
        assert found["matches"][0]["capability_id"] == "weights"
        session = Session(registry, user=User(name="Alice"), environment=Environment())
        assert [hint.capability_id for hint in session.turn("I just weighed 187.6 lbs").hints][:1] == ["weights"]
        assert session.turn("1 + 1 = ?").hints == ()


def test_the_prompt_of_the_product_is_the_prompt_of_a_session(live_studio: Studio) -> None:
    import httpx2

    with Registry(live_studio.url) as registry:
        session = Session(registry, environment=Environment())
        session.load("weights", arguments="today")
    body = {"capability_ids": ["weights"], "arguments": {"weights": "today"}, "environment": {"os": "linux"}}
    answer = httpx2.post(f"{live_studio.url}/api/v1/prompt_render", json=body)
    assert answer.json() == session.prompt().as_dict()


def test_the_scripted_agent_says_what_the_page_shows(live_studio: Studio) -> None:
    command = [sys.executable, "-m", "docs.agents.scripted", live_studio.url]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    page = (ROOT / "docs" / "agents.md").read_text("utf-8")
    shown = re.search(r"docs\.agents\.scripted http\S+\n\n```text\n(.*?)```", page, re.DOTALL)
    assert shown is not None
    assert done.stdout == shown[1]


def test_plain_http_says_what_the_page_shows(live_studio: Studio) -> None:
    command = [sys.executable, "-m", "docs.agents.plain_http", live_studio.url, "Log my workout and weigh-in"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    page = (ROOT / "docs" / "agents.md").read_text("utf-8")
    shown = re.search(r"```text\n(needed: .*?)```", page, re.DOTALL)
    assert shown is not None
    assert done.stdout == shown[1]


def test_a_quarantine_and_its_end_reach_a_running_conversation(live_studio: Studio, tmp_path: Any) -> None:
    def is_listed() -> bool:
        """As its readers see it: another process has written."""
        with Registry(live_studio.url) as reader:
            return "meals" in [entry.capability_id for entry in reader.list()]

    with Registry(live_studio.url, cache_dir=tmp_path) as registry:
        session = Session(registry, user=User(name="Alice"), environment=Environment())
        session.load("meals")
        session.turn("lunch was a salad")
        assert {each.capability_id for each in session.active} == {"meals"}
        live_studio.manage("bundle", "quarantine", "meals", "--note", "for a test")
        live_studio.server.wait_until(lambda: not is_listed())
        try:
            events = session.turn("and dinner").events
            assert session.state()["loaded_skills"] == []
            assert any(event.kind == "dropped" and event.capability_id == "meals" for event in events)
            assert "- meals: it was taken out of use" in session.prompt().prompt
            result = session.result_of("capability_skill_load", {"capability_id": "meals"}, run=keep_weights)
            assert parsed(result)["error"]["code"] == "CAPABILITY_QUARANTINED"
        finally:
            live_studio.manage("bundle", "restore", "meals", "--note", "for a test")
        live_studio.server.wait_until(is_listed)
        session.turn("lunch was a salad")
        assert session.load("meals").capability_id == "meals"
        session.turn("and dinner")
        assert session.state()["loaded_skills"] == ["meals"], "it is in what changed since"
        assert "taken out of use" not in session.prompt().prompt


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
@pytest.mark.parametrize("is_approved", [True, False])
def test_a_model_behind_a_vendors_format(live_studio: Studio, vendor: str, is_approved: bool) -> None:
    with (
        fake_registry(completions=openai_answer, messages=anthropic_answer) as stand_in,
        Registry(live_studio.url) as registry,
    ):
        openai = OpenAiChat(stand_in.url, "k", "any")
        model = openai if vendor == "openai" else AnthropicMessages(stand_in.url, "k", "any")
        asked: list[str] = []

        def approve(call: Any) -> bool:
            asked.append(call.summary())
            return is_approved

        session = Session(registry, user=User(name="Alice"))
        said = session.say("I just weighed 187.6 lbs", model, run=keep_weights, approve=approve)
        assert said.startswith("Done: ")
        assert ('"saved": 1' in said) is is_approved
        assert ("CALL_REJECTED" in said) is not is_approved
        assert len(asked) == 1
        assert len(stand_in.asked) == 3
        assert "### Skill: weights" in json.dumps(stand_in.asked[1].body)
        assert "### Skill: weights" not in json.dumps(stand_in.asked[0].body)
