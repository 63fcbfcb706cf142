"""The playground with a model: a chat in which a person answers calls, approvals and forms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from capability_rules.errors import InvalidRequest, RegistryError
from features.evaluations import case_store
from features.evaluations.model_settings import is_model_set, list_models, price_of, tokens_left
from features.evaluations.models import SavedCase
from features.playground import chat_store
from features.playground.chat_play import AwaitedStep, PlayedChat, document_of
from features.playground.chat_store import ChatRequest
from features.playground.confirmations import delete_chat_question
from features.playground.models import PlaygroundChat, PlaygroundStep
from features.playground.pages import parse_sent_event
from registry.common.errors import Forbidden
from registry.core import queries
from studio.pages.actions import is_fragment, report_done, run_action, vary_on_htmx
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_int, get_int_at, get_text
from studio.pages.html_forms import build_html_form
from studio.pages.permissions import StudioRequest, actor_of, author_required

_SHOWN_LENGTH_MAX: Final = 4000


@author_required("GET", "POST")
def playground_chat_list(request: StudioRequest) -> HttpResponse:
    """My chats, and how one is begun; `case` in the address is the case whose mocks answer calls."""
    case = _case_of(request)
    context: dict[str, Any] = {"case": case, "message": case.document["messages"][0] if case else ""}
    if request.method == "POST":
        wanted = ChatRequest(
            get_text(request, "model", most=200),
            request.POST.get("drafts") == "yes",
            request.POST.get("examples") == "yes",
            case,
        )
        message = get_text(request, "message", most=chat_store.MESSAGE_LENGTH_MAX + 1)
        try:
            chat = chat_store.start_chat(wanted=wanted, message=message, by=actor_of(request))
        except RegistryError as error:
            context |= {"error": error.message, "message": message}
        else:
            return redirect("studio:playground_chat", chat.pk)
    context |= {
        "chats": chat_store.list_chats(actor_of(request)),
        "is_model_set": is_model_set(),
        "models": list_models(),
        "tokens_left": tokens_left(str(actor_of(request))),
        "message_length_max": chat_store.MESSAGE_LENGTH_MAX,
    }
    status = 400 if "error" in context else 200
    return render(request, "studio/playground/chat_list.html", context, status=status)


def _case_of(request: StudioRequest) -> SavedCase | None:
    number = get_int(request, "case") if request.method == "POST" else get_int_at(request.GET, "case")
    return SavedCase.objects.filter(pk=number).first() if number else None


@author_required("GET", "POST")
def playground_chat(request: StudioRequest, number: int) -> HttpResponse:
    """What was said and what it waits for, or with `sent` the request for a reply; a POST goes on with it."""
    chat = chat_store.get_chat(number, actor_of(request))
    if (step := get_int_at(request.GET, "sent")) is not None:
        return _show_sent(request, chat, step)
    if request.method == "POST":
        try:
            _go_on(request, chat)
        except RegistryError as error:
            return _show(request, chat, error=error.message, status=400)
        return redirect("studio:playground_chat", number)
    return _show(request, chat)


def _go_on(request: StudioRequest, chat: PlaygroundChat) -> None:
    """What the pressed button does."""
    pressed = request.POST.get("do", "say")
    if pressed == "say":
        chat_store.say(chat=chat, message=get_text(request, "message", most=chat_store.MESSAGE_LENGTH_MAX + 1))
    elif pressed in ("approve", "refuse"):
        chat_store.answer(chat=chat, kind="approval", content={"approved": pressed == "approve"})
    elif pressed in ("result", "fail"):
        chat_store.answer(chat=chat, kind="result", content=_result(request, is_error=pressed == "fail"))
    elif pressed in ("form", "close"):
        event = _event(request, chat) if pressed == "form" else None
        chat_store.answer(chat=chat, kind="form", content={"event": event})
    elif pressed == "stop":
        chat_store.stop(chat=chat)
    elif pressed == "retry":
        chat_store.retry(chat=chat)
    else:
        raise InvalidRequest(_("There is no such button"))


def _result(request: StudioRequest, *, is_error: bool) -> dict[str, Any]:
    text = get_text(request, "result", most=chat_store.ANSWER_LENGTH_MAX + 1)
    if is_error:
        return {"error": text.strip() or _("The tool failed")}
    try:
        return {"result": json.loads(text)}
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(_("The answer of a tool is JSON: %(why)s") % {"why": error}) from None


def _event(request: StudioRequest, chat: PlaygroundChat) -> Mapping[str, Any]:
    waiting = chat_store.play_stored(chat).waiting
    if waiting is None or waiting.form is None:
        raise InvalidRequest(_("No form is open any more"))
    return parse_sent_event(request, _definition(waiting))


def _definition(waiting: AwaitedStep) -> dict[str, Any]:
    """With the data that the model gave."""
    form = waiting.form
    if form is None:
        return {}
    definition: Any = form.entry["definition"]
    return {**definition, "dataModel": form.data}


def _show(request: StudioRequest, chat: PlaygroundChat, *, error: str = "", status: int = 200) -> HttpResponse:
    chat.refresh_from_db()
    context: dict[str, Any] = {"chat": chat, "error": error, "message_length_max": chat_store.MESSAGE_LENGTH_MAX}
    try:
        played = chat_store.play_stored(chat)
    except RegistryError as refusal:
        context["failure"] = refusal.message
    else:
        context |= _played(played)
        context["failure"] = chat.failure
    context["is_running"] = is_running = chat.state == PlaygroundChat.State.RUNNING
    waiting = context.get("waiting")
    is_shown = any((chat.partial or {}).values()) and (is_running or (waiting is not None and waiting.kind == "model"))
    context["partial"] = chat.partial if is_shown else None
    part = "#conversation" if is_fragment(request) else ""
    return vary_on_htmx(render(request, f"studio/playground/chat.html{part}", context, status=status))


def _played(played: PlayedChat) -> dict[str, Any]:
    waiting = played.waiting
    example = json.dumps(waiting.example, indent=2, ensure_ascii=False) if waiting else ""
    arguments = json.dumps(waiting.call.arguments, indent=2, ensure_ascii=False) if waiting and waiting.call else ""
    has_form = waiting is not None and waiting.form is not None
    return {
        "played": played,
        "turns": [(turn, price_of(turn.prompt_tokens, turn.reply_tokens)) for turn in played.turns],
        "waiting": waiting,
        "example": example,
        "arguments": arguments[:_SHOWN_LENGTH_MAX],
        # As components/plain_form_fields.html reads it.
        "form": {"plain": build_html_form(_definition(waiting))} if waiting and has_form else None,
        "loaded": played.loads[-1] if played.loads else "",
    }


@author_required(form_on="studio:playground_chat")
def playground_chat_save(request: StudioRequest, number: int) -> HttpResponse:
    """Save it as a case of a capability, which is then edited."""
    chat = chat_store.get_chat(number, actor_of(request))
    try:
        document = document_of(chat_store.play_stored(chat))
        capability = queries.get_capability(get_text(request, "capability_id", most=64))
        row = case_store.save_case(capability=capability, document=document, by=actor_of(request))
    except RegistryError as error:
        return _show(request, chat, error=error.message, status=403 if isinstance(error, Forbidden) else 400)
    report_done(request, _("Case “%(name)s” saved.") % {"name": row.name})
    return redirect("studio:evaluation_case", capability.capability_id, row.pk)


@author_required("GET", "POST")
@confirmed_first(delete_chat_question, page="studio:playground_chat", gone="studio:playground_chat_list")
def playground_chat_delete(request: StudioRequest, number: int) -> HttpResponse:
    """Delete a chat with everything that was said in it."""
    chat = chat_store.get_chat(number, actor_of(request))
    to = redirect("studio:playground_chat_list")
    return run_action(request, chat_store.delete_chat, _("Chat deleted."), to=to, chat=chat)


def _show_sent(request: StudioRequest, chat: PlaygroundChat, step: int) -> HttpResponse:
    """Exactly what was sent to the model for a reply."""
    row = PlaygroundStep.objects.filter(chat=chat, number=step, kind=PlaygroundStep.Kind.REPLY).first()
    if row is None:
        raise Http404
    text = json.dumps(row.sent, indent=2, ensure_ascii=False) if row.sent is not None else ""
    return render(request, "studio/playground/chat_sent.html", {"chat": chat, "step": row, "text": text})
