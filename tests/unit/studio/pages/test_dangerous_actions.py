"""Each form of the Studio is dangerous or ordinary; an open browser alone is not enough for a dangerous one."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from features.acceptances.models import Acceptance
from registry.models import AuditEvent
from registry.publishing import publication
from registry.publishing.quarantine import quarantine
from studio.pages.dangerous_actions import DANGEROUS_ACTIONS
from tests import feature_pages
from tests.factories import DOUBT, bundle
from tests.sessions import confirm_identity
from tests.sweeps import check_each, rolled_back
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.pages import test_confirmations
from tests.unit.studio.pages.test_confirmations import ADMIN, _address, _stored
from tests.unit.studio.pages.test_permissions import OPEN, RULES

pytestmark = pytest.mark.django_db
world = test_confirmations.world
ASKS = "Confirm that it"
# Of a page that has harmless forms too: what makes its form a dangerous one.
FORMS: dict[str, dict[str, Any]] = {
    "connection_allow": {"decision": "allow"},
    "source_create": {"kind": "git", "address": "https://git.example/other", "mode": "publish", "every_minutes": "60"},
    "source_change": {"mode": "publish", "every_minutes": "60"},
    "waiver_create": {"code": "SEC_EXFILTRATION", "place": "skill.md:1", "reason": "Known.", "until": "2030-01-01"},
}
# What loses nothing to an open browser: it stops something, works on drafts, publishes through the gate under the
# rights of its person, or concerns their own view alone.
ORDINARY = {
    *("agent_key_revoke", "capability_quarantine", "capability_retire"),
    *("session_end", "session_end_others", "sign_out"),
    *("capability_new", "capability_copy", "capability_files", "capability_git", "sentence_add"),
    *("draft_action", "draft_check", "draft_form", "draft_merge", "draft_preview", "draft_save", "draft_discard"),
    *("draft_version_restore", "supporting_save", "supporting_remove", "proposal_accept", "proposal_reject"),
    *("gate_show", "rollback", "capability_deprecate", "bulk_deprecate", "bulk_export", "bulk_revalidate"),
    *("release_schedule", "release_change", "release_cancel"),
    *("review_ask", "review_comment", "review_reply", "review_resolve", "review_reopen", "review_decide"),
    *("review_reviewer_add", "review_reviewer_remove", "review_withdraw"),
    *("skill_group_new", "skill_group_save", "skill_group_remove", "team_create", "team_change"),
    *("demand_dismiss", "demand_bring_back", "passkey_rename", "outcome_erase"),
    *("tour_leave", "tour_show", "tour_step"),
    # They ask by themselves, or are the way in.
    *("password", "sign_in", "passkey_sign_in", "passkey_options", "welcome"),
    *(name for pages in feature_pages.ALL for name in pages.ordinary),
}


def _form_address(name: str) -> str:
    """As `_address`, of other pages too."""
    arguments: dict[str, list[Any]] = {
        "capability_restore": ["beta"],
        "rollback": ["alpha", 1],
        "draft_version_restore": ["alpha", 1],
        "tour_step": ["example"],
    }
    return reverse(f"studio:{name}", args=arguments[name]) if name in arguments else _address(name)


def _open_browser(world: Client) -> Client:
    confirm_identity(world, seconds_ago=16 * 60)
    return world


def _quarantine_own() -> None:
    """What nobody but the admin who published it could give back."""
    publication.publish(files=bundle("beta", body="Mine."), by=ADMIN, note="Mine")
    quarantine(capability_id="beta", by=ADMIN)


def _send_doubt() -> dict[str, Any]:
    """A form that decides about what nobody but the admin who sent it could decide."""
    publication.publish(files=bundle("beta", body=DOUBT), by=ADMIN, note="Mine")
    return {"chosen": Acceptance.passages.get().capability_id + ":" + Acceptance.passages.get().fingerprint}


def test_every_form_is_dangerous_or_ordinary() -> None:
    posts = {name for name, (_get, post) in RULES.items() if post} | OPEN
    assert set(DANGEROUS_ACTIONS) | ORDINARY == posts
    assert not set(DANGEROUS_ACTIONS) & ORDINARY


def test_nothing_dangerous_is_done_by_an_open_browser(world: Client) -> None:
    client = _open_browser(world)

    def check(name: str) -> None:
        if name == "capability_restore":
            _quarantine_own()
        form = _send_doubt() if name in ("decision_list", "decision_show") else FORMS.get(name, {})
        before = _stored()
        for more in ({}, {"confirmed": "yes", "seen_state": ""}):
            answer = client.post(_form_address(name), {"what": "app", **form, **more})
            assert (answer.status_code, ASKS in answer.content.decode()) == (403, True)
            assert "no-store" in answer["Cache-Control"]
        assert _stored() == before

    check_each(sorted(DANGEROUS_ACTIONS), check, isolate=rolled_back)


@pytest.mark.slow
def test_what_is_ordinary_asks_nothing(world: Client) -> None:
    client = _open_browser(world)

    def check(name: str) -> None:
        assert ASKS not in client.post(_form_address(name)).content.decode()

    check_each(sorted(ORDINARY - OPEN - {"sign_out"}), check, isolate=rolled_back)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("source_create", {"kind": "git", "address": "https://git.example/x", "mode": "draft", "every_minutes": "60"}),
        ("source_change", {"mode": "draft", "every_minutes": "30"}),
        ("waiver_create", {"code": "TRIGGER_TOO_GENERAL", "place": "capability.json:1"}),
    ],
)
def test_the_harmless_form_of_such_a_page_asks_nothing(name: str, form: dict[str, str], world: Client) -> None:
    answer = _open_browser(world).post(_address(name), form)
    assert ASKS not in answer.content.decode()
    assert answer.status_code == 302


def test_a_key_that_is_typed_for_a_source_asks(world: Client) -> None:
    client = _open_browser(world)
    form = {"kind": "registry", "address": "https://r.example", "mode": "draft", "every_minutes": "60"}
    answer = client.post(_address("source_create"), {**form, "read_key": "csk_other"})
    assert (answer.status_code, ASKS in answer.content.decode()) == (403, True)
    assert not AuditEvent.objects.filter(verb="git_source.add", subject="https://r.example").exists()


def test_a_quarantine_that_somebody_else_could_end_asks_nothing(world: Client) -> None:
    quarantine(capability_id="alpha", by=ADMIN)
    answer = _open_browser(world).post(_address("capability_restore"), {"note": "Looked at it"})
    assert (answer.status_code, ASKS in answer.content.decode()) == (200, False), "the question"


def test_who_may_not_do_it_is_refused_and_asked_nothing(signed_in: SignIn) -> None:
    client = signed_in("author")
    confirm_identity(client, seconds_ago=3600)
    answer = client.post("/keys/", {"name": "bot", "scopes": ["read"]})
    assert (answer.status_code, ASKS in answer.content.decode()) == (403, False)
