"""The playground: say what a user would say, and see what an agent makes of it, with a model or without one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, HttpResponsePermanentRedirect, JsonResponse, QueryDict
from django.shortcuts import redirect, render, resolve_url
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.forms import parse_form
from capability_kit.environment.probe import KINDS, TOLD_KINDS, Environment, Kind
from capability_rules.errors import InvalidRequest, RegistryError
from features.evaluations import case_store
from features.evaluations.model_settings import is_model_set, list_admins, list_models, price_of, tokens_left
from features.evaluations.models import SavedCase
from features.playground import chat_store
from features.playground.approval_form import draw_approval
from features.playground.chat_store import ANSWER_LENGTH_MAX, MESSAGE_LENGTH_MAX, MESSAGES_MAX, ChatRequest
from features.playground.confirmations import delete_chat_question
from features.playground.match_view import dry_run_form, list_forms, read_side
from features.playground.models import PlaygroundChat, PlaygroundStep
from features.playground.player import AwaitedStep, PlayedChat, PlayedTurn, document_of, play_messages
from registry.authoring.form_generator import name_tool
from registry.common.errors import Forbidden
from registry.core import queries
from registry.selectors.example_messages import list_example_messages
from studio.pages.actions import is_fragment, report_done, run_action, vary_on_htmx
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_int_at, get_json, get_text, get_text_at
from studio.pages.html_forms import build_html_form, parse_event
from studio.pages.lists import get_page
from studio.pages.permissions import StudioRequest, actor_of, author_required, operator_required

SYSTEMS: Final = (("linux", "Linux"), ("darwin", "macOS"), ("win32", "Windows"))
WORDS: Final = {
    "bins": (gettext_lazy("Programs"), "ffmpeg, git"),
    "python": (gettext_lazy("Python packages"), "openpyxl, pandas"),
    "apps": (gettext_lazy("Apps"), "Microsoft Excel"),
    "env": (gettext_lazy("Environment variables"), "BILLING_API_KEY"),
    "permissions": (gettext_lazy("Permissions"), "screen_recording"),
    "mcp_servers": (gettext_lazy("MCP servers"), "github"),
    "skills": (gettext_lazy("Skills"), "weights"),
}
_NAMES_MAX: Final = 20
_NAMES_LENGTH_MAX: Final = 300
# Of a form, what the address of a conversation without a model has.
_OF_ADDRESS: Final = frozenset({"m", "os", "drafts", "compare", *KINDS})
# Each example costs some milliseconds where a sentence model reads it.
_EXAMPLES_A_PAGE: Final = 100
# An address longer than this is cut off by somebody on its way.
_ADDRESS_MAX: Final = 6000


@operator_required("GET")
def playground_show(request: StudioRequest) -> HttpResponse:
    """A conversation without a model from the address: anyone with the link sees the same, and nothing is stored. Where
    a new one with the agent begins; `case` names the case whose mocks answer its calls."""
    return _show(request, _conversation(request.GET))


def _show(request: StudioRequest, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    is_part, may_chat = is_fragment(request), request.user.can_edit
    if not is_part:
        case = _find_case(request) if may_chat else None
        context |= {"case": case, "message": context.get("message") or (case.document["messages"][0] if case else "")}
        context |= {"chats": chat_store.list_chats(actor_of(request)) if may_chat else [], "admins": list_admins()}
        context |= {"models": list_models(), "tokens_left": tokens_left(str(actor_of(request)))}
    context |= {"message_length_max": MESSAGE_LENGTH_MAX, "is_model_set": is_model_set(), "is_part": is_part}
    context["can_chat"] = may_chat and context["is_model_set"]
    part = "#conversation" if is_part else ""
    return vary_on_htmx(render(request, f"studio/playground/show.html{part}", context, status=status))


def _find_case(request: StudioRequest) -> SavedCase | None:
    number = get_int_at(request.POST if request.method == "POST" else request.GET, "case")
    return SavedCase.objects.filter(pk=number).first() if number else None


@author_required(form_on="studio:playground_show")
def playground_begin(request: StudioRequest) -> HttpResponse:
    """Say something to the agent; without a model it joins the messages of the address."""
    model, said = get_text(request, "model", most=200), request.POST.getlist("m")
    if not model:
        given = {name: values for name, values in request.POST.lists() if name in _OF_ADDRESS and any(values)}
        return redirect(f"{resolve_url('studio:playground_show')}?{urlencode(given, doseq=True)}")
    by_example = request.POST.get("examples") == "yes"
    wanted = ChatRequest(model, request.POST.get("drafts") == "yes", by_example, _find_case(request))
    message = said[-1][: MESSAGE_LENGTH_MAX + 1] if said else ""
    try:
        chat = chat_store.start_chat(wanted=wanted, message=message, by=actor_of(request))
    except RegistryError as error:
        context = _conversation(QueryDict()) | {"error": error.message, "message": message}
        return _show(request, context, status=400)
    return redirect("studio:playground_chat", chat.pk)


@operator_required("GET")
def playground_moved(request: StudioRequest, number: int | None = None) -> HttpResponse:
    """From where chats had pages of their own."""
    to = resolve_url("studio:playground_chat", number) if number else resolve_url("studio:playground_show")
    query = request.META["QUERY_STRING"]
    return HttpResponsePermanentRedirect(f"{to}?{query}" if query else to)


def _conversation(given: QueryDict) -> dict[str, Any]:
    said = [text.replace("\0", "")[:MESSAGE_LENGTH_MAX].strip() for text in given.getlist("m")]
    messages = _last([text for text in said if text])
    asked, with_drafts = given.get("os", ""), given.get("drafts", "") == "yes"
    is_comparison = given.get("compare", "") == "yes"
    system = asked if asked in dict(SYSTEMS) else SYSTEMS[0][0]
    there = {kind: get_text_at(given, kind, most=_NAMES_LENGTH_MAX) for kind in KINDS}
    set_up = {key: value for key, value in ({"os": asked and system} | there).items() if value}
    set_up |= {"drafts": "yes"} if with_drafts else {}
    alone = urlencode({**set_up, "m": messages}, doseq=True)
    set_up |= {"compare": "yes"} if is_comparison else {}
    context: dict[str, Any] = {
        "messages_said": messages,
        "system": system,
        "systems": SYSTEMS,
        "there": [(kind, *WORDS[kind], there[kind]) for kind in KINDS],
        "with_drafts": with_drafts,
        "is_comparison": is_comparison,
        # The form sends every field: an environment is set up only where one differs from what it is without.
        "is_set": any(there.values()) or system != SYSTEMS[0][0],
        "is_cut": len(messages) < sum(map(bool, said)),
        "query": urlencode({**set_up, "m": messages}, doseq=True),
        "query_alone": alone,
        "query_compared": urlencode({**set_up, "compare": "yes", "m": messages}, doseq=True),
        "query_new": urlencode(set_up),
        "query_back": urlencode({**set_up, "m": messages[:-1]}, doseq=True),
    }
    context["suggestions"] = [
        {"words": words, "query": urlencode({**set_up, "m": [*messages, words]}, doseq=True)}
        for words in list_example_messages()
        if words not in messages
    ]
    if messages:
        environment = _environment(system, there, get_text_at(given, "has", most=2000))
        context |= _spoken(messages, environment, with_drafts=with_drafts, is_comparison=is_comparison)
    return context


def _last(messages: list[str]) -> list[str]:
    """As many of the last ones as an address holds."""
    kept: list[str] = []
    for text in reversed(messages[-MESSAGES_MAX:]):
        if kept and len(urlencode({"m": [text, *kept]}, doseq=True)) > _ADDRESS_MAX:
            break
        kept.insert(0, text)
    return kept


def _environment(system: str, there: Mapping[Kind, str], anything: str) -> Environment:
    """`anything` is there as whatever it is needed as: links of before say no more."""
    known = _names(anything)
    given = {kind: text for kind, text in there.items() if text or kind not in TOLD_KINDS}
    return Environment(system, **{kind: _names(text) | known for kind, text in given.items()})


def _names(text: str) -> frozenset[str]:
    return frozenset(name for name in (part.strip() for part in text.split(",")[:_NAMES_MAX]) if name)


def _spoken(messages: list[str], environment: Environment, *, with_drafts: bool, is_comparison: bool) -> dict[str, Any]:
    try:
        played = play_messages(messages, environment, read_side(with_drafts=with_drafts or is_comparison))
        live = play_messages(messages, environment, read_side(with_drafts=False)).turns if is_comparison else ()
    except RegistryError as error:
        return {"error": error.message}
    turns = [_turn(turn, live[place] if is_comparison else None) for place, turn in enumerate(played.turns)]
    return {"turns": turns, "has_capabilities": queries.any_published()} | _panels(played)


def _turn(turn: PlayedTurn, live: PlayedTurn | None = None) -> dict[str, Any]:
    """A message with what each side makes of it: one, or what is live beside the drafts."""
    sides = [{"label": _("Live"), "step": live.match}, {"label": _("Drafts"), "step": turn.match}] if live else []
    return {
        "turn": turn,
        "sides": sides or [{"label": "", "step": turn.match}],
        "is_changed": live is not None and _outcome(live) != _outcome(turn),
        "price": price_of(turn.prompt_tokens, turn.reply_tokens) if turn.tokens else None,
    }


def _outcome(turn: PlayedTurn) -> tuple[str, tuple[str, ...]] | None:
    match = turn.match
    return (match.verdict.decision, tuple(one.capability_id for one in match.answers)) if match else None


def _panels(played: PlayedChat) -> dict[str, Any]:
    """What stands beside the conversation: what was matched, and the prompt and forms that an agent has at its end."""
    forms = list_forms(played.session)
    steps = [turn.match for turn in played.turns if turn.match]
    return {
        "steps": steps,
        "last": steps[-1] if steps else None,
        "prompt": played.session.prompt(),
        "forms": [(form, json.dumps(form.messages)) for form in forms],
    }


@operator_required("GET")
def playground_examples(request: StudioRequest) -> HttpResponse:
    """Every example message of one capability or of all as a table: where it leads now, and whether it should."""
    # numpy takes a tenth of a second to import: only what matches pays for it.
    from features.playground import example_run

    capability_id, with_drafts = get_text_at(request.GET, "capability_id", most=64), request.GET.get("drafts") == "yes"
    context: dict[str, Any] = {"capability_id": capability_id, "with_drafts": with_drafts}
    try:
        index = read_side(with_drafts=with_drafts).index
        page = get_page(request, example_run.list_examples(index, capability_id), _EXAMPLES_A_PAGE)
        results = example_run.run_examples(index, list(page.object_list))
    except RegistryError as error:
        context["error"] = error.message
    else:
        query = {"capability_id": capability_id} | ({"drafts": "yes"} if with_drafts else {})
        context |= {"page": page, "results": results, "query": urlencode(query), "total": page.paginator.count}
        context |= {"passed": sum(one.is_pass for one in results), "has_capabilities": queries.any_published()}
    return render(request, "studio/playground/examples.html", context)


@operator_required(form_on="studio:playground_show")
def playground_action(request: StudioRequest) -> HttpResponse:
    """`{standing, words, tool, policy, arguments}` for what a form has sent, or, to a browser without scripts, the
    conversation again with the same below that form. Nothing is called."""
    capability_id, schema_id = get_text(request, "capability_id", most=64), get_text(request, "schema_id", most=100)
    with_drafts = request.POST.get("drafts") == "yes"

    def read_event(bundle: Bundle) -> Mapping[str, Any]:
        if request.htmx:
            return get_json(request)
        return _parse_sent_event(request, parse_form(bundle, schema_id)["definition"])

    told = dry_run_form(
        capability_id=capability_id, schema_id=schema_id, read_event=read_event, with_drafts=with_drafts
    )
    if request.htmx:
        return JsonResponse(asdict(told))
    context = _conversation(QueryDict(get_text(request, "query", most=_ADDRESS_MAX + 2000)))
    return _show(request, context | {"told": told, "told_of": (capability_id, schema_id)})


def _parse_sent_event(request: StudioRequest, definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """The event of a form that was drawn without scripts (components/plain_form_fields.html)."""
    pressed = get_int_at(request.POST, "press")
    return parse_event(definition, dict(request.POST.lists()), -1 if pressed is None else pressed)


@author_required("GET", "POST")
def playground_chat(request: StudioRequest, number: int) -> HttpResponse:
    """What was said and what it waits for; a POST goes on with it. `sent` chooses the reply whose request is shown."""
    chat = chat_store.get_chat(number, actor_of(request))
    if request.method == "POST":
        try:
            _go_on(request, chat)
        except RegistryError as error:
            return _show_chat(request, chat, error=error.message, status=400)
        return redirect("studio:playground_chat", number)
    return _show_chat(request, chat)


def _go_on(request: StudioRequest, chat: PlaygroundChat) -> None:
    """What the pressed button does."""
    pressed = request.POST.get("do", "say")
    if pressed == "say":
        chat_store.say(chat=chat, message=get_text(request, "m", most=MESSAGE_LENGTH_MAX + 1))
    elif pressed in ("approve", "decline"):
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
    text = get_text(request, "result", most=ANSWER_LENGTH_MAX + 1)
    if is_error:
        return {"error": text.strip() or _("The tool failed")}
    try:
        return {"result": json.loads(text)}
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(_("The answer of a tool is JSON: %(why)s") % {"why": error}) from None


def _event(request: StudioRequest, chat: PlaygroundChat) -> Mapping[str, Any]:
    """As its renderer has delivered it, or of plain fields."""
    waiting = chat_store.play_stored(chat).waiting
    if waiting is None or waiting.form is None:
        raise InvalidRequest(_("No form is open any more"))
    return get_json(request) if "context" in request.POST else _parse_sent_event(request, _definition(waiting))


def _definition(waiting: AwaitedStep) -> dict[str, Any]:
    """With the data that the model gave."""
    form = waiting.form
    if form is None:
        return {}
    definition: Any = form.entry["definition"]
    return {**definition, "dataModel": form.data}


def _show_chat(request: StudioRequest, chat: PlaygroundChat, *, error: str = "", status: int = 200) -> HttpResponse:
    chat.refresh_from_db()
    is_running = chat.state == PlaygroundChat.State.RUNNING
    context: dict[str, Any] = {"chat": chat, "error": error, "is_running": is_running}
    try:
        # While it runs the page asks for the conversation alone, once a second.
        played = chat_store.play_stored(chat, has_match=not (is_running and is_fragment(request)))
    except RegistryError as refusal:
        context["failure"] = refusal.message
    else:
        context |= _played(played) | {"failure": chat.failure}
    context |= _sent(chat, get_int_at(request.GET, "sent"))
    waiting, written = context.get("waiting"), chat.partial or {}
    if any(written.values()) and (is_running or (waiting is not None and waiting.kind == "model")):
        calls = [(name_tool(name.rpartition("__")[2]), arguments) for name, arguments in written["calls"]]
        context["partial"] = {"text": written["text"], "calls": calls}
    return _show(request, context, status=status)


def _played(played: PlayedChat) -> dict[str, Any]:
    waiting = played.waiting
    approval = draw_approval(waiting.bundle, waiting.call) if waiting and waiting.bundle and waiting.call else None
    form = waiting.form if waiting else None
    return {
        "played": played,
        "turns": [_turn(turn) for turn in played.turns],
        "waiting": waiting,
        "example": json.dumps(waiting.example, indent=2, ensure_ascii=False) if waiting else "",
        "approval": approval,
        "drawn": json.dumps(approval.messages if approval else form.messages() if form else []),
        # As components/plain_form_fields.html reads it.
        "form": {"plain": build_html_form(_definition(waiting))} if waiting and form else None,
        "loaded": [(name, _name_loaded(played, name)) for name in reversed(played.loads)],
    } | _panels(played)


def _name_loaded(played: PlayedChat, capability_id: str) -> str:
    return played.session.entries[capability_id].name if capability_id in played.session.entries else capability_id


def _sent(chat: PlaygroundChat, number: int | None) -> dict[str, Any]:
    """Exactly what was sent to the model for a reply: this one, or the last."""
    replies = PlaygroundStep.objects.filter(chat=chat, kind=PlaygroundStep.Kind.REPLY)
    row = replies.last() if number is None else replies.filter(number=number).first()
    if row is None and number is not None:
        raise Http404
    text = json.dumps(row.sent, indent=2, ensure_ascii=False) if row and row.sent is not None else ""
    return {"sent": row, "sent_text": text, "is_sent_chosen": number is not None}


@author_required(form_on="studio:playground_chat")
def playground_chat_save(request: StudioRequest, number: int) -> HttpResponse:
    """Save it as a case of a capability, which is then edited."""
    chat = chat_store.get_chat(number, actor_of(request))
    try:
        document = document_of(chat_store.play_stored(chat))
        capability = queries.get_capability(get_text(request, "capability_id", most=64))
        row = case_store.save_case(capability=capability, document=document, by=actor_of(request))
    except RegistryError as error:
        return _show_chat(request, chat, error=error.message, status=403 if isinstance(error, Forbidden) else 400)
    report_done(request, _("Case “%(name)s” saved.") % {"name": row.name})
    return redirect("studio:evaluation_case", capability.capability_id, row.pk)


@author_required("GET", "POST")
@confirmed_first(delete_chat_question, page="studio:playground_chat", gone="studio:playground_show")
def playground_chat_delete(request: StudioRequest, number: int) -> HttpResponse:
    """Delete a chat with everything that was said in it."""
    chat = chat_store.get_chat(number, actor_of(request))
    to = redirect("studio:playground_show")
    return run_action(request, chat_store.delete_chat, _("Chat deleted."), to=to, chat=chat)
