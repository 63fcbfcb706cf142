"""Chats of the playground with a model: begun, continued, answered by a job, and deleted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Literal

from django.db.models import OuterRef, Subquery
from django.utils import timezone

from capability_client.evaluation.model_port import ModelFailed, Usage, VendorModel
from capability_client.evaluation.streamed_reply import PartialReply
from capability_client.session.messages import ModelReply
from capability_rules.errors import InvalidRequest, RegistryError
from features.evaluations.clean_json import clean_json
from features.evaluations.model_settings import BUDGET_SPENT, open_model, require_models, tokens_left
from features.evaluations.models import SavedCase
from features.playground.match_view import read_side
from features.playground.models import PlaygroundChat, PlaygroundStep
from features.playground.player import REPLY_LENGTH_MAX, PlayedChat, StepsDiverged, play_chat
from registry.common.actors import Actor
from registry.common.errors import NotFound, StatusConflict
from registry.core import audit
from registry.core.jobs import queue
from registry.core.jobs.queue import CommitAction, JobState, Lease
from registry.core.rows import get_row
from registry.core.transactions import write_transaction

KIND: Final = "evaluation.chat"
CHATS_MAX: Final = 20
MESSAGES_MAX: Final = 20
STEPS_MAX: Final = 300
MESSAGE_LENGTH_MAX: Final = 2000
ANSWER_LENGTH_MAX: Final = 32_000
# The requests of the last replies can be looked at, so far as they fit.
SENT_KEPT_MAX: Final = 8
SENT_BYTES_MAX: Final = 400_000
RETENTION: Final = timedelta(days=30)
_STOPPED: Final = "It was stopped"
Kind = PlaygroundStep.Kind
State = PlaygroundChat.State


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a new chat is with; `case` is the one whose mocks answer calls."""

    model: str
    with_drafts: bool = False
    answers_by_example: bool = True
    case: SavedCase | None = None


def start_chat(*, wanted: ChatRequest, message: str, by: Actor) -> PlaygroundChat:
    """Say something to a model. Raises `InvalidRequest`."""
    require_models([wanted.model])
    text = _check_message(message)
    with write_transaction():
        chat = PlaygroundChat.objects.create(
            created_by=by.name,
            model=wanted.model,
            with_drafts=wanted.with_drafts,
            answers_by_example=wanted.answers_by_example,
            mocks=wanted.case.document.get("mocks", []) if wanted.case is not None else [],
        )
        _forget(PlaygroundChat.objects.filter(created_by=by.name).values_list("pk", flat=True)[CHATS_MAX:])
        audit.record(by=by, verb="playground.chat", subject=wanted.model, detail={"chat": chat.pk})
        _add(chat, 1, Kind.MESSAGE, {"text": text})
        _ask_model(chat)
    return chat


def _check_message(message: str) -> str:
    text = str(clean_json(message)).strip()
    if not text or len(text) > MESSAGE_LENGTH_MAX:
        raise InvalidRequest(f"A message has 1 to {MESSAGE_LENGTH_MAX:,} characters")
    return text


def list_chats(by: Actor) -> list[PlaygroundChat]:
    """Of a member, the newest first, each with its `first_message`."""
    first = PlaygroundStep.objects.filter(chat=OuterRef("pk"), number=1).values("content__text")[:1]
    return list(PlaygroundChat.objects.filter(created_by=by.name).annotate(first_message=Subquery(first))[:CHATS_MAX])


def _member_of(chat: PlaygroundChat) -> str:
    return str(Actor("operator", chat.created_by))


def get_chat(number: int, by: Actor) -> PlaygroundChat:
    """A chat of this member; nobody else reads, continues or deletes it, admins included. Raises `NotFound`."""
    own = PlaygroundChat.objects.filter(pk=number, created_by=by.name)
    return get_row(own, NotFound(f"You have no chat {number}"))


def list_steps(chat: PlaygroundChat) -> list[PlaygroundStep]:
    """In their order, without what was sent."""
    return list(PlaygroundStep.objects.filter(chat=chat).defer("sent"))


def play_stored(chat: PlaygroundChat, *, has_match: bool = False) -> PlayedChat:
    """Where it is now. Raises `StepsDiverged`, and what reading the registry raises."""
    return play_chat(chat, list_steps(chat), read_side(with_drafts=chat.with_drafts), has_match=has_match)


