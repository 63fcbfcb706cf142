"""Arguments of a request, each read once and rejected with the fix in the message."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import orjson
from django.http import HttpRequest, QueryDict
from rest_framework.request import Request

from agent_api.http.argument_forms import normalize_arguments
from capability_rules.errors import InvalidRequest
from capability_rules.schema_loader import SCHEMAS_DIR, read_api_schema
from capability_rules.validation.rules.json_schema import type_word

# A plain word of this kind can be looked up; anything else cannot be an id of anybody's.
_LOOKUP: Final = re.compile(r"[^\x00-\x1f\x7f]{1,200}")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
INTEGER_MAX: Final = 2**53 - 1


def query(request: HttpRequest | Request) -> QueryDict:
    """The query string. Raises `InvalidRequest` where a parameter appears twice."""
    parameters: QueryDict = request.GET
    for name in parameters:
        if len(parameters.getlist(name)) > 1:
            raise InvalidRequest(f"The parameter '{name[:40]}' appears twice")
    return parameters


def parse_body(raw: bytes) -> Any:
    """JSON from the wire. Raises ValueError with the reason, also where an object has a key twice: a proxy or a log
    that takes the first one would have seen another call than the one that is made."""
    value = orjson.loads(raw)
    try:
        json.loads(raw, object_pairs_hook=_require_distinct_keys, parse_int=str, parse_float=str)
    except RecursionError:
        raise ValueError("the body has too many levels of lists and objects") from None
    return value


def _require_distinct_keys(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) == len(pairs):
        return
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise ValueError(f"the key {json.dumps(name[:40])} appears twice in one object")
        seen.add(name)


def flag(values: Mapping[str, Any], name: str) -> bool:
    """true or false, false where it is left out."""
    value = values.get(name, False)
    if not isinstance(value, bool):
        raise InvalidRequest(f"{name} must be true or false, found {type_word(value)}")
    return value


def json_object(request: Request) -> dict[str, Any]:
    """The body as a JSON object. Raises `InvalidRequest`; DRF raises for what is not JSON.

    Null is the same as leaving an optional key out. A key that its schema does not have is passed over, so that a newer
    client can talk to an older registry, and named in a `Warning` of the response (agent_api/http/endpoint.py): it may
    be misspelled.
    """
    body = request.data
    if not isinstance(body, dict):
        raise InvalidRequest(f"The body must be a JSON object, found {type_word(body)}")
    component = getattr((request.parser_context or {}).get("view"), "body_component", "")
    if not component:
        return dict(normalize_arguments(body))
    request.known_keys, request.given_keys = _body_keys(component), body.keys()  # type: ignore[attr-defined]
    return dict(normalize_arguments(body, body_schema(component)))


def query_keys(view: Any, request: HttpRequest | Request) -> frozenset[str] | None:
    """The parameters that the description of an endpoint names; None where it has none. A zip has the keys of the body
    that is sent instead of it in the query."""
    described: Mapping[str, frozenset[str]] = getattr(view, "query_keys", {})
    method = "GET" if request.method == "HEAD" else request.method or ""
    known = described.get(method, described.get("*"))
    is_zip = getattr(view, "takes_zip", False) and request.content_type != "application/json"
    return known | _body_keys(view.body_component) if known is not None and is_zip else known


def _body_keys(component: str) -> frozenset[str]:
    return frozenset(body_schema(component)["properties"])


@cache
def body_schema(component: str) -> dict[str, Any]:
    """The schema of a request body, by its title."""
    paths = (SCHEMAS_DIR / "api").glob("*_request.schema.json")
    schemas = (read_api_schema(path.name.removesuffix(".schema.json")) for path in paths)
    return next(schema for schema in schemas if schema["title"] == component)


def capability_id(values: Mapping[str, Any]) -> str:
    """The id to look up. An impossible one is looked up all the same, so that the response suggests the nearest."""
    value = values.get("capability_id")
    if value is None or value == "":
        raise InvalidRequest("capability_id is missing; capability_registry_list names them all")
    if not isinstance(value, str):
        raise InvalidRequest(f"capability_id must be a string, found {type_word(value)}")
    if not _LOOKUP.fullmatch(value) or not _is_storable(value):
        raise InvalidRequest("capability_id must be 1 to 200 printable characters")
    return value


def _is_storable(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def integer_or_null(values: Mapping[str, Any], name: str, *, least: int) -> int | None:
    """As `whole_number`; an explicit null is None too."""
    return None if values.get(name) is None else integer(values, name, least=least)


def integer(values: Mapping[str, Any], name: str, *, least: int, most: int = INTEGER_MAX) -> int | None:
    """A whole number in a range, None where it is left out."""
    if name not in values:
        return None
    value = values[name]
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,16}(\.0{1,16})?", value):
        value = int(value.partition(".")[0])
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidRequest(f"{name} must be an integer from {least} to {most}")
    return value


def digest(values: Mapping[str, Any], name: str = "digest") -> str | None:
    """`sha256:` + 64 hex digits, None where it is left out."""
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not _DIGEST.fullmatch(value):
        raise InvalidRequest(f"{name} must have the form sha256: and 64 lower-case hex digits")
    return value


def string(values: Mapping[str, Any], name: str, *, most: int, default: str = "") -> str:
    """A text of at most `most` characters without NUL or half characters."""
    value = values.get(name, default)
    if not isinstance(value, str) or len(value) > most or "\0" in value or not _is_storable(value):
        raise InvalidRequest(f"{name} must be a string of at most {most} characters")
    return value


# A number as JSON writes it, of a length that nobody types.
_DECIMAL: Final = re.compile(r"(?=.*[0-9])[0-9]{0,3}(\.[0-9]{0,40})?([eE][-+]?[0-9]{1,3})?")


def fraction(values: Mapping[str, Any], name: str) -> float:
    """A number from 0 to 1, 0 where it is left out."""
    value = values.get(name, 0)
    if isinstance(value, str) and re.fullmatch(_DECIMAL, value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidRequest(f"{name} must be a number from 0 to 1")
    return float(value)


def choice(values: Mapping[str, Any], name: str, options: tuple[str, ...]) -> str | None:
    """One of a few words, None where it is left out or empty."""
    value = values.get(name, "")
    if value == "":
        return None
    if value not in options:
        raise InvalidRequest(f"{name} must be one of {', '.join(options)}")
    return str(value)


def files(values: dict[str, Any], where: str = "files") -> dict[str, bytes | str]:
    """`{name: text}`, both texts."""
    given = values.get("files")
    if not isinstance(given, dict):
        raise InvalidRequest(f"{where} must be an object of file names and strings, found {type_word(given)}")
    for name, text in given.items():
        if not isinstance(text, str):
            raise InvalidRequest(f"{where}[{name[:80]!r}] must be a string, found {type_word(text)}")
    return dict(given)
