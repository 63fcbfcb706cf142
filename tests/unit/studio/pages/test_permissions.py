"""Every address and who may open it: a new one that is not for every operator to read fails without a rule here."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.access import operators
from registry.catalog import drafts
from registry.models import AuditEvent
from studio.pages.urls import urlpatterns
from tests import feature_pages
from tests.factories import OLGA
from tests.sweeps import check_each, rolled_back
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with
from tests.unit.studio.page_sweep import NO_PAGE, find_address, furnish

pytestmark = pytest.mark.django_db

ROLES = ("viewer", "author", "publisher", "admin")
# The least role that may GET and POST; None where that method is none of the page's. What is not named here can be read
# by every operator, and takes no POST.
NAMED: dict[str, tuple[str | None, str | None]] = {
    "tour_leave": ("viewer", "viewer"),
    "tour_show": ("viewer", "viewer"),
    "tour_step": (None, "viewer"),
    "password": ("viewer", "viewer"),
    "app_enable": ("viewer", "viewer"),
    "app_disable": ("viewer", "viewer"),
    "passkey_add": ("viewer", "viewer"),
    "passkey_rename": ("viewer", "viewer"),
    "passkey_remove": ("viewer", "viewer"),
    "recovery_codes_replace": ("viewer", "viewer"),
    "session_end": ("viewer", "viewer"),
    "session_end_others": ("viewer", "viewer"),
    "bulk_deprecate": ("publisher", "publisher"),
    "bulk_revalidate": ("publisher", "publisher"),
    "bulk_export": ("viewer", "viewer"),
    "skill_group_new": ("publisher", "publisher"),
    "skill_group_save": ("publisher", "publisher"),
    "skill_group_remove": ("publisher", "publisher"),
    "capability_new": ("author", "author"),
    "capability_copy": ("author", "author"),
    "capability_files": ("author", "author"),
    "capability_git": ("author", "author"),
    "capability_git_show": ("author", None),
    "demand_dismiss": ("author", "author"),
    "demand_bring_back": ("author", "author"),
    "outcome_list": ("author", None),
    "outcome_erase": ("author", "author"),
    "sentence_add": ("author", "author"),
    "draft_edit": ("author", None),
    "draft_check": (None, "author"),
    # Whoever opens the address of a form is led to the page that has it.
    "draft_save": ("author", "author"),
    "draft_merge": ("author", "author"),
    "draft_preview": (None, "author"),
    "draft_action": (None, "author"),
    "draft_form": (None, "author"),
    "draft_discard": ("author", "author"),
    "draft_version_list": ("author", None),
    "draft_version_show": ("author", None),
    "draft_version_restore": ("author", "author"),
    "gate_show": ("viewer", "publisher"),
    "rollback": ("publisher", "publisher"),
    "capability_deprecate": ("publisher", "publisher"),
    "capability_retire": ("publisher", "publisher"),
    "capability_quarantine": ("publisher", "publisher"),
    "capability_restore": ("publisher", "publisher"),
    "agent_key_list": ("admin", "admin"),
    "agent_key_revoke": ("admin", "admin"),
    "agent_key_show": ("admin", None),
    "agent_key_change": ("admin", "admin"),
    "agent_key_rotate": ("admin", "admin"),
    "capability_live": ("viewer", "admin"),
    "proposal_accept": ("author", "author"),
    "proposal_reject": ("author", "author"),
    "audit_list": ("admin", None),
    "audit_export": ("admin", None),
    "operator_list": ("admin", "admin"),
    "operator_reset": ("admin", "admin"),
    "operator_details": ("admin", "admin"),
    "operator_role": ("admin", "admin"),
    "operator_disable": ("admin", "admin"),
    "operator_enable": ("admin", "admin"),
    "team_create": ("admin", "admin"),
    "team_change": ("admin", "admin"),
    "team_add_member": ("admin", "admin"),
    "team_remove_member": ("admin", "admin"),
    "team_own": ("admin", "admin"),
    "team_disown": ("admin", "admin"),
    "team_delete": ("admin", "admin"),
    "release_schedule": ("viewer", "publisher"),
    "release_change": ("publisher", "publisher"),
    "release_cancel": ("publisher", "publisher"),
    "release_rule_list": ("admin", "admin"),
    "release_rule_drop": ("admin", "admin"),
    "backup_show": ("admin", "admin"),
    "supporting_save": ("author", "author"),
    "supporting_remove": ("author", "author"),
    "review_ask": ("viewer", "author"),
    "review_comment": ("viewer", "author"),
    "review_reply": ("viewer", "author"),
    "review_resolve": ("viewer", "author"),
    "review_reopen": ("viewer", "author"),
    "review_decide": ("viewer", "author"),
    "review_reviewer_add": ("viewer", "author"),
    "review_reviewer_remove": ("viewer", "author"),
    # Of olga's review: only the author of a review and admins.
    "review_withdraw": ("admin", "admin"),
}
for _pages in feature_pages.ALL:
    NAMED |= _pages.roles
OWN = frozenset[str]().union(*(pages.own for pages in feature_pages.ALL))
# Open to strangers: the way in and the way out.
OPEN = {"sign_in", "sign_out", "welcome", "passkey_sign_in", "passkey_options"}
# The same for all, and nothing is written.
OPEN_TO_READ = {"script_texts", "docs_list", "docs_show", "docs_file"}
RULES = {
    str(pattern.name): ("viewer", None) for pattern in urlpatterns if pattern.name not in OPEN | OPEN_TO_READ
} | NAMED


@pytest.fixture(autouse=True)
def alpha(db: None) -> None:
    """Something on every page."""
    furnish()


def test_every_rule_is_of_an_address() -> None:
    assert {pattern.name for pattern in urlpatterns} == set(RULES) | OPEN | OPEN_TO_READ


@pytest.mark.slow
def test_what_can_only_be_read_has_something_to_show(signed_in: SignIn) -> None:
    """So that the sweeps of all pages look at it: they pass over what leads elsewhere."""
    client = signed_in()

    def check(name: str) -> None:
        assert client.get(find_address(name)).status_code == 200

    read_only = {name for name, (_, post) in RULES.items() if post is None} | OPEN_TO_READ
    # Of a text there is no preview: it leads to the text.
    check_each(sorted(read_only - NO_PAGE.keys() - {"supporting_preview"}), check)


def test_a_stranger_is_led_to_the_sign_in() -> None:
    written = AuditEvent.objects.count()

    def check(name: str) -> None:
        address = find_address(name)
        for method in ("get", "head", "post", "put", "delete", "patch"):
            answer = getattr(Client(), method)(address)
            assert answer.status_code == 302, method
            back_to = address if method in ("get", "head") else "/"
            assert answer["Location"] == f"/sign-in/?next={quote(back_to)}", method
        assert AuditEvent.objects.count() == written

    check_each(sorted(RULES), check, isolate=rolled_back)


# An admin gets furthest: whatever a page asks of the database is asked there too.
@pytest.mark.parametrize(
    "role",
    [
        pytest.param("viewer", marks=pytest.mark.slow),
        pytest.param("author", marks=pytest.mark.slow),
        "publisher",
        pytest.param("admin", marks=[pytest.mark.slow, pytest.mark.both_databases]),
    ],
)
def test_a_role_may_do_what_the_rule_says(role: str, signed_in: SignIn) -> None:
    client, written = signed_in(role), AuditEvent.objects.count()

    def check(name: str) -> None:
        address = find_address(name)
        for method, least in zip(("get", "post"), RULES[name], strict=True):
            answer = getattr(client, method)(address)
            if least is not None and ROLES.index(role) < ROLES.index(least):
                assert answer.status_code in ((302, 403, 404) if name in OWN else (403,)), method
                assert AuditEvent.objects.count() == written, method
            elif least is None:
                assert answer.status_code in (403, 405), method
            else:
                assert answer.status_code in (200, 301, 302, 400, 409), method
                assert "sign-in" not in answer.headers.get("Location", ""), method

    check_each(sorted(RULES), check, isolate=rolled_back)


@pytest.mark.slow
def test_no_other_method_is_taken(signed_in: SignIn) -> None:
    client = signed_in()

    def check(name: str) -> None:
        address = find_address(name)
        assert [getattr(client, method)(address).status_code for method in ("put", "delete", "patch")] == [405] * 3

    check_each(sorted(RULES), check, isolate=rolled_back)


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.both_databases
def test_a_get_never_writes(signed_in: SignIn) -> None:
    client = signed_in()

    def check(name: str) -> None:
        address = find_address(name)
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        # PostgreSQL hands rows out of a cursor that is declared for a SELECT.
        found = {re.sub(r"^DECLARE .*? FOR (?=SELECT)", "", query["sql"]) for query in queries.captured_queries}
        assert {sql.split()[0] for sql in found} <= {"SELECT"}

    check_each(sorted({*RULES, *OPEN}), check, isolate=rolled_back)


def test_a_form_from_elsewhere_is_refused(signed_in: SignIn) -> None:
    client = signed_in(enforce_csrf_checks=True)
    written = AuditEvent.objects.count()

    def check(name: str) -> None:
        answer = client.post(find_address(name), {"note": "x", "name": "x"})
        assert answer.status_code == 403
        assert b"Your session changed" in answer.content
        assert AuditEvent.objects.count() == written

    check_each(sorted(RULES), check, isolate=rolled_back)


@pytest.mark.slow
def test_the_first_password_is_changed_before_anything_else(signed_in: SignIn) -> None:
    client = signed_in(must_change_password=True)
    written = AuditEvent.objects.count()

    def check(name: str) -> None:
        address = find_address(name)
        for method in ("get", "post"):
            answer = getattr(client, method)(address)
            assert (answer.status_code, answer["Location"]) == (302, "/password/")
        assert AuditEvent.objects.count() == written

    check_each(sorted(set(RULES) - {"password"}), check, isolate=rolled_back)


def test_who_is_disabled_is_shut_out_at_once(signed_in: SignIn) -> None:
    client = signed_in("publisher")
    assert client.get("/capabilities/").status_code == 200
    operators.disable_operator(username="the-publisher", by=OLGA)
    assert client.get("/capabilities/")["Location"] == "/sign-in/?next=/capabilities/"
    assert client.post("/capabilities/alpha/retire/").status_code == 302
    assert client.login(username="the-publisher", password="Correct-horse-battery-9") is False


def test_a_fragment_sends_the_whole_browser_to_the_sign_in() -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/capabilities/?q=a"}
    answer = Client().get("/capabilities/?q=ab", headers=headers)
    assert (answer.status_code, answer.content) == (401, b"")
    assert answer["HX-Redirect"] == "/sign-in/?next=/capabilities/%3Fq%3Da"


@pytest.mark.parametrize("name", ["draft_check", "draft_save"])
def test_a_text_is_never_taken_away_by_a_redirect(name: str, signed_in: SignIn) -> None:
    answers = [
        client.post(find_address(name), {"skill_md": "typed"}, headers={"HX-Request": "true"})
        for client in (Client(), signed_in(must_change_password=True))
    ]
    assert [(answer.status_code, "HX-Redirect" in answer.headers) for answer in answers] == [(401, False)] * 2


def test_without_scripts_a_text_is_shown_when_the_session_has_ended() -> None:
    text = "\n two\r\n<b>lines</b>"
    answer = Client().post(
        find_address("draft_save"),
        {"skill_md": text, "based_on": "1"},
        headers={"Referer": "http://testserver/capabilities/alpha/edit/"},
    )
    assert answer.status_code == 401
    page = answer.content.decode()
    assert "&lt;b&gt;lines&lt;/b&gt;" in page
    assert "/sign-in/?next=/capabilities/alpha/edit/" in page
    assert "based_on" not in page.partition("<form method=")[0], "it is not a text of the person's"


def test_every_field_that_was_written_is_shown_when_the_session_has_ended_but_no_secret() -> None:
    written = {"tool-0-name": "room_find", "tool-0-arg-1-meaning": "The day", "note": "Why", "url": "https://a.example"}
    carried = {"csrfmiddlewaretoken": "c-s-r-f", "old_password": "hunter-2", "empty": ""}
    page = Client().post("/new-capability/", written | carried).content.decode()
    assert all(f"<bdi>{text}</bdi>" in page for text in written.values())
    assert not any(text in page for text in carried.values() if text)
    assert ">Tool 1: Name</dt>" in page
    assert ">Tool 1, argument 2: Description</dt>" in page
    assert ">Note</dt>" in page
    assert ">URL</dt>" in page


@pytest.mark.parametrize("address", ["/members/", "/keys/", "/webhooks/", "/audit/", "/settings/publishing/"])
def test_who_may_not_is_told_so_of_any_page_of_admins(address: str, signed_in: SignIn) -> None:
    answer = signed_in("viewer").get(address)
    assert answer.status_code == 403
    assert "Only admins can open this page." in answer.content.decode()


@pytest.mark.parametrize("before", ["https://elsewhere.example/x", "javascript:alert(1)", "http://testserver"])
def test_an_odd_page_before_is_not_come_back_to(before: str) -> None:
    answer = Client().post(find_address("capability_retire"), headers={"Referer": before})
    assert answer["Location"] == "/sign-in/?next=/"


def test_pages_are_kept_by_nobody_else(signed_in: SignIn) -> None:
    answer = signed_in().get("/capabilities/")
    assert answer["Cache-Control"] == "private, no-cache"
    assert "Cookie" in answer["Vary"]


@pytest.mark.parametrize("name", ["draft_save", "capability_restore", "rollback", "agent_key_revoke"])
def test_the_address_of_a_form_leads_to_the_page_that_has_it(name: str, signed_in: SignIn) -> None:
    pages = {
        "draft_save": "/capabilities/alpha/edit/",
        "rollback": "/capabilities/alpha/history/1/",
        "agent_key_revoke": "/keys/",
    }
    assert signed_in().get(find_address(name))["Location"] == pages.get(name, "/capabilities/alpha/")


def test_a_form_of_before_is_sent_again_after_signing_in(signed_in: SignIn) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.get("/sign-in/")
    token = strict.cookies[settings.CSRF_COOKIE_NAME].value
    typed = {"name": "Plant Care", "capability_id": "plant_care", "description": 'Waters "plants".'}
    typed |= {"skill_profile": "capability", "triggers": "water the plants"}
    ended = strict.post("/new-capability/", typed | {"csrfmiddlewaretoken": token})
    assert ended.status_code == 401
    again = form_with(ended, "Submit again")
    assert (again.action, {name: again.values[name] for name in typed}) == ("/new-capability/", typed)
    strict.cookies.update(signed_in("author").cookies)
    strict.cookies[settings.CSRF_COOKIE_NAME] = "n" * 32
    here = {"Origin": "http://testserver"}
    assert strict.post(again.action, again.values).status_code == 403, "a page of elsewhere is offered nothing"
    assert "Submit again" not in strict.post(again.action, again.values).content.decode()
    refused = strict.post(again.action, again.values, headers=here)
    assert refused.status_code == 403
    once_more = form_with(refused, "Submit again")
    done = strict.post(once_more.action, once_more.values, headers=here)
    assert done.status_code == 302, done.content.decode()
    assert "Waters" in drafts.get_draft("plant_care").files["capability.json"]


def test_a_form_with_a_secret_is_typed_again(signed_in: SignIn) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies.update(signed_in("author").cookies)
    sent = {"note": "Why", "current_password": "hunter-2"}
    page = strict.post("/password/", sent, headers={"Origin": "http://testserver"}).content.decode()
    assert "hunter-2" not in page
    assert "Submit again" not in page