def say(*, chat: PlaygroundChat, message: str) -> None:
    """The user's next message. Raises `InvalidRequest`, `StatusConflict`."""
    text = _check_message(message)
    played = play_stored(chat)
    if played.waiting is not None:
        raise StatusConflict("Something waits for an answer: answer it first")
    if len(played.turns) >= MESSAGES_MAX:
        raise InvalidRequest(f"A chat has at most {MESSAGES_MAX} messages: start a new one")
    _go_on(chat, Kind.MESSAGE, {"text": text})


def answer(*, chat: PlaygroundChat, kind: Literal["approval", "result", "form"], content: dict[str, Any]) -> None:
    """What a person decides where the chat waits for it: `{approved}`, `{result}` or `{error}`, `{event}`.

    Raises `InvalidRequest`, and `StatusConflict` where it does not wait for this.
    """
    if len(json.dumps(content)) > ANSWER_LENGTH_MAX:
        raise InvalidRequest(f"An answer has at most {ANSWER_LENGTH_MAX:,} characters")
    waiting = play_stored(chat).waiting
    if waiting is None or waiting.kind != kind:
        raise StatusConflict("It does not wait for this any more: look at the chat again")
    _go_on(chat, Kind(kind), clean_json(content))


def _go_on(chat: PlaygroundChat, kind: str, content: dict[str, Any]) -> None:
    """Add a step, and ask the model where it comes next."""
    number = PlaygroundStep.objects.filter(chat=chat).count() + 1
    if number > STEPS_MAX:
        raise InvalidRequest(f"A chat has at most {STEPS_MAX} steps: start a new one")
    with write_transaction():
        now = PlaygroundChat.objects.get(pk=chat.pk)
        if now.state == State.RUNNING or now.steps.count() >= number:
            raise StatusConflict("The model is answering: wait, or stop it")
        _add(chat, number, kind, content)
        _ask_model(chat)


def _add(chat: PlaygroundChat, number: int, kind: str, content: dict[str, Any], **columns: Any) -> PlaygroundStep:
    return PlaygroundStep.objects.create(
        chat=chat, member=_member_of(chat), number=number, kind=kind, content=content, **columns
    )


def _ask_model(chat: PlaygroundChat) -> None:
    """The job finds out whether the model comes next, or a person."""
    PlaygroundChat.objects.filter(pk=chat.pk).update(state=State.RUNNING, failure="", partial=None)
    queue.enqueue(KIND, {"chat": chat.pk}, concurrency_key=queue.lane_of("playground", chat.created_by), max_attempts=2)


def retry(*, chat: PlaygroundChat) -> None:
    """Ask the model again where it did not answer, or was stopped. Raises `StatusConflict`."""
    waiting = play_stored(chat).waiting
    with write_transaction():
        if waiting is None or waiting.kind != "model" or _state(chat) == State.RUNNING:
            raise StatusConflict("The model has nothing to answer")
        _ask_model(chat)


def _state(chat: PlaygroundChat) -> str:
    return PlaygroundChat.objects.values_list("state", flat=True).get(pk=chat.pk)


def stop(*, chat: PlaygroundChat) -> None:
    """Wait for the model no longer: the worker closes the connection as soon as it looks, twice a second."""
    with write_transaction():
        PlaygroundChat.objects.filter(pk=chat.pk, state=State.RUNNING).update(state=State.IDLE)


def delete_chat(*, chat: PlaygroundChat, by: Actor) -> None:
    """Delete what was said; its tokens stay counted."""
    with write_transaction():
        _forget([chat.pk])
        audit.record(by=by, verb="playground.delete", subject=chat.model, detail={"chat": chat.pk})


def _forget(numbers: Any) -> None:
    old = list(numbers)
    PlaygroundStep.objects.filter(chat__in=old).update(content={}, sent=None, chat=None)
    PlaygroundChat.objects.filter(pk__in=old).delete()


