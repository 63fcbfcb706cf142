"""The playground with a model: what the agent would do, with a person for its tools, approvals and forms."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from capability_client.evaluation import model_port
from capability_rules.errors import InvalidRequest
from features.evaluations import case_store, runs
from features.evaluations.model_settings import tokens_left
from features.playground import chat_store
from features.playground.chat_store import ChatRequest
from features.playground.models import PlaygroundChat, PlaygroundStep
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.common.errors import NotFound, StatusConflict
from registry.core.jobs import queue
from registry.core.jobs.queue import Lease
from registry.core.queries import get_capability
from registry.models import Job, Operator
from tests.factories import OLGA, bundle, publish, tool
from tests.model_servers import Fault, ModelServer, model_server
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import ask_and_confirm, form_with
from tests.vendors import Reply, tool_names

pytestmark = pytest.mark.django_db

READ = {**tool("alpha_list"), "result_schema": {"type": "object", "examples": [{"found": 3}]}}
SAVE = tool("alpha_save", "write")
FORM = {
    "schema_id": "AlphaForm.v1",
    "title": "An alpha",
    "description": "One name.",
    "a2ui_version": "v0.9.1",
    "actions": {"submit": {"reply": True}},
    "definition": {
        "catalogId": "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json",
        "components": [
            {"id": "root", "component": "Column", "children": ["name", "send"]},
            {"id": "name", "component": "TextField", "label": "Name", "value": {"path": "/name"}},
            {"id": "send", "component": "Button", "child": "send_label",
             "action": {"event": {"name": "submit", "context": {"value": {"path": "/name"}}}}},
            {"id": "send_label", "component": "Text", "text": "Send it"},
        ],
        "dataModel": {"name": ""},
    },
}  # fmt: skip
HERE = "/playground/"


def model(body: Any) -> Reply:
    """Loads alpha, then does what the user says: `list`, `save` or `form`, and tells what came of it."""
    users = [one["content"] for one in body["messages"] if one["role"] == "user"]
    last = str(users[-1])
    names = tool_names(body)
    if "alpha__alpha_save" not in names:
        return "", [("capability_skill_load", {"capability_id": "alpha"})]
    after = body["messages"][max(n for n, one in enumerate(body["messages"]) if one["role"] == "user") :]
    done = [one for one in after if one["role"] == "tool" and "loaded" not in str(one["content"])]
    if done:
        return f"It says {done[-1]['content']}", []
    if "list" in last:
        return "", [("alpha__alpha_list", {})]
    if "save" in last:
        return "", [("alpha__alpha_save", {})]
    if "form" in last:
        return "", [("form_open", {"schema_id": "AlphaForm.v1"})]
    return "Hello.", []


@pytest.fixture
def server(settings: Any) -> Iterator[ModelServer]:
    with model_server("openai", model) as found:
        settings.MODEL_URL, settings.MODEL_NAMES, settings.MODEL_KIND = found.url, ("small",), "openai"
        settings.MODEL_API_KEY, settings.MODEL_PRICE = "sk-secret", (1.0, 2.0)
        yield found


@pytest.fixture(autouse=True)
def alpha(db: None) -> None:
    publish(tools=[READ, SAVE])


def work() -> None:
    while queue.run_next_job() is not None:
        pass


def _begin(message: str = "alpha list", by: Actor = OLGA, **more: Any) -> PlaygroundChat:
    chat = chat_store.start_chat(wanted=ChatRequest("small", **more), message=message, by=by)
    work()
    chat.refresh_from_db()
    return chat


def _items(chat: PlaygroundChat) -> list[tuple[str, str]]:
    """What was said, and what a person decided."""
    found: list[tuple[str, str]] = []
    for turn in chat_store.play_stored(chat).turns:
        found.append(("user", turn.message))
        for reply in turn.replies:
            found += [("agent", reply.text)] if reply.text else []
            found += [(card.kind, card.decision) for card in reply.cards if card.decision]
    return found


def test_an_agent_loads_calls_asks_and_says(signed_in: SignIn, server: ModelServer) -> None:
    client = signed_in("author")
    begin = form_with(client.get(HERE), "Send")
    begin.submit(client, m="alpha save", examples="yes")
    chat = PlaygroundChat.objects.get()
    assert chat.created_by == "the-author"
    address = f"{HERE}{chat.pk}/"
    shown = client.get(address).content.decode()
    assert 'hx-trigger="every 1s"' in shown
    work()
    page = client.get(address)
    assert "The agent asks before it writes" in page.content.decode()
    client.post(address, {"do": "approve"})
    work()
    page = client.get(address)
    shown = page.content.decode()
    assert "You approved" in shown
    assert "It says {&quot;ok&quot;:" in shown
    assert 'hx-trigger="every 1s"' not in shown
    # Three requests of 100 and 7 tokens, at 1 and 2 for a million.
    assert "321 tokens" in shown
    assert "0.000342" in shown
    assert "sk-secret" not in shown
    form_with(page, "Send").submit(client, m="alpha list")
    work()
    assert "found" in client.get(address).content.decode()


@pytest.mark.both_databases
def test_exactly_what_was_sent_can_be_seen(signed_in: SignIn, server: ModelServer) -> None:
    client = signed_in("author")
    chat = _begin("hello alpha", by=Actor("operator", "the-author"))
    replies = PlaygroundStep.objects.filter(chat=chat, kind="reply")
    assert [one.sent for one in replies] == server.bodies
    shown = client.get(f"{HERE}{chat.pk}/?sent={replies[1].number}").content.decode()
    assert "capability_skill_load" in shown
    assert client.get(f"{HERE}{chat.pk}/?sent=1").status_code == 404
    PlaygroundStep.objects.update(sent=None)
    assert "no longer kept" in client.get(f"{HERE}{chat.pk}/?sent={replies[1].number}").content.decode()


def test_a_person_answers_calls_as_json_or_fails_them(signed_in: SignIn, server: ModelServer) -> None:
    client = signed_in("author")
    chat = _begin(by=Actor("operator", "the-author"), answers_by_example=False)
    address = f"{HERE}{chat.pk}/"
    page = form_with(client.get(address), "Answer call")
    assert json.loads(page.values["result"]) == {"found": 3}
    refused = client.post(address, {"do": "result", "result": "{"})
    assert (refused.status_code, "The answer of a tool is JSON" in refused.content.decode()) == (400, True)
    client.post(address, {"do": "result", "result": '{"found": 8}'})
    work()
    assert _items(chat)[-1] == ("agent", 'It says {"found": 8}')
    client.post(address, {"do": "say", "m": "alpha list"})
    work()
    client.post(address, {"do": "fail", "result": "no such table"})
    work()
    assert "no such table" in _items(chat)[-1][1]


def test_a_refused_write_does_not_run(server: ModelServer) -> None:
    chat = _begin("alpha save")
    chat_store.answer(chat=chat, kind="approval", content={"approved": False})
    work()
    assert ("write", "declined") in _items(chat)
    assert chat_store.play_stored(chat).calls == []


def test_a_form_is_drawn_sent_and_closed(signed_in: SignIn, server: ModelServer) -> None:
    body = "With a form.\n\n## UI\n\n- `AlphaForm.v1`: one name."
    files = bundle(tools=[READ, SAVE], body=body) | {"ui_schemas.json": json.dumps([FORM])}
    draft = drafts.replace_draft(capability_id="alpha", files=files, by=OLGA)
    assert draft is not None
    assert draft.digest, drafts.validate_draft(draft).findings
    client = signed_in("author")
    rendered = {"do": "form", "action": "submit", "context": '{"value": "Ada"}'}
    for press, said in (
        ({"do": "form", "/name": "Ada", "press": "0"}, "Ada"),
        (rendered, "Ada"),
        ({"do": "close"}, "closed"),
    ):
        chat = _begin("alpha form", by=Actor("operator", "the-author"), with_drafts=True)
        address = f"{HERE}{chat.pk}/"
        page = client.get(address).content.decode()
        assert "Send it" in page, page
        client.post(address, press)
        work()
        assert said in client.get(address).content.decode()


def test_it_is_saved_as_a_case_that_passes(signed_in: SignIn, server: ModelServer) -> None:
    client = signed_in("author")
    chat = _begin("alpha save", by=Actor("operator", "the-author"))
    client.post(f"{HERE}{chat.pk}/", {"do": "approve"})
    work()
    page = form_with(client.get(f"{HERE}{chat.pk}/"), "Save case")
    assert page.values["capability_id"] == "alpha"
    assert page.submit(client).status_code == 302
    (row,) = case_store.list_cases(get_capability("alpha"))
    assert row.document == {
        "name": "alpha save",
        "messages": ["alpha save"],
        "mocks": [{"tool": "alpha_save", "result": {"ok": True}}],
        "expect": {"loads": "alpha", "calls": [{"tool": "alpha_save"}], "asks_before": ["alpha_save"]},
    }
    ((_case, found, _failures),) = runs.play_now(get_capability("alpha"), "live", "small", [case_store.read_row(row)])
    assert (found.error, found.loads) == ("", ["alpha"])
    assert client.post(f"{HERE}{chat.pk}/save/", {"capability_id": "nosuch"}).status_code == 400


@pytest.mark.both_databases
def test_mocks_of_a_case_answer_first(signed_in: SignIn, server: ModelServer) -> None:
    document = {"name": "lists", "messages": ["alpha list"], "mocks": [{"tool": "alpha_list", "result": {"found": 99}}]}
    row = case_store.save_case(capability=get_capability("alpha"), document=document, by=OLGA)
    client = signed_in("author")
    page = form_with(client.get(f"{HERE}?case={row.pk}"), "Send")
    assert page.values["m"].strip() == "alpha list"
    page.submit(client)
    work()
    assert _items(PlaygroundChat.objects.get())[-1] == ("agent", 'It says {"found": 99}')


@pytest.mark.both_databases
def test_a_model_that_fails_can_be_asked_again(server: ModelServer) -> None:
    server.faults += ["half"]
    chat = _begin("hello alpha")
    assert (chat.state, chat.failure) == ("failed", "The reply breaks off: it is not JSON")
    chat_store.retry(chat=chat)
    work()
    chat.refresh_from_db()
    assert (chat.state, _items(chat)[-1]) == ("idle", ("agent", "Hello."))
    with pytest.raises(StatusConflict, match="nothing to answer"):
        chat_store.retry(chat=chat)


def _look_on(monkeypatch: pytest.MonkeyPatch, server: ModelServer, look: Callable[[], None]) -> None:
    """Call `look` each time that the worker has a look at the reply; the next event comes after it."""
    renew, looks = queue.renew_lease, threading.Semaphore()

    def renew_and_look(lease: Lease) -> None:
        renew(lease)
        look()
        looks.release()

    server.before_event = lambda: looks.acquire(timeout=5)
    monkeypatch.setattr(queue, "renew_lease", renew_and_look)
    monkeypatch.setattr(model_port, "_LOOK_SECONDS", 0.0)


def test_a_page_shows_what_has_come_of_a_reply_as_text(
    signed_in: SignIn, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in("author")
    words = "See <b>bold</b> [here](https://evil.example) and more"
    server.vendor.reply = lambda body: (
        (words, [("form_open", {"schema_id": "x"})]) if len(server.bodies) < 2 else ("", [])
    )
    seen: list[str] = []

    def look() -> None:
        seen.append(client.get(f"{HERE}{PlaygroundChat.objects.get().pk}/").content.decode())

    _look_on(monkeypatch, server, look)
    chat = _begin("hello", by=Actor("operator", "the-author"))
    assert any("<bdi>See" in page and "and more" not in page for page in seen)
    assert any("&lt;b&gt;bold&lt;/b&gt;" in page for page in seen)
    assert any("Open form</span>" in page and "&quot;schema" in page for page in seen)
    assert not any("<b>bold" in page or 'href="https://evil' in page for page in seen)
    assert not any("Broken off" in page for page in seen)
    assert (chat.state, chat.partial, _items(chat)[1]) == ("idle", None, ("agent", words))


@pytest.mark.both_databases
def test_a_stop_ends_a_reply_in_its_middle_and_what_it_cost_is_counted(
    signed_in: SignIn, server: ModelServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MODEL_TOKENS_A_DAY = 100_000
    client = signed_in("author")
    server.vendor.reply = lambda body: ("word " * 2000, [])

    def stop_in_the_middle() -> None:
        chat = PlaygroundChat.objects.get()
        if (chat.partial or {}).get("text"):
            client.post(f"{HERE}{chat.pk}/", {"do": "stop"})

    _look_on(monkeypatch, server, stop_in_the_middle)
    chat = _begin("hello", by=Actor("operator", "the-author"))
    # The server writes again when it has waited for a look that does not come, five seconds long.
    assert (chat.state, chat.failure, server.hung_up.wait(60)) == ("idle", "", True)
    assert PlaygroundStep.objects.filter(chat=chat).count() == 1
    (broken,) = PlaygroundStep.objects.filter(chat=None)
    assert (broken.kind, broken.content, broken.sent, broken.reply_tokens > 0) == ("reply", {}, None, True)
    assert tokens_left("operator:the-author") == 100_000 - broken.prompt_tokens - broken.reply_tokens
    shown = client.get(f"{HERE}{chat.pk}/").content.decode()
    assert "Broken off: this is not part of the chat." in shown
    assert "<bdi>word" in shown
    monkeypatch.undo()
    server.vendor.reply, server.before_event = lambda body: ("Done", []), lambda: None
    client.post(f"{HERE}{chat.pk}/", {"do": "retry"})
    assert PlaygroundChat.objects.get().partial is None
    work()
    assert _items(chat) == [("user", "hello"), ("agent", "Done")]
    assert "Broken off" not in client.get(f"{HERE}{chat.pk}/").content.decode()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("cut_off", "The reply breaks off: the connection ended before it did"),
        ("error_event", "The model ended its reply with an error: It went wrong"),
    ],
)
def test_what_breaks_off_is_shown_with_its_reason_and_is_not_a_step(
    signed_in: SignIn, server: ModelServer, fault: Fault, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.vendor.reply = lambda body: ("one two three four five six", [])
    server.faults.append(fault)
    _look_on(monkeypatch, server, lambda: None)
    chat = _begin("hello", by=Actor("operator", "the-author"))
    assert (chat.state, words in chat.failure) == ("failed", True)
    assert _items(chat) == [("user", "hello")]
    shown = signed_in("author").get(f"{HERE}{chat.pk}/").content.decode()
    assert "Broken off" in shown
    assert "<bdi>one" in shown
    assert words in shown


@pytest.mark.both_databases
def test_a_worker_that_dies_in_a_reply_loses_nothing(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one has the job by then: the first stores no more, and the reply is asked for again."""
    server.vendor.reply = lambda body: ("one two three", [])
    chat = chat_store.start_chat(wanted=ChatRequest("small"), message="hello", by=OLGA)
    lease = queue.claim_job(timezone.now())
    assert lease is not None

    def take_over() -> None:
        chat.refresh_from_db()
        if (chat.partial or {}).get("text"):
            Job.objects.filter(pk=lease.job_id).update(lease_expires_at=timezone.now(), fencing_token=99)

    _look_on(monkeypatch, server, take_over)
    assert queue.execute_job(lease) == "lost"
    monkeypatch.undo()
    server.before_event = lambda: None
    assert PlaygroundStep.objects.filter(chat=chat).count() == 1
    work()
    chat.refresh_from_db()
    assert (chat.state, chat.partial, _items(chat)) == ("idle", None, [("user", "hello"), ("agent", "one two three")])


