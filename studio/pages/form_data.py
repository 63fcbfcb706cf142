"""What a form of ours sends, made fit to be stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, QueryDict

from capability_kit.json_text import parse_json
from registry.publishing.gate import ACKNOWLEDGEABLE_CODES

NOTE_MAX = 2000


def get_text(request: HttpRequest, name: str, *, most: int) -> str:
    """A field of at most so many characters. NUL is dropped: PostgreSQL can store it in no text."""
    return get_text_at(request.POST, name, most=most)


def get_note(request: HttpRequest) -> str:
    """Return the note of a form: the reason for the action."""
    return get_text(request, "note", most=NOTE_MAX)


def get_acknowledged(request: HttpRequest) -> list[str]:
    """The codes that were ticked, out of those that can be."""
    return sorted(ACKNOWLEDGEABLE_CODES & set(request.POST.getlist("acknowledge")))


def get_int(request: HttpRequest, name: str) -> int | None:
    """A version number; None where there is none, or something else."""
    return get_int_at(request.POST, name)


def get_int_at(given: QueryDict | Mapping[str, str], name: str) -> int | None:
    """As `get_int`, of an address or a form."""
    value = given.get(name, "")
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else None


def get_json(request: HttpRequest) -> dict[str, Any]:
    """The event of a rendered form: `{"name", "context"}`; the context is None if it is invalid."""
    return {"name": get_text(request, "action", most=200), "context": parse_json(request.POST.get("context"))}


def get_query_text(request: HttpRequest, name: str, *, most: int) -> str:
    """A parameter of the address, of at most so many characters."""
    return get_text_at(request.GET, name, most=most)


def get_text_at(given: QueryDict, name: str, *, most: int) -> str:
    """As `get_text`, of an address or a form."""
    return given.get(name, "").replace("\0", "").strip()[:most]


def get_choice(request: HttpRequest, name: str, known: Sequence[str]) -> str:
    """A query parameter with one of these values; an invalid one is ignored."""
    value = request.GET.get(name, "")
    return value if value in known else ""
