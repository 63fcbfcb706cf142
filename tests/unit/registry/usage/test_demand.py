"""What agents asked for and did not get: counted, grouped, put away, forgotten."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from registry.catalog import drafts
from registry.common.errors import NotFound
from registry.core.jobs.queue import Lease
from registry.models import AuditEvent, UnknownCapabilityRequest, UnmatchedMessage
from registry.usage import demand, unmatched_messages, usage_counters
from tests.factories import OLGA, bundle, publish

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def kept(settings: Any) -> None:
    settings.KEEP_UNMATCHED_DAYS = 30


def _say(*messages: str, key_name: str = "", nearest: str = "") -> None:
    for message in messages:
        usage_counters.count_unmatched(message=message, decision="none", nearest=nearest, key_name=key_name)
    usage_counters.flush()


def _miss(*ids: str, key_name: str = "") -> None:
    for each in ids:
        usage_counters.count_miss(each, key_name=key_name)
    usage_counters.flush()


@pytest.mark.both_databases
def test_messages_of_the_same_words_are_one_row() -> None:
    _say("Cancel my subscription!", key_name="chat")
    _say("subscriptions: cancelled", "please CANCEL the subscription", nearest="billing")
    (row,) = UnmatchedMessage.objects.all()
    assert (row.text, row.count, row.nearest) == ("Cancel my subscription!", 3, "billing")
    assert row.requested_by == {"chat": 1, "": 2}
    assert row.first_seen_at < row.last_seen_at


def test_nothing_is_kept_unless_the_registry_says_so(settings: Any) -> None:
    settings.KEEP_UNMATCHED_DAYS = 0
    _say("cancel my subscription")
    assert not usage_counters._held.unmatched
    assert not UnmatchedMessage.objects.exists()


def test_what_is_kept_is_scrubbed_before_it_is_held() -> None:
    usage_counters.count_unmatched(message="mail ann@example.com or 0170 1234567", decision="none")
    assert [one.text for one in usage_counters._held.unmatched.values()] == ["mail [address] or [number]"]


@pytest.mark.parametrize("message", ["", " \n", "\0"])
def test_a_message_of_nothing_is_not_counted(message: str) -> None:
    _say(message)
    assert not UnmatchedMessage.objects.exists()


def test_a_message_of_signs_or_common_words_is_counted() -> None:
    _say("👋", "what is it", "???")
    assert UnmatchedMessage.objects.count() == 3


def test_whatever_goes_wrong_the_caller_does_not_hear_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unmatched_messages, "scrub", lambda _: 1 / 0)
    _say("cancel")
    assert not UnmatchedMessage.objects.exists()


@pytest.mark.both_databases
def test_messages_in_memory_and_in_the_table_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unmatched_messages, "BUFFERED_MAX", 3)
    monkeypatch.setattr(unmatched_messages, "STORED_MAX", 4)
    _say("apple", "pear", "plum", "cherry", "apple")
    assert dict(UnmatchedMessage.objects.values_list("text", "count")) == {"apple": 2, "pear": 1, "plum": 1}
    _say("fig", "grape")
    assert set(UnmatchedMessage.objects.values_list("text", flat=True)) == {"apple", "plum", "fig", "grape"}


@pytest.mark.both_databases
def test_messages_are_kept_while_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError("the server closed the connection")

    with monkeypatch.context() as patch:
        patch.setattr(usage_counters, "try_write_transaction", away)
        _say("cancel", key_name="chat")
        _miss("sleep", key_name="chat")
        _say("cancel", key_name="shop")
    usage_counters.flush()
    row, miss = UnmatchedMessage.objects.get(), UnknownCapabilityRequest.objects.get()
    assert (row.count, row.requested_by) == (2, {"chat": 1, "shop": 1})
    assert (miss.count, miss.requested_by) == (1, {"chat": 1})


def test_the_keys_of_one_row_are_bounded() -> None:
    for number in range(25):
        _miss("sleep", key_name=f"key {number}")
    miss = UnknownCapabilityRequest.objects.get()
    assert (miss.count, len(miss.requested_by or {})) == (25, unmatched_messages.REQUESTERS_MAX)


def test_messages_that_are_alike_are_shown_together() -> None:
    _say("cancel my subscription", "cancel the subscription today", key_name="chat")
    _say("cancel subscription", "book a table for two at eight", "Please book me a table tonight", "a table of numbers")
    first, second, third = demand.group_messages(demand.list_messages())
    assert [row.text for row in first.rows] == ["cancel my subscription", "cancel the subscription today"]
    assert (first.count, first.requested_by) == (3, (("chat", 2), ("", 1)))
    assert [row.text for row in second.rows] == ["book a table for two at eight", "Please book me a table tonight"]
    assert third.main.text == "a table of numbers"


def test_ids_tell_which_may_have_been_meant() -> None:
    publish("weights")
    drafts.save_draft(capability_id="sleep", files=bundle("sleep"), based_on=None, by=OLGA)
    _miss("weight", "sleep", "weight", key_name="chat")
    first, second = demand.describe_row(demand.list_unknown_ids())
    assert (first.miss.capability_id, first.requested_by, first.meant, first.is_begun) == (
        "weight", (("chat", 2),), ("weights",), False
    )  # fmt: skip
    assert (second.miss.capability_id, second.meant, second.is_begun) == ("sleep", (), True)


def test_an_id_that_is_published_is_no_longer_wanted() -> None:
    _miss("weights")
    publish("weights")
    assert not demand.list_unknown_ids().exists()


@pytest.mark.both_databases
@pytest.mark.parametrize("what", ["ids", "messages"])
def test_what_is_put_away_comes_back_when_it_is_asked_for_again(what: demand.DemandKind) -> None:
    ask = partial(_miss if what == "ids" else _say, "sleep")
    read: Any = demand.list_unknown_ids if what == "ids" else demand.list_messages
    ask()
    row: Any = read().get()
    assert demand.dismiss_row(what=what, chosen=[str(row.pk)], by=OLGA) == 1
    row.refresh_from_db()
    assert (row.dismissed_by, row.dismissed_count) == ("operator:olga", 1)
    for _ in range(demand.RETURNS_AFTER - 1):
        ask()
    assert (read().count(), read(dismissed=True).count()) == (0, 1)
    ask()
    assert (read().count(), read(dismissed=True).count()) == (1, 0)


@pytest.mark.both_databases
def test_what_was_put_away_is_brought_back_by_hand() -> None:
    _miss("sleep")
    demand.dismiss_row(what="ids", chosen=["sleep"], by=OLGA)
    assert demand.undismiss(what="ids", chosen=["sleep"], by=OLGA) == 1
    assert demand.list_unknown_ids().exists()
    verbs = list(AuditEvent.objects.order_by("id").values_list("verb", "subject"))
    assert verbs == [("demand.dismiss", "1 ids"), ("demand.bring_back", "1 ids")]


@pytest.mark.parametrize("chosen", [[], ["nobody"], ["١"], ["9" * 40], ["-1"]])
@pytest.mark.parametrize("what", ["ids", "messages"])
def test_what_is_not_there_cannot_be_put_away(what: demand.DemandKind, chosen: list[str]) -> None:
    with pytest.raises(NotFound):
        demand.dismiss_row(what=what, chosen=chosen, by=OLGA)
    with pytest.raises(NotFound):
        demand.undismiss(what=what, chosen=chosen, by=OLGA)
    assert not AuditEvent.objects.exists()


def test_the_audit_log_keeps_no_message() -> None:
    _say("my private matter")
    demand.dismiss_row(what="messages", chosen=[str(UnmatchedMessage.objects.get().pk)], by=OLGA)
    assert "private" not in str(AuditEvent.objects.get().detail)


@pytest.mark.both_databases
def test_messages_are_forgotten_after_their_days(settings: Any) -> None:
    _say("old", "new")
    UnmatchedMessage.objects.filter(text="old").update(last_seen_at=timezone.now() - timedelta(days=31))
    lease = Lease(1, demand.KIND, {}, 1, 1)
    demand.prune_messages(lease)()
    assert [row.text for row in UnmatchedMessage.objects.all()] == ["new"]
    settings.KEEP_UNMATCHED_DAYS = 0
    demand.prune_messages(lease)()
    assert not UnmatchedMessage.objects.exists()


@pytest.mark.both_databases
def test_the_board_asks_a_flat_number_of_questions(django_assert_num_queries: Any) -> None:
    _say(*(f"word{chr(97 + number)} thing" for number in range(20)))
    _miss(*(f"made_up_{number}" for number in range(20)))
    with django_assert_num_queries(4):
        demand.group_messages(demand.list_messages())
        demand.describe_row(demand.list_unknown_ids())