@pytest.mark.both_databases
def test_a_worker_that_dies_pays_for_no_reply_twice(server: ModelServer) -> None:
    chat = chat_store.start_chat(wanted=ChatRequest("small"), message="alpha list", by=OLGA)
    server.faults += ["half"]
    lease = queue.claim_job(timezone.now())
    assert lease is not None
    chat_store.run_chat_job(lease)
    # It died before the end of its job was stored; the reply before the fault is not asked for again.
    Job.objects.filter(pk=lease.job_id).update(lease_expires_at=timezone.now())
    work()
    chat.refresh_from_db()
    assert (chat.state, _items(chat)[-1]) == ("idle", ("agent", 'It says {"found": 3}'))
    assert PlaygroundStep.objects.filter(chat=chat, kind="reply").count() == 3


@pytest.mark.both_databases
def test_it_is_stopped_and_deleted_and_its_tokens_stay_counted(
    signed_in: SignIn, server: ModelServer, settings: Any
) -> None:
    settings.MODEL_TOKENS_A_DAY = 1000
    client = signed_in("author")
    chat = _begin("hello alpha", by=Actor("operator", "the-author"))
    assert tokens_left("operator:the-author") == 1000 - 2 * 107
    chat_store.say(chat=chat, message="alpha list")
    client.post(f"{HERE}{chat.pk}/", {"do": "stop"})
    work()
    assert chat_store.play_stored(chat).waiting is not None
    ask_and_confirm(client, f"{HERE}{chat.pk}/delete/")
    assert not PlaygroundChat.objects.exists()
    assert tokens_left("operator:the-author") == 1000 - 2 * 107
    assert {(json.dumps(one.content), one.sent) for one in PlaygroundStep.objects.all()} == {("{}", None)}


