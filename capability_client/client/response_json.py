"""JSON from the registry, read strictly: UTF-8, bounded depth, no NaN. Everything else is a clear refusal."""

from __future__ import annotations

import json
from typing import Any, Final

from capability_client.client.messages import Response, TransportError
from capability_kit.errors import (
    AnswerTooLarge,
    RateLimited,
    RedirectRefused,
    RegistryError,
    RegistryUnavailable,
    RegistryUnreachable,
    ResponseRejected,
    Unavailable,
    error_for,
)

# A bundle's documents may have 64 levels (docs/contract.md 1); the envelope puts two around them.
LEVELS_MAX: Final = 70


def parse_document(reply: Response) -> dict[str, Any]:
    """The JSON object of a 2xx response. Raises `ResponseRejected`."""
    media_type = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        message = f"The answer is '{media_type[:60] or 'nothing'}', not application/json"
        raise ResponseRejected(message, status=reply.status)
    value = parse_strict_json(reply.body)
    if not isinstance(value, dict):
        raise ResponseRejected("The answer is JSON, but no object", status=reply.status)
    return value


def parse_strict_json(raw: bytes) -> Any:
    """JSON of at most LEVELS_MAX levels. Raises `ResponseRejected`."""
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
    except RecursionError:
        raise ResponseRejected("The JSON is nested too deeply") from None
    except ValueError as error:
        raise ResponseRejected(f"The answer is not JSON: {str(error)[:100]}") from None
    level = [value]
    for _ in range(LEVELS_MAX):
        level = [item for inner in level for item in _items(inner)]
        if not level:
            return value
    raise ResponseRejected(f"The JSON is nested more than {LEVELS_MAX} levels deep")


def _items(value: Any) -> list[Any]:
    found = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return [item for item in found if isinstance(item, dict | list)]


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def parse_refusal(reply: Response) -> RegistryError:
    """The error for a response that is not a 2xx."""
    if 300 <= reply.status < 400:
        target = reply.headers.get("location", "")[:200]
        return RedirectRefused(f"The registry points to another address, {target}", status=reply.status)
    try:
        envelope = parse_document(reply).get("error")
    except AnswerTooLarge:
        raise
    except ResponseRejected:
        envelope = None
    if not isinstance(envelope, dict) or not isinstance(envelope.get("code"), str):
        message = f"The answer has the status {reply.status} and no error that can be read"
        return ResponseRejected(message, status=reply.status)
    data = {name: value for name, value in envelope.items() if name not in ("code", "message")}
    return error_for(envelope["code"][:64], str(envelope.get("message", ""))[:1000], data=data, status=reply.status)


def error_of(outcome: Response | TransportError) -> Exception:
    """The error of an outcome that is neither a 2xx nor a 304."""
    if isinstance(outcome, TransportError):
        kind = AnswerTooLarge if outcome.is_too_large else RegistryUnreachable
        return kind(outcome.reason)
    if outcome.status >= 500:
        error = parse_refusal(outcome)
        message = error.message if isinstance(error, Unavailable) else f"The registry answers {outcome.status}"
        return RegistryUnavailable(message, data=error.data, status=outcome.status)
    error = parse_refusal(outcome)
    if outcome.status == 429:
        message = error.message if isinstance(error, RateLimited) else "Too many calls"
        return RateLimited(message, data={**error.data, "retry_after_seconds": retry_after(outcome) or 0.0}, status=429)
    return error


def retry_after(outcome: Response | TransportError) -> float | None:
    """Seconds; a date, or anything else, is ignored."""
    if isinstance(outcome, TransportError):
        return None
    said = outcome.headers.get("retry-after", "").strip()
    return float(said) if said.isascii() and said.isdecimal() and len(said) <= 9 else None
