"""What every endpoint has in common: JSON in and out, our errors, and no method that it does not name."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

from django.core.exceptions import TooManyFieldsSent
from django.http import HttpResponseBase
from rest_framework.decorators import api_view
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from agent_api.http.parameters import query_keys
from agent_api.http.parsers import BoundedJSONParser
from capability_rules.validation.rules.json_schema import closest_match

EndpointView = Callable[..., HttpResponseBase]
_UNPRINTABLE: Final = re.compile(r"[^A-Za-z0-9_.-]")


class JsonOnlyNegotiation(BaseContentNegotiation):
    """We speak one language; a client that says `Accept: text/html` gets it too, errors included."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        content_type = (request.content_type or "").split(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type in (content_type, "*/*")), None)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:  # noqa: ARG002
        return renderers[0], renderers[0].media_type


def _naming_unknown_keys(finalize: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """The same, with a `Warning` that names keys of the query and of the body that were passed over."""

    def finalize_response(self: Any, request: Any, *args: Any, **options: Any) -> HttpResponseBase:
        response = finalize(self, request, *args, **options)
        _warn_of_unknown(response, "query", _list_query_names(request), query_keys(self, request))
        _warn_of_unknown(response, "body", getattr(request, "given_keys", ()), getattr(request, "known_keys", None))
        return response

    return finalize_response


def _list_query_names(request: Any) -> Iterable[str]:
    """The keys of the query; none where there are too many, which an endpoint that reads the query has refused."""
    try:
        names: Iterable[str] = request.GET.keys()
    except TooManyFieldsSent:
        return ()
    return names


def _warn_of_unknown(response: HttpResponseBase, part: str, given: Iterable[str], known: frozenset[str] | None) -> None:
    unknown = sorted(set(given) - known) if known is not None else []
    if known is None or not unknown:
        return
    warning = f'299 - "Unknown keys of the {part} were passed over: {_name_keys(unknown, known)}"'
    response["Warning"] = f"{response['Warning']}, {warning}" if "Warning" in response else warning


def _name_keys(unknown: Sequence[str], known: Collection[str]) -> str:
    """At most three of them, each with the known key that may have been meant."""
    return ", ".join(_name_key(str(key), closest_match(str(key), known)) for key in unknown[:3])


def _name_key(key: str, close: str) -> str:
    return _UNPRINTABLE.sub("?", key)[:40] + (f" (did you mean {close}?)" if close else "")


def endpoint(
    *methods: str, parsers: tuple[type[BaseParser], ...] = (BoundedJSONParser,)
) -> Callable[[EndpointView], EndpointView]:
    """Make a function an endpoint with these methods, and HEAD where it accepts GET. Others get 405 with `Allow`."""

    def decorate(view: EndpointView) -> EndpointView:
        wrapped = api_view(list(methods))(view)
        cls: Any = wrapped.cls
        cls.parser_classes = list(parsers)
        cls.permission_classes = []
        cls.content_negotiation_class = JsonOnlyNegotiation
        cls.is_write = getattr(view, "is_write", False)
        cls.finalize_response = _naming_unknown_keys(cls.finalize_response)
        cls.http_method_names = [method.lower() for method in methods]
        if "GET" in methods:
            cls.head = cls.get
            cls.http_method_names.append("head")
        result: EndpointView = wrapped
        return result

    return decorate
