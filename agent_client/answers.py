"""JSON from the registry, read strictly: UTF-8, bounded depth, no NaN. Everything else is a clear refusal."""

from __future__ import annotations

import json
from typing import Any, Final

from agent_client.errors import AnswerRefused, AnswerTooLarge, RedirectRefused, RegistryError, error_for
from agent_client.exchange import Reply

# A bundle's documents may have 64 levels (CONTRACT 1); the envelope puts two around them.
LEVELS_MAX: Final = 70


def document(reply: Reply) -> dict[str, Any]:
    """The JSON object of a 2xx answer. Raises `AnswerRefused`."""
    media_type = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise AnswerRefused(
            f"The answer is '{media_type[:60] or 'nothing'}', not application/json", status=reply.status
        )
    value = parse(reply.body)
    if not isinstance(value, dict):
        raise AnswerRefused("The answer is JSON, but no object", status=reply.status)
    return value


def parse(raw: bytes) -> Any:
    """JSON of at most LEVELS_MAX levels. Raises `AnswerRefused`."""
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
    except RecursionError:
        raise AnswerRefused("The JSON is nested too deeply") from None
    except ValueError as error:
        raise AnswerRefused(f"The answer is no JSON: {str(error)[:100]}") from None
    level = [value]
    for _ in range(LEVELS_MAX):
        level = [item for inner in level for item in _items(inner)]
        if not level:
            return value
    raise AnswerRefused(f"The JSON is nested more than {LEVELS_MAX} levels deep")


def _items(value: Any) -> list[Any]:
    found = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return [item for item in found if isinstance(item, dict | list)]


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def refusal(reply: Reply) -> RegistryError:
    """The error of an answer that is no 2xx."""
    if 300 <= reply.status < 400:
        target = reply.headers.get("location", "")[:200]
        return RedirectRefused(f"The registry points to another address, {target}", status=reply.status)
    try:
        envelope = document(reply).get("error")
    except AnswerTooLarge:
        raise
    except AnswerRefused:
        envelope = None
    if not isinstance(envelope, dict) or not isinstance(envelope.get("code"), str):
        return AnswerRefused(
            f"The answer has the status {reply.status} and no error that can be read", status=reply.status
        )
    data = {name: value for name, value in envelope.items() if name not in ("code", "message")}
    return error_for(envelope["code"][:64], str(envelope.get("message", ""))[:1000], data=data, status=reply.status)
