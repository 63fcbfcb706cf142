"""Passwords are hashed one at a time: strangers at the sign-in page must not take every thread."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.hashers import check_password, make_password
from django.test import Client
from django.utils.module_loading import import_string

from registry.access import operators, password_hashers
from registry.access.password_hashers import QueuedArgon2PasswordHasher, TurnQueue, waiting_max
from registry.common.rate_limits import RateLimited
from tests.factories import OLGA
from tests.settings import PRODUCT_PASSWORD_HASHERS

HASHERS = [import_string(name) for name in PRODUCT_PASSWORD_HASHERS]


def _held(queue: TurnQueue, *, waiting_max: int) -> tuple[threading.Event, threading.Thread]:
    """Somebody who has the turn until the event is set."""
    begun, end = threading.Event(), threading.Event()

    def hold() -> None:
        with queue.turn(waiting_max=waiting_max):
            begun.set()
            end.wait(10)

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    assert begun.wait(10)
    return end, thread


def test_a_few_wait_and_the_rest_is_refused_at_once() -> None:
    queue = TurnQueue()
    end, holder = _held(queue, waiting_max=1)
    done: list[str] = []

    def wait() -> None:
        with queue.turn(waiting_max=1):
            done.append("waited")

    waiter = threading.Thread(target=wait, daemon=True)
    waiter.start()
    while queue.present < 2:
        pass
    with pytest.raises(RateLimited), queue.turn(waiting_max=1):
        pytest.fail("the queue took a third caller")
    end.set()
    for thread in (holder, waiter):
        thread.join(10)
    assert done == ["waited"]
    with queue.turn(waiting_max=1):
        assert queue.present == 1


def test_the_queue_leaves_half_of_the_threads_to_others(settings: Any) -> None:
    for threads, waiting in ((1, 1), (4, 1), (8, 3), (64, 31)):
        settings.WEB_THREADS = threads
        assert waiting_max() == waiting


@pytest.mark.slow
def test_the_hashers_of_the_product_wait_for_their_turn(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = TurnQueue()
    monkeypatch.setattr(password_hashers, "_QUEUE", queue)
    settings.PASSWORD_HASHERS = PRODUCT_PASSWORD_HASHERS
    assert HASHERS[0] is QueuedArgon2PasswordHasher
    encoded = make_password("Correct-horse-battery-9")
    assert encoded.startswith("argon2$argon2id$")
    assert check_password("Correct-horse-battery-9", encoded) is True
    assert check_password("another", encoded) is False
    old = make_password("Correct-horse-battery-9", hasher="pbkdf2_sha256")
    settings.WEB_THREADS = 1
    end, holder = _held(queue, waiting_max=0)
    monkeypatch.setattr(password_hashers, "waiting_max", lambda: 0)
    for given in (encoded, old):
        with pytest.raises(RateLimited):
            check_password("Correct-horse-battery-9", given)
    end.set()
    holder.join(10)
    assert check_password("Correct-horse-battery-9", old) is True


@pytest.mark.django_db
def test_a_sign_in_that_finds_the_queue_full_is_a_429(monkeypatch: pytest.MonkeyPatch) -> None:
    operators.create_operator(username="busy", password="Correct-horse-battery-9", role="viewer", by=OLGA)

    def refuse(*_args: object, **_kwargs: object) -> bool:
        raise RateLimited(2)

    monkeypatch.setattr("django.contrib.auth.base_user.check_password", refuse)
    answer = Client().post("/sign-in/", {"username": "busy", "password": "Correct-horse-battery-9"})
    assert (answer.status_code, answer["Retry-After"]) == (429, "2")


def test_the_settings_name_these_hashers() -> None:
    assert django_settings.PASSWORD_HASHERS != PRODUCT_PASSWORD_HASHERS
    assert all(name.startswith("registry.access.password_hashers.Queued") for name in PRODUCT_PASSWORD_HASHERS)