def test_what_no_database_keeps_is_left_out(server: ModelServer) -> None:
    server.vendor.reply = lambda body: ("a\0b", [])
    chat = _begin("hel\0lo")
    assert _items(chat) == [("user", "hello"), ("agent", "ab")]


def test_texts_that_change_end_a_chat_with_the_reason(server: ModelServer) -> None:
    chat = _begin("alpha save")
    publish(tools=[READ])
    PlaygroundStep.objects.create(chat=chat, number=4, kind="approval", content={"approved": True})
    with pytest.raises(InvalidRequest, match="start a new chat"):
        chat_store.play_stored(chat)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"message": ""}, "1 to 2,000"),
        ({"message": "x" * 2001}, "1 to 2,000"),
        ({"model": "other"}, "no model 'other'"),
    ],
)
def test_what_cannot_be_said_is_refused(server: ModelServer, given: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        chat_store.start_chat(
            wanted=ChatRequest(given.get("model", "small")), message=given.get("message", "hi"), by=OLGA
        )


def test_one_thing_at_a_time_and_not_for_ever(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = chat_store.start_chat(wanted=ChatRequest("small"), message="alpha save", by=OLGA)
    with pytest.raises(StatusConflict, match="waits for an answer"):
        chat_store.say(chat=chat, message="more")
    work()
    with pytest.raises(StatusConflict, match="does not wait for this"):
        chat_store.answer(chat=chat, kind="result", content={"result": 1})
    with pytest.raises(InvalidRequest, match="at most 32,000"):
        chat_store.answer(chat=chat, kind="approval", content={"approved": True, "more": "x" * 32_000})
    monkeypatch.setattr(chat_store, "STEPS_MAX", 3)
    with pytest.raises(InvalidRequest, match="at most 3 steps"):
        chat_store.answer(chat=chat, kind="approval", content={"approved": True})


def test_a_list_has_the_chats_of_a_member_and_the_newest_are_kept(
    signed_in: SignIn, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_store, "CHATS_MAX", 2)
    first, *others = [_begin(by=Actor("operator", "the-author")) for _ in range(3)]
    mine = Actor("operator", "the-author")
    assert {one.pk for one in chat_store.list_chats(mine)} == {one.pk for one in others}
    with pytest.raises(NotFound):
        chat_store.get_chat(first.pk, mine)
    assert f"{HERE}{others[0].pk}/" not in signed_in("publisher").get(HERE).content.decode()


@pytest.mark.both_databases
def test_old_chats_are_forgotten(server: ModelServer) -> None:
    chat = _begin()
    PlaygroundChat.objects.update(created_at=timezone.now() - timedelta(days=31))
    forget = chat_store.prune_chats(None)  # type: ignore[arg-type]
    assert forget is not None
    forget()
    assert not PlaygroundChat.objects.filter(pk=chat.pk).exists()
    assert PlaygroundStep.objects.filter(chat=None).exists()


def test_without_a_model_the_page_says_who_connects_one(signed_in: SignIn) -> None:
    author, admin = signed_in("author"), signed_in("admin")
    Operator.objects.filter(username="the-admin").update(first_name="Ada Lovelace")
    shown = author.get(HERE).content.decode()
    assert "/docs/evaluations/#in-the-studio" in shown
    assert "Ada Lovelace" in shown
    assert "/settings/model/" not in shown
    assert "/settings/model/" in admin.get(HERE).content.decode()
    # What a message leads to is seen all the same.
    assert author.get(HERE, {"m": "alpha please"}).context["steps"][0].verdict.needed == ("alpha",)


def test_who_may_not_chat_sees_what_messages_lead_to(signed_in: SignIn, server: ModelServer) -> None:
    page = signed_in("viewer").get(HERE)
    assert form_with(page, "Send").action == "/playground/"
    assert 'name="model"' not in page.content.decode()
    assert form_with(signed_in("author").get(HERE), "Send").action == "/playground/begin/"


def test_a_message_that_no_model_answers_joins_those_of_the_address(signed_in: SignIn, server: ModelServer) -> None:
    client = signed_in("author")
    form = form_with(client.get(HERE, {"m": "alpha please", "os": "darwin"}), "Send")
    answer = form.submit(client, m=["alpha please", "and more"], os="darwin")
    assert answer["Location"] == "/playground/?m=alpha+please&m=and+more&os=darwin"
    assert not PlaygroundChat.objects.exists()
    ask = form_with(client.get(HERE, {"m": "alpha list", "drafts": "yes"}), "Ask the agent")
    ask.submit(client)
    chat = PlaygroundChat.objects.get()
    assert (chat.model, chat.with_drafts, chat_store.play_stored(chat).turns[0].message) == (
        "small",
        True,
        "alpha list",
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/playground/model/", "/playground/"),
        ("/playground/model/?case=7", "/playground/?case=7"),
        ("/playground/model/12/?sent=3", "/playground/12/?sent=3"),
    ],
)
def test_where_chats_were_leads_on_for_good(old: str, new: str, signed_in: SignIn) -> None:
    answer = signed_in("author").get(old)
    assert (answer.status_code, answer["Location"]) == (301, new)


def test_calls_are_in_words_and_an_approval_is_its_form(signed_in: SignIn, server: ModelServer) -> None:
    dated = tool("alpha_save", "write", {"visit_day": {"type": "string"}, "pianos": {"type": "integer"}})
    publish("alpha", tools=[dated], name="Piano visits")
    given = {"visit_day": "Monday", "pianos": 2}
    said: Iterator[Any] = iter(
        [[("capability_skill_load", {"capability_id": "alpha"})], [("alpha__alpha_save", given)]]
    )
    server.vendor.reply = lambda body: ("", next(said, []))
    client = signed_in("author")
    chat = _begin("alpha save", by=Actor("operator", "the-author"))
    page = client.get(f"{HERE}{chat.pk}/")
    shown = page.content.decode()
    load, save = [card for turn in page.context["turns"] for one in turn["turn"].replies for card in one.cards]
    assert (load.kind, load.name) == ("load", "Piano visits")
    assert (save.kind, save.name, save.owner) == ("write", "Save alpha", "Piano visits")
    assert save.rows == (("Visit day", "Monday"), ("Pianos", "2"))
    main = shown.partition('id="conversation"')[2].partition("<aside")[0]
    assert not re.search(
        r"alpha__alpha_save|capability_skill_load|\{", unescape(re.sub(r'data-messages="[^"]*"', "", main))
    )
    drawn = json.loads(page.context["drawn"])
    assert drawn[1]["updateDataModel"]["value"] == {"visit_day": "Monday", "pianos": "2"}
    assert "Button" not in {one["component"] for one in drawn[2]["updateComponents"]["components"]}
    client.post(f"{HERE}{chat.pk}/", {"do": "decline"})
    work()
    assert ("write", "declined") in _items(chat)
    assert 'data-draws="shown"' not in client.get(f"{HERE}{chat.pk}/").content.decode()


def test_a_call_that_no_form_holds_is_shown_by_its_values(signed_in: SignIn, server: ModelServer) -> None:
    odd = tool("alpha_save", "write", {"what": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}, required=["what"])
    publish("alpha", tools=[odd])
    said: Iterator[Any] = iter(
        [[("capability_skill_load", {"capability_id": "alpha"})], [("alpha__alpha_save", {"what": 7})]]
    )
    server.vendor.reply = lambda body: ("", next(said, []))
    chat = _begin("alpha save", by=Actor("operator", "the-author"))
    page = signed_in("author").get(f"{HERE}{chat.pk}/")
    assert page.context["approval"] is None
    assert "Approve call" in page.content.decode()
    assert page.context["turns"][0]["turn"].replies[-1].cards[0].rows == (("What", "7"),)


def test_the_panels_come_with_the_end_of_a_reply(signed_in: SignIn, server: ModelServer) -> None:
    client = signed_in("author")
    chat = _begin("alpha list", by=Actor("operator", "the-author"))
    part = client.get(f"{HERE}{chat.pk}/", headers={"HX-Request": "true"}).content.decode()
    assert 'id="panels" hx-swap-oob="true"' in part
    assert "<aside" not in part
    chat_store.say(chat=chat, message="alpha list")
    assert 'id="panels"' not in client.get(f"{HERE}{chat.pk}/", headers={"HX-Request": "true"}).content.decode()
    page = client.get(f"{HERE}{chat.pk}/")
    assert [one.verdict.decision for one in page.context["steps"]] == ["match", "match"]
    assert "alpha" in page.context["prompt"].prompt


def test_a_job_that_was_parked_ends_the_wait(client: Client, server: ModelServer) -> None:
    chat = chat_store.start_chat(wanted=ChatRequest("small"), message="hi", by=OLGA)
    chat_store.on_job_state_change({"chat": chat.pk}, "parked")
    chat.refresh_from_db()
    assert chat.state == "failed"
