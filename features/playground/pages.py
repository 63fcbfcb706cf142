"""The playground: type what a user would say, and see what an agent would make of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.forms import parse_form
from capability_kit.environment.probe import KINDS, TOLD_KINDS, Environment, Kind
from capability_rules.errors import RegistryError
from features.playground.conversation import MESSAGE_LENGTH_MAX, MESSAGES_MAX, TurnView, dry_run_form, run_conversation
from features.playground.example_messages import list_example_messages
from features.playground.sessions import read_side
from registry.core import queries
from studio.pages.form_data import get_int, get_json, get_text, get_text_at
from studio.pages.html_forms import parse_event
from studio.pages.lists import get_page
from studio.pages.permissions import StudioRequest, operator_required

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
# What playground.js draws a form with.
_DRAWN: Final = ("capability_id", "schema_id", "title", "messages")
_NAMES_MAX: Final = 20
_NAMES_LENGTH_MAX: Final = 300
# Each example costs some milliseconds where a sentence model reads it.
_EXAMPLES_A_PAGE: Final = 100
# An address longer than this is cut off by somebody on its way.
_ADDRESS_MAX: Final = 6000


@operator_required("GET")
def playground_show(request: StudioRequest) -> HttpResponse:
    """A conversation from the address: anyone with the link sees the same. Nothing is stored."""
    return render(request, "studio/playground/show.html", _conversation(request.GET))


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
        "message_length_max": MESSAGE_LENGTH_MAX,
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
        talk = run_conversation(messages, environment, with_drafts=with_drafts or is_comparison)
        live = run_conversation(messages, environment).steps if is_comparison else ()
    except RegistryError as error:
        return {"error": error.message}
    return {
        "steps": talk.steps,
        "turns": [_turn(step, live[place] if is_comparison else None) for place, step in enumerate(talk.steps)],
        "last": talk.steps[-1],
        "prompt": talk.prompt,
        "forms": talk.forms,
        "form_data": [{name: getattr(form, name) for name in _DRAWN} for form in talk.forms],
        "has_capabilities": queries.any_published(),
    }


def _turn(step: TurnView, live: TurnView | None) -> dict[str, Any]:
    """A message with the answer of each side: one, or what is live beside the drafts."""
    if live is None:
        return {"step": step, "sides": [{"label": "", "step": step}], "is_changed": False}
    sides = [{"label": _("Live"), "step": live}, {"label": _("Drafts"), "step": step}]
    return {"step": step, "sides": sides, "is_changed": _outcome(live) != _outcome(step)}


def _outcome(step: TurnView) -> tuple[str, tuple[str, ...]]:
    return step.verdict.decision, tuple(one.capability_id for one in step.answers)


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
        return parse_sent_event(request, parse_form(bundle, schema_id)["definition"])

    told = dry_run_form(
        capability_id=capability_id, schema_id=schema_id, read_event=read_event, with_drafts=with_drafts
    )
    if request.htmx:
        return JsonResponse(asdict(told))
    context = _conversation(QueryDict(get_text(request, "query", most=_ADDRESS_MAX + 2000)))
    context |= {"told": told, "told_of": (capability_id, schema_id)}
    return render(request, "studio/playground/show.html", context)


def parse_sent_event(request: StudioRequest, definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """The event of a form that was drawn without scripts (components/plain_form_fields.html)."""
    pressed = get_int(request, "press")
    return parse_event(definition, dict(request.POST.lists()), -1 if pressed is None else pressed)