def prune_chats(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: forgets chats that began more than 30 days ago, and what they have used."""
    return _forget_old_chats


def _forget_old_chats() -> None:
    _forget(PlaygroundChat.objects.filter(created_at__lt=timezone.now() - RETENTION).values_list("pk", flat=True))
    PlaygroundStep.objects.filter(chat=None, finished_at__lt=timezone.now() - RETENTION).delete()


def run_chat_job(lease: Lease) -> CommitAction | None:
    """The handler: plays until a person comes next. Each reply is stored at once: none is paid for twice."""
    chat = PlaygroundChat.objects.filter(pk=lease.payload["chat"], state=State.RUNNING).first()
    if chat is None:
        return None
    failure = _answer_by_model(chat, lease)
    state = State.FAILED if failure else State.IDLE
    running = PlaygroundChat.objects.filter(pk=chat.pk, state=State.RUNNING)
    return lambda: running.update(state=state, failure=failure[:400])


def _answer_by_model(chat: PlaygroundChat, lease: Lease) -> str:
    """Why it did not; empty where it did."""

    def store(reply: ModelReply, model: VendorModel) -> PlaygroundStep:
        return _store_reply(chat, lease, reply, model)

    try:
        model = open_model(
            chat.model,
            before_request=lambda: _before_request(chat, lease),
            while_answering=lambda partial: _show_partial(chat, lease, partial),
        )
    except RegistryError as error:
        return str(error)
    try:
        side = read_side(with_drafts=chat.with_drafts)
        play_chat(chat, list_steps(chat), side, model=model, store=store)
    except (ModelFailed, StepsDiverged, RegistryError) as error:
        return str(error)
    finally:
        model.wire.close()
        _count_broken(chat, model.usage)
    return ""


def _before_request(chat: PlaygroundChat, lease: Lease) -> None:
    """Raises `ModelFailed` where nothing more is to be asked."""
    queue.renew_lease(lease)
    if tokens_left(_member_of(chat)) == 0:
        raise ModelFailed(BUDGET_SPENT)
    if not PlaygroundChat.objects.filter(pk=chat.pk, state=State.RUNNING).exists():
        raise ModelFailed(_STOPPED)
    if PlaygroundStep.objects.filter(chat=chat).count() >= STEPS_MAX:
        raise ModelFailed(f"A chat has at most {STEPS_MAX} steps: start a new one")


def _show_partial(chat: PlaygroundChat, lease: Lease, partial: PartialReply) -> None:
    """Keep what has come for who looks on. Raises `ModelFailed` where nobody waits for the rest, `LeaseLost`."""
    queue.renew_lease(lease)
    calls = [[name, arguments[:REPLY_LENGTH_MAX]] for name, arguments in partial.calls]
    shown = clean_json({"text": partial.text[:REPLY_LENGTH_MAX], "calls": calls})
    if not PlaygroundChat.objects.filter(pk=chat.pk, state=State.RUNNING).update(partial=shown):
        raise ModelFailed(_STOPPED)


def _count_broken(chat: PlaygroundChat, usage: Usage) -> None:
    """Keep what replies that are not stored have used, in the budget of the day."""
    if usage.tokens:
        PlaygroundStep.objects.create(
            member=_member_of(chat),
            number=0,
            kind=Kind.REPLY,
            prompt_tokens=usage.prompt_tokens,
            reply_tokens=usage.reply_tokens,
            seconds=usage.seconds,
        )


def _store_reply(chat: PlaygroundChat, lease: Lease, reply: ModelReply, model: VendorModel) -> PlaygroundStep:
    """With what this one request has used. Raises `LeaseLost` where another worker asks for the same reply."""
    usage, body = model.usage, clean_json(model.sent[-1])
    calls = [[one.call_id, one.name, one.arguments] for one in reply.calls]
    with write_transaction():
        queue.renew_lease(lease)
        if not PlaygroundChat.objects.filter(pk=chat.pk).update(partial=None):
            raise ModelFailed("The chat was deleted")
        step = _add(
            chat,
            PlaygroundStep.objects.filter(chat=chat).count() + 1,
            Kind.REPLY,
            {"text": reply.text, "calls": calls},
            sent=body if len(json.dumps(body)) <= SENT_BYTES_MAX else None,
            prompt_tokens=usage.prompt_tokens,
            reply_tokens=usage.reply_tokens,
            seconds=usage.seconds,
        )
        kept = PlaygroundStep.objects.filter(chat=chat, kind=Kind.REPLY).order_by("-number")
        older = list(kept.values_list("pk", flat=True)[SENT_KEPT_MAX:])
        PlaygroundStep.objects.filter(pk__in=older).update(sent=None)
    model.usage = Usage()
    return step


def on_job_state_change(payload: dict[str, Any], state: JobState) -> None:
    """A chat whose job ended without its handler does not wait for ever."""
    if state != "queued":
        PlaygroundChat.objects.filter(pk=payload["chat"], state=State.RUNNING).update(
            state=State.FAILED, failure="The worker could not play it; see its jobs"
        )
