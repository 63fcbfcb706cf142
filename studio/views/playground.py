"""The playground: type what a user would say, and see what an agent would make of it."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agent_client.environment import Environment
from registry.errors import RegistryError
from studio.access import StudioRequest, operator_required
from studio.conversation import MESSAGE_LENGTH_MAX, MESSAGES_MAX, converse

SYSTEMS: Final = ("linux", "darwin", "win32")
_NAMES_MAX: Final = 20


@operator_required
@require_safe
def playground_show(request: StudioRequest) -> HttpResponse:
    """A conversation from the address: whoever gets the link sees the same. Nothing is stored."""
    said = [text.replace("\0", "")[:MESSAGE_LENGTH_MAX].strip() for text in request.GET.getlist("m")]
    messages = [text for text in said if text]
    asked = request.GET.get("os", "")
    system = asked if asked in SYSTEMS else SYSTEMS[0]
    there = request.GET.get("has", "")[:MESSAGE_LENGTH_MAX]
    context = {
        "messages_said": messages[-MESSAGES_MAX:],
        "system": system,
        "systems": SYSTEMS,
        "has": there,
        "message_length_max": MESSAGE_LENGTH_MAX,
        "is_cut": len(messages) > MESSAGES_MAX,
    }
    if messages:
        context |= _spoken(messages[-MESSAGES_MAX:], system, there)
    return render(request, "studio/playground/show.html", context)


def _spoken(messages: list[str], system: str, there: str) -> dict[str, object]:
    names = frozenset(name for name in (part.strip() for part in there.split(",")[:_NAMES_MAX]) if name)
    # One list of names for programs, packages, apps, keys and permissions: who tries something out need not sort them.
    environment = Environment(system, names, names, names, names, names)
    try:
        steps, prompt = converse(messages, environment)
    except RegistryError as error:
        return {"error": error.message}
    return {"steps": steps, "prompt": prompt}
