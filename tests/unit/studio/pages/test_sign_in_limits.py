"""Wrong passwords slow down an account and a network, never lock the owner out, and are in the audit log."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client
from pytest_django import Settings

from registry.access import operators, password_hashers, sign_ins
from registry.common import rate_limits
from registry.common.rate_limits import RateLimited
from registry.core import audit
from registry.models import AuditEvent, Operator
from studio.config.parsers import Rate
from tests.factories import OLGA, fresh_process
from tests.settings import PRODUCT_PASSWORD_HASHERS
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
URL = "/sign-in/"
PASSWORD = "a right password"
FAILED, SIGNED_IN = "operator.sign_in_failed", "operator.sign_in"
Clock = Callable[[float], None]

_fresh = pytest.fixture(autouse=True)(fresh_process)


@pytest.fixture(autouse=True)
def _limit(settings: Settings) -> None:
    settings.RATE_LIMITS = {"guess": Rate(20, 60)}


@pytest.fixture(autouse=True)
def ada() -> Operator:
    return operators.create_operator(username="ada", password=PASSWORD, role="viewer", by=OLGA)


@pytest.fixture(autouse=True)
def wait(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Advances the clock, which stands still otherwise."""
    now = [1000.0]
    clock = SimpleNamespace(monotonic=lambda: now[0])
    for module in ("registry.common.rate_limits", "registry.access.sign_ins"):
        monkeypatch.setattr(f"{module}.time", clock)

    def passed(seconds: float) -> None:
        now[0] += seconds

    return passed


def _try(password: str = "wrong", *, name: str = "ada", at: str = "192.0.2.1", client: Client | None = None) -> Any:
    return (client or Client()).post(URL, {"username": name, "password": password}, REMOTE_ADDR=at)


def _leave(client: Client) -> None:
    """Sign out; unlike the client's own `logout` it keeps the other cookies, as a browser does."""
    assert client.post("/sign-out/").status_code == 302


def _wait_of(response: Any) -> int:
    assert response.status_code == 429, response.status_code
    assert "Too many attempts. Try again in" in response.content.decode()
    assert "no-cache" in response["Cache-Control"]
    return int(response["Retry-After"])


def _rows(verb: str = FAILED) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(verb=verb))


# Slower, by account and by network


def test_a_few_wrong_passwords_are_forgiven() -> None:
    assert [_try().status_code for _ in range(4)] == [200] * 4
    assert _try(PASSWORD).status_code == 302
    # The right password has reset the counter.
    assert [_try().status_code for _ in range(4)] == [200] * 4


