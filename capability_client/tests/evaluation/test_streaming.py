"""Replies by streams: the same as in one piece, whatever form they have, and ended where they go wrong."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import pytest

from capability_client.client.local_registry import LocalSkills
from capability_client.evaluation import model_port
from capability_client.evaluation.key_mask import KeyMask
from capability_client.evaluation.model_port import ModelFailed, ModelSettings, VendorModel
from capability_client.evaluation.streamed_reply import PartialReply
from capability_client.session.messages import Message, ModelCall, ModelReply
from capability_client.session.session import Session
from tests.model_servers import Fault, ModelServer, model_server
from tests.receivers import Receiver, status
from tests.servers import ROOT
from tests.vendors import Reply, Vendor

WORDS = "Grüße aus Zürich 🦊,\n\nsaid \\u00e9 the “fox”."
ARGUMENTS = {"entries": [{"weight": 84.2, "note": "größer ☃"}], "empty": {}}
CALLS = [("first", ARGUMENTS), ("second", {})]
VENDORS: list[Vendor] = ["openai", "anthropic"]
FORMS: list[Fault | None] = [None, "plain", "crlf", "cr", "comments", "byte_by_byte", "several_lines", "no_done"]
FORMS += ["slow", "busy", "busy_event"]


def talk(
    vendor: Vendor, reply: Reply, *faults: Fault | None, **given: Any
) -> tuple[ModelReply, ModelServer, VendorModel]:
    with model_server(vendor, lambda body: reply) as server:
        server.faults += [one for one in faults if one]
        server.before_event = given.pop("before_event", server.before_event)
        model = VendorModel(ModelSettings(server.url, "m", vendor, given.pop("key", "sk-key")), **given)
        try:
            return model(Session(LocalSkills(ROOT / "examples")), [Message("user", "Hi")]), server, model
        finally:
            model.wire.close()
            found.append((server, model))


# What the last talk had, also where it raised.
found: list[tuple[ModelServer, VendorModel]] = []


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("form", FORMS)
def test_a_reply_is_the_same_in_every_form(vendor: Vendor, form: Fault | None) -> None:
    reply, server, model = talk(vendor, (WORDS, CALLS), form)
    calls = (ModelCall("call_1", "first", ARGUMENTS), ModelCall("call_2", "second", {}))
    if form == "busy_event":
        calls = (ModelCall("call_3", "first", ARGUMENTS), ModelCall("call_4", "second", {}))
    assert reply == ModelReply(WORDS, calls)
    assert all(body["stream"] is True for body in server.bodies)
    assert len(server.bodies) == (2 if form in ("busy", "busy_event") else 1)
    if form == "busy_event":
        # What broke off is counted too.
        assert model.usage.tokens > 107
    else:
        assert (model.usage.prompt_tokens, model.usage.reply_tokens) == (100, 7)


def test_a_server_that_knows_no_options_is_asked_without_them_from_then_on() -> None:
    with model_server("openai", lambda body: ("Hello", [])) as server:
        server.faults += ["no_options"]
        model = VendorModel(ModelSettings(server.url, "m"))
        assert [model.ask("task", "text"), model.ask("task", "text")] == ["Hello", "Hello"]
        model.wire.close()
    assert ["stream_options" in body for body in server.bodies] == [True, False, False]
    assert ["stream_options" in body for body in model.sent] == [False, False]


@pytest.mark.parametrize("vendor", VENDORS)
def test_an_empty_reply_and_arguments_that_are_not_json_are_as_without_a_stream(vendor: Vendor) -> None:
    assert talk(vendor, ("", []))[0] == ModelReply("", ())
    forms: list[Fault | None] = [None, "plain"]
    for form in forms:
        reply = talk(vendor, ("", [("save", '{"a": ')]), form)[0]
        assert reply.calls == (ModelCall("call_1", "save", '{"a": '),)


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("cut_off", "The reply breaks off: the connection ended before it did"),
        ("cut_short", "The reply breaks off: the stream ended before it did"),
        ("empty", "The reply breaks off: the stream ended before it did"),
        ("odd_event", "The reply is not in the form of"),
        ("error_event", "The model ended its reply with an error: It went wrong"),
        ("endless_words", "The answer is larger than 1,048,576 bytes"),
        ("endless_comments", "No whole answer came within 2.0 seconds"),
        ("silent", "No whole answer came within 2.0 seconds"),
        ("half", "The reply breaks off: it is not JSON"),
    ],
)
def test_a_stream_that_goes_wrong_ends_with_its_reason_and_is_not_asked_for_again(
    vendor: Vendor, fault: Fault, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_port, "REPLY_SECONDS_MAX", 2.0)
    with pytest.raises(ModelFailed, match=words):
        talk(vendor, (WORDS, CALLS), fault)
    server, model = found[-1]
    assert len(server.bodies) == 1
    # The vendor reads what it is sent, whatever becomes of the reply.
    assert model.usage.prompt_tokens > 0
    if fault in ("cut_off", "cut_short", "error_event"):
        assert model.usage.reply_tokens > 7


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_vendor_that_is_busy_in_the_middle_is_asked_three_times(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_port, "_pause_of", lambda answer, attempt: 0.0)
    busy: Fault = "busy_event"
    with pytest.raises(ModelFailed, match=f"The model answered {500 if vendor == 'openai' else 529}: It went wrong"):
        talk(vendor, (WORDS, []), busy, busy, busy)
    assert len(found[-1][0].bodies) == 3


@pytest.mark.parametrize("vendor", VENDORS)
def test_what_has_come_can_be_seen_before_the_end(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_port, "_LOOK_SECONDS", 0.0)
    seen: list[PartialReply] = []
    # The next event comes when the one before was looked at.
    looks = threading.Semaphore()

    def look(partial: PartialReply) -> None:
        seen.append(partial)
        looks.release()

    reply = ("one two three", [("save", {"a": "bc"})])
    talk(vendor, reply, before_event=lambda: looks.acquire(timeout=5), while_answering=look)
    texts = list(dict.fromkeys(one.text for one in seen))
    assert texts[0] == ""
    assert len(texts) > 2
    assert all("one two three".startswith(one) for one in texts)
    arguments = list(dict.fromkeys(calls[0][1] for one in seen if (calls := one.calls)))
    assert len(arguments) > 1
    assert all('{"a": "bc"}'.startswith(one) for one in arguments)


class _Stopped(Exception):
    pass


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("fault", [None, "silent", "endless_words", "endless_comments"])
def test_a_stop_ends_the_connection_at_once(vendor: Vendor, fault: Fault | None) -> None:
    """Whether words come or nothing does: the one who stops it is asked twice a second."""
    looks: list[PartialReply] = []

    def look(partial: PartialReply) -> None:
        looks.append(partial)
        if len(looks) == 2:
            raise _Stopped

    with pytest.raises(_Stopped):
        talk(vendor, ("word " * 200, []), fault, before_event=lambda: time.sleep(0.02), while_answering=look)
    server, model = found[-1]
    assert fault == "silent" or server.hung_up.wait(5)
    # Anthropic says at the start how much it has read; what is not known is estimated.
    is_known = vendor == "anthropic" and fault != "silent"
    assert (model.usage.prompt_tokens == 100) is is_known
    assert model.usage.prompt_tokens > 0
    assert (model.usage.reply_tokens > 1) is (fault != "silent")


def test_a_pause_before_the_next_try_is_stopped_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_port, "_pause_of", lambda answer, attempt: 20.0)
    stop = threading.Event()

    def look(_partial: PartialReply) -> None:
        if stop.is_set():
            raise _Stopped
        stop.set()

    with pytest.raises(_Stopped):
        talk("openai", ("x", []), "busy", while_answering=look)
    assert len(found[-1][0].bodies) == 1


def test_many_small_pieces_are_not_a_large_reply() -> None:
    """A token of the vendor comes in more than a hundred bytes: the limit is for what they say."""
    words = "a " * 12_000
    assert talk("openai", (words, []))[0].text == words


KEY = "sk-proj-Z9x8Y7w6V5u4T3s2R1q0"
REPEATED = [KEY, KEY[:14], KEY[-9:], f"x{KEY}{KEY}", f"{KEY[:8]}...{KEY[-4:]}"]


def _parts_in(text: str) -> list[str]:
    return [KEY[at : at + 8] for at in range(len(KEY) - 7) if KEY[at : at + 8] in text]


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("repeated", REPEATED)
def test_the_key_is_in_nothing_that_comes_from_the_server(vendor: Vendor, repeated: str) -> None:
    seen: list[PartialReply] = []
    arguments = {"note": f"with {repeated}", "kept": "sk-proj"}
    settings = {"key": KEY, "while_answering": seen.append}
    reply = talk(vendor, (f"Your key {repeated} is fine", [("save", arguments)]), **settings)[0]
    (call,) = reply.calls
    for text in (reply.text, call.arguments_text, *(one.text + str(one.calls) for one in seen)):
        assert not _parts_in(text)
    assert reply.text.startswith("Your key ")
    assert reply.text.endswith(" is fine")
    assert "[key]" in reply.text
    assert call.arguments == {"note": f"with {KeyMask(KEY).in_text(repeated)}", "kept": "sk-proj"}


@pytest.mark.parametrize("repeated", REPEATED)
def test_a_refusal_does_not_repeat_the_key(repeated: str) -> None:
    said = json.dumps({"error": {"message": f"Incorrect API key provided: {repeated}. See our page."}}).encode()
    server = Receiver(reply=status(401, body=said))
    model = VendorModel(ModelSettings(server.url.partition("/hook")[0], "m", "openai", KEY))
    with pytest.raises(ModelFailed) as refused:
        model.ask("task", "text")
    model.wire.close()
    server.stop()
    assert "401: Incorrect API key provided: " in str(refused.value)
    assert not _parts_in(str(refused.value))
    assert str(refused.value).endswith("See our page.")


def test_a_word_in_place_of_a_key_is_no_secret() -> None:
    assert KeyMask("ollama").in_text("ollama serves it") == "ollama serves it"
    assert KeyMask("").in_text("anything") == "anything"


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_count_without_sense_is_bounded(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.vendors.WRITTEN", 10**30)
    assert talk(vendor, ("Hello", []))[2].usage.reply_tokens == 10_000_000
