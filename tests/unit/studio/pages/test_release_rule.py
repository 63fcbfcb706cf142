"""What publishing asks for, set by admins."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from registry.matching.embedders import get_embedder
from registry.models import AuditEvent, Job, ReleaseRule, SkillGroup
from tests.unit.registry.publishing.test_release_rules import set_rule
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import confirm, form_with, forms_in

pytestmark = pytest.mark.django_db

RULES = "/settings/publishing/"


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("admin")


def test_the_registrys_rule_is_set_and_shown_again(client: Client) -> None:
    form = form_with(client.get(RULES), "Save")
    assert form.values["loosening"] == "publisher"
    assert form.submit(client, four_eyes=["on"], comments_resolved=["on"], loosening="second_person").status_code == 302
    rule = ReleaseRule.objects.get(group_id="")
    assert (rule.four_eyes, rule.loosening, rule.note_required) == (True, "second_person", False)
    assert rule.comments_resolved
    again = form_with(client.get(RULES), "Save")
    assert again.values["comments_resolved"] == ["on"]
    assert (again.values["four_eyes"], again.values["loosening"]) == (["on"], "second_person")
    event = AuditEvent.objects.get(verb="release_rule.set")
    assert (event.actor_name, event.subject) == ("the-admin", "registry")


def test_a_groups_rule_comes_and_goes(client: Client) -> None:
    SkillGroup.objects.create(group_id="health", name="Health")
    page = client.get(RULES)
    assert '<option value="health"></option>' in page.content.decode()
    assert form_with(page, "Add rule").submit(client, group_id="health", note_required=["on"]).status_code == 302
    assert ReleaseRule.objects.get().group_id == "health"
    form = form_with(client.get(RULES), "Remove rule")
    assert form.values["group_id"] == "health"
    asked = form.submit(client)
    assert "This rule no longer requires a release note." in asked.content.decode()
    assert confirm(client, asked).status_code == 302
    assert not ReleaseRule.objects.exists()
    confirm(client, asked)
    assert "There is no rule for" in client.get(RULES).content.decode()


@pytest.mark.parametrize("group_id", ["", "Not An Id", "x" * 65])
def test_an_odd_group_is_refused_and_sets_nothing_for_the_registry(group_id: str, client: Client) -> None:
    answer = form_with(client.get(RULES), "Add rule").submit(client, group_id=group_id, four_eyes=["on"])
    assert answer.status_code == 400
    assert form_with(answer, "Add rule").values["group_id"] == group_id
    assert not ReleaseRule.objects.exists()


def test_an_odd_choice_is_refused(client: Client) -> None:
    assert form_with(client.get(RULES), "Save").submit(client, loosening="anybody").status_code == 400


def test_every_rule_has_its_own_form(client: Client) -> None:
    set_rule("health", four_eyes=True)
    set_rule("food")
    forms = [form for form in forms_in(client.get(RULES)) if "Save" in form.buttons]
    ids = [form.values["group_id"] for form in forms if form.values.get("group_id")]
    assert ids == ["food", "health"]


@pytest.mark.parametrize(
    ("embedder", "said", "unsaid"),
    [
        (
            "multilingual",
            ["Arabic, Chinese, ", "universal-sentence-encoder-multilingual-3-numpy"],
            ["No sentence model"],
        ),
        ("minilm", ["English"], ["Arabic", "No sentence model"]),
        ("https://user:secret@models.example/v1", ["<code>some-model</code>"], ["secret", "models.example"]),
        ("none", ["No sentence model"], ["English", "Arabic"]),
    ],
)
def test_page_says_which_languages_the_sentence_model_reads(
    client: Client, settings: Any, embedder: str, said: list[str], unsaid: list[str]
) -> None:
    settings.EMBEDDER, settings.EMBEDDER_MODEL = embedder, "some-model"
    get_embedder.cache_clear()
    page = client.get(RULES).content.decode()
    section = page.split('data-section="languages"')[1].split("</section>")[0]
    assert [words for words in said if words not in section] == []
    assert [words for words in unsaid if words in section] == []


@pytest.mark.parametrize(
    ("state", "payload", "error", "said", "unsaid"),
    [
        ("done", {"made": 3588, "total": 3588}, "", ["3588"], ["Until then"]),
        ("running", {"made": 64, "total": 3588, "meanwhile": "all-old"}, "", ["64 of 3588", "all-old"], ["failed"]),
        ("running", {"made": 64, "total": 3588}, "", ["64 of 3588", "triggers and shared words"], ["failed"]),
        ("queued", {"made": 64, "total": 3588}, "EmbedderUnavailable: away", ["repeated", "away"], ["job retry"]),
        ("parked", {"made": 64, "total": 3588}, "EmbedderUnavailable: <b>", ["has stopped", "&lt;b&gt;"], ["<b>"]),
        ("done", {"model": "another", "made": 5, "total": 5}, "", ["Restart the worker"], ["All 5"]),
        ("queued", {}, "", ["about to prepare"], ["sentences are", "Until then"]),
        ("running", {"made": 64, "total": 99, "meanwhile": "some-model"}, "", ["The others"], ["Until then"]),
    ],
)
def test_page_says_how_far_the_vectors_of_the_model_are(
    client: Client, settings: Any, state: str, payload: dict[str, Any], error: str, said: list[str], unsaid: list[str]
) -> None:
    settings.EMBEDDER, settings.EMBEDDER_MODEL = "https://models.example/v1", "some-model"
    get_embedder.cache_clear()
    if payload:
        payload = {"model": "some-model", "since": "2026-11-27T09:00:00+00:00", **payload}
    ended = timezone.now() if state in ("done", "parked") else None
    lease = timezone.now() if state == "running" else None
    Job.objects.create(
        kind="matching.learn", state=state, payload=payload, last_error=error, finished_at=ended, lease_expires_at=lease
    )
    line = client.get(RULES).content.decode().split("data-training=")[1].split("</p>")[0]
    assert [words for words in said if words not in line] == []
    assert [words for words in unsaid if words in line] == []