@pytest.mark.parametrize(
    "address",
    [lambda n: f"192.0.2.{n}", lambda n: f"2001:db8:1:1::{n:x}", lambda n: f"2001:db8:1:{n:x}::1"],
    ids=["addresses", "one network of IPv6", "networks of IPv6"],
)
def test_wrong_passwords_from_many_addresses_slow_the_account_down(address: Callable[[int], str]) -> None:
    answers = [_try(at=address(number)) for number in range(1, 61)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 55
    # The right one is not looked at either, and nobody is kept out for long.
    assert 1 <= _wait_of(_try(PASSWORD, at="198.51.100.7")) <= 60


def test_the_wait_grows_to_a_minute_and_never_further(wait: Clock) -> None:
    for _ in range(5):
        assert _try().status_code == 200
    waits = []
    for _ in range(9):
        waits.append(_wait_of(_try(PASSWORD)))
        # Trying too early makes it no longer.
        assert _wait_of(_try(PASSWORD)) == waits[-1]
        wait(waits[-1])
        assert _try().status_code == 200
    assert waits == [4, 8, 16, 32, 60, 60, 60, 60, 60]
    wait(60)
    assert _try(PASSWORD).status_code == 302


def test_a_quiet_while_makes_it_quick_again(wait: Clock) -> None:
    for _ in range(5):
        _try()
    wait(3600)
    assert [_try().status_code for _ in range(5)] == [200] * 5
    assert _wait_of(_try()) == 4


def test_a_network_is_slowed_down_whatever_names_it_tries() -> None:
    addresses = (f"2001:db8:1:1::{number:x}" for number in range(1, 100))
    answers = [_try(name=f"name{number}", at=next(addresses)).status_code for number in range(22)]
    assert answers == [200] * 20 + [429] * 2
    assert _wait_of(_try(PASSWORD, at="2001:db8:1:1:ffff::1")) >= 1
    assert _try(PASSWORD, at="2001:db8:1:2::1").status_code == 302


def test_the_setting_is_the_limit_of_a_network(settings: Settings) -> None:
    settings.RATE_LIMITS = {"guess": Rate(3, 60)}
    assert [_try().status_code for _ in range(4)] == [200, 200, 200, 429]
    assert _try(PASSWORD, at="192.0.2.2").status_code == 302


def test_off_means_no_limit(settings: Settings) -> None:
    settings.RATE_LIMITS = {}
    assert {_try().status_code for _ in range(40)} == {200}


def test_signing_in_rightly_is_not_counted() -> None:
    assert {_try(PASSWORD).status_code for _ in range(30)} == {302}


@pytest.mark.slow
def test_a_try_that_a_busy_server_did_not_look_at_is_not_counted(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PASSWORD_HASHERS = PRODUCT_PASSWORD_HASHERS
    operators.create_operator(username="eve", password=PASSWORD, role="viewer", by=OLGA)
    monkeypatch.setattr(password_hashers, "waiting_max", lambda: -1)
    for _ in range(10):
        assert _wait_of(_try(name="eve")) == 2
        assert _wait_of(_try(name="nobody")) == 2
    monkeypatch.setattr(password_hashers, "waiting_max", lambda: 1)
    assert _try(PASSWORD, name="eve").status_code == 302
    # Those that were looked at are counted all the same.
    for _ in range(5):
        assert _try(name="eve").status_code == 200
    _wait_of(_try(name="eve"))


def test_nor_is_a_current_password_that_it_did_not_look_at(monkeypatch: pytest.MonkeyPatch, signed_in: SignIn) -> None:
    client = signed_in("viewer")
    body = {"current": "Correct-horse-battery-9", "new": "another long one", "again": "another long one"}

    def refuse(*_args: object, **_kwargs: object) -> bool:
        raise RateLimited(2)

    with monkeypatch.context() as busy:
        busy.setattr("django.contrib.auth.base_user.check_password", refuse)
        for _ in range(10):
            assert client.post("/password/", body)["Retry-After"] == "2"
    assert client.post("/password/", body).status_code == 302


def test_an_account_buys_no_guesses_at_others() -> None:
    """Signing in to one's own account between guesses at others takes none of these back."""
    operators.create_operator(username="mallory", password=PASSWORD, role="viewer", by=OLGA)
    mallory = Client()
    answers = []
    for number in range(24):
        answers.append(_try(name=f"name{number}").status_code)
        _try(PASSWORD, name="mallory", client=mallory)
        _leave(mallory)
    assert answers == [200] * 20 + [429] * 4


@pytest.mark.slow
def test_a_flood_of_names_and_networks_is_bounded_and_forgets_no_account_under_attack(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rate_limits, "SUBJECTS_MAX", 20)
    for number in range(100):
        _try(name=f"name{number}", at=f"192.0.2.{number}")
        if number % 5 == 0:
            _try(at=f"198.51.100.{number}")
    assert len(rate_limits.FAILURE_THROTTLE._buckets) <= 20
    assert _wait_of(_try(PASSWORD, at="203.0.113.1"))


# The owner


def test_a_browser_that_knows_the_account_is_not_slowed_down_by_strangers() -> None:
    owner = Client()
    assert _try(PASSWORD, client=owner, at="203.0.113.5").status_code == 302
    _leave(owner)
    for number in range(1, 61):
        _try(at=f"192.0.2.{number}")
    assert _try(PASSWORD, at="203.0.113.5").status_code == 429
    assert _try(PASSWORD, client=owner, at="203.0.113.5").status_code == 302
    # Nor by a neighbour in the same network.
    _leave(owner)
    for number in range(25):
        _try(name=f"name{number}", at="203.0.113.5")
    assert _try(PASSWORD, client=owner, at="203.0.113.5").status_code == 302
    # And the strangers go on as slowly as before.
    assert _try(at="192.0.2.200").status_code == 429


def test_a_known_browser_has_a_count_of_its_own() -> None:
    thief = Client()
    _try(PASSWORD, client=thief)
    _leave(thief)
    answers = [_try(client=thief, at=f"192.0.2.{number}").status_code for number in range(8)]
    assert answers == [200] * 5 + [429] * 3
    assert _try(PASSWORD, at="198.51.100.1").status_code == 302


@pytest.mark.parametrize("change", [lambda _: "x", lambda value: value + "x", lambda value: f"other:{value}"])
def test_a_made_up_cookie_is_none(change: Callable[[str], str]) -> None:
    client = Client()
    _try(PASSWORD, client=client)
    _leave(client)
    for number in range(1, 10):
        _try(at=f"192.0.2.{number}")
    name = f"{django_settings.SESSION_COOKIE_NAME}_device"
    client.cookies[name] = change(client.cookies[name].value)
    assert _try(PASSWORD, client=client).status_code == 429


def test_the_cookie_of_one_account_is_none_of_another() -> None:
    operators.create_operator(username="bob", password=PASSWORD, role="viewer", by=OLGA)
    bob = Client()
    _try(PASSWORD, name="bob", client=bob)
    _leave(bob)
    assert [_try(client=bob, at=f"192.0.2.{number}").status_code for number in range(1, 8)] == [200] * 5 + [429] * 2
    assert _try(PASSWORD, at="198.51.100.1").status_code == 429


def test_the_cookie_tells_nothing_and_goes_nowhere_else() -> None:
    client = Client()
    cookie = _try(PASSWORD, client=client).cookies[f"{django_settings.SESSION_COOKIE_NAME}_device"]
    assert "ada" not in cookie.value
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", URL)


def test_a_link_to_choose_a_password_leads_past_strangers() -> None:
    for number in range(1, 61):
        _try(at=f"192.0.2.{number}")
    operator, token = operators.reset_password(username="ada", by=OLGA)
    client = Client()
    page = client.get(f"/welcome/{operator.pk}/{token}/")
    form_with(page, "Set password").submit(client, new="another long one", again="another long one")
    assert _try("another long one", client=client, at="203.0.113.5").status_code == 302


# Counted apart


def test_an_agents_bad_key_keeps_nobody_from_signing_in(client: Client) -> None:
    bad = {"Authorization": "Bearer csk_wrong"}
    codes = [client.get("/api/v1/capability_registry_list", headers=bad).status_code for _ in range(22)]
    assert codes == [401] * 20 + [429] * 2
    assert _try(PASSWORD, at="127.0.0.1").status_code == 302


def test_wrong_passwords_keep_no_agent_out(client: Client) -> None:
    for number in range(25):
        _try(name=f"name{number}", at="127.0.0.1")
    bad = {"Authorization": "Bearer csk_wrong"}
    assert client.get("/api/v1/capability_registry_list", headers=bad).status_code == 401
    assert client.get("/share/nothing/.well-known/agent-skills/index.json").status_code == 404


# Nobody learns who has an account


def _page_of(answer: Any, name: str) -> str:
    """Without what differs from one form to the next."""
    page = answer.content.decode().replace(f'value="{name}"', "")
    return re.sub(r"\b\w{64}\b", "", page)


def test_unknown_invited_and_disabled_accounts_answer_the_same() -> None:
    operators.create_operator(username="gone", password=PASSWORD, role="viewer", by=OLGA)
    operators.disable_operator(username="gone", by=OLGA)
    operators.invite_operator(username="invited", role="viewer", by=OLGA)
    told = {}
    for name, password in (("ada", "wrong"), ("gone", "wrong"), ("invited", "wrong"), ("nobody", "wrong")):
        rate_limits.FAILURE_THROTTLE.forget()
        answers = [_try(password, name=name) for _ in range(7)]
        told[name] = [
            (answer.status_code, answer.headers.get("Retry-After"), sorted(answer.cookies), _page_of(answer, name))
            for answer in answers
        ]
    assert told["ada"] == told["gone"] == told["invited"] == told["nobody"]
    assert [code for code, *_ in told["ada"]] == [200] * 5 + [429] * 2


# What the audit log tells


def test_a_sign_in_is_written_down() -> None:
    client = Client()
    _try(PASSWORD, client=client, at="2001:db8:1:1::7")
    _leave(client)
    _try(PASSWORD, client=client, at="203.0.113.5")
    first, second = _rows(SIGNED_IN)
    assert (first.actor_kind, first.actor_name, first.subject) == ("operator", "ada", "ada")
    assert first.detail == {"network": "2001:db8:1:1::/64", "known_device": False, "how": ["password"]}
    assert second.detail == {"network": "203.0.113.5", "known_device": True, "how": ["password"]}
    assert audit.find_chain_break() is None


def test_the_first_sign_in_with_a_password_that_must_be_changed_is_one() -> None:
    operators.create_operator(username="new", password=PASSWORD, role="viewer", by=OLGA, must_change_password=True)
    client = Client()
    assert _try(PASSWORD, name="new", client=client)["Location"] == "/"
    assert client.get("/")["Location"] == "/password/"
    assert [row.subject for row in _rows(SIGNED_IN)] == ["new"]
    client.post("/password/", {"current": "wrong", "new": "another long one", "again": "another long one"})
    assert [(row.subject, row.actor_name, row.detail["where"]) for row in _rows()] == [("new", "new", "password")]


def test_a_wrong_password_is_written_down_at_once() -> None:
    _try(at="192.0.2.9")
    (row,) = _rows()
    assert (row.actor_kind, row.subject) == ("system", "ada")
    assert row.detail == {"failed": 1, "networks": ["192.0.2.9"]}
    assert audit.find_chain_break() is None


def test_a_name_that_nobody_has_is_not_kept() -> None:
    """People type their password where the name belongs."""
    secret = "My-Secret-Passphrase-7"
    _try(name=secret)
    (row,) = _rows()
    assert row.subject == sign_ins.UNKNOWN_USERNAME
    assert secret not in str(list(AuditEvent.objects.values()))
    with pytest.raises(Exception, match="name has letters"):
        operators.create_operator(username=sign_ins.UNKNOWN_USERNAME, password=PASSWORD, role="viewer", by=OLGA)


def test_a_disabled_and_an_invited_account_are_named() -> None:
    operators.disable_operator(username="ada", by=OLGA)
    operators.invite_operator(username="invited", role="viewer", by=OLGA)
    _try(PASSWORD)
    _try(name="invited")
    assert [row.subject for row in _rows()] == ["ada", "invited"]


@pytest.mark.slow
def test_a_flood_makes_a_row_a_minute_for_each_account(wait: Clock, settings: Settings) -> None:
    settings.RATE_LIMITS = {}
    for minute in range(3):
        for number in range(30):
            _try(at=f"192.0.2.{number}")
            _try(name=f"nobody{minute}-{number}", at=f"192.0.2.{number}")
            wait(1)
        wait(31)
    sign_ins.flush(everything=True)
    by_subject = {
        name: [row.detail for row in _rows() if row.subject == name] for name in ("ada", sign_ins.UNKNOWN_USERNAME)
    }
    for details in by_subject.values():
        assert len(details) <= 4
        assert sum(detail["failed"] for detail in details) == 90
        assert all(len(detail["networks"]) <= 5 for detail in details)
        assert details[-1]["more_networks"] is True
    assert audit.find_chain_break() is None


def test_tries_that_were_not_looked_at_are_told_apart(wait: Clock) -> None:
    for number in range(60):
        _try(at=f"192.0.2.{number}")
    wait(61)
    sign_ins.flush()
    assert [(row.detail.get("failed"), row.detail.get("refused")) for row in _rows()] == [(1, None), (4, 55)]


def test_what_cannot_be_written_now_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import OperationalError

    with monkeypatch.context() as patched:
        patched.setattr(sign_ins, "_record_row", lambda *_: (_ for _ in ()).throw(OperationalError("locked")))
        assert _try().status_code == 200
    assert _rows() == []
    sign_ins.flush(everything=True)
    assert [row.detail["failed"] for row in _rows()] == [1]


def test_the_studio_shows_them(signed_in: SignIn) -> None:
    _try(name="whatever this was")
    _try(PASSWORD)
    page = signed_in("admin").get("/audit/?verb=operator").content.decode()
    assert FAILED in page
    assert SIGNED_IN in page
    assert "whatever this was" not in page


# The current password, which a session alone does not tell


def test_the_current_password_is_not_found_out_by_trying(signed_in: SignIn, wait: Clock) -> None:
    client = signed_in("viewer")
    body = {"new": "another long one", "again": "another long one"}
    codes = [client.post("/password/", body | {"current": f"wrong {n}"}).status_code for n in range(45)]
    assert codes == [400] * 5 + [429] * 40
    refused = client.post("/password/", body | {"current": "Correct-horse-battery-9"})
    assert _wait_of(refused) == 4
    wait(4)
    assert client.post("/password/", body | {"current": "Correct-horse-battery-9"}).status_code == 302
    wait(60)
    sign_ins.flush()
    rows = [(row.subject, row.actor_name, row.detail["where"], row.detail["failed"]) for row in _rows()]
    assert rows == [("the-viewer", "the-viewer", "password", 1), ("the-viewer", "the-viewer", "password", 4)]


def test_strangers_keep_nobody_from_changing_a_password(signed_in: SignIn) -> None:
    client = signed_in("viewer")
    for number in range(40):
        _try(name="the-viewer", at=f"192.0.2.{number}")
    body = {"current": "Correct-horse-battery-9", "new": "another long one", "again": "another long one"}
    assert client.post("/password/", body).status_code == 302
