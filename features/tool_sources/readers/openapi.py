"""OpenAPI 3.0 to 3.2: each method of each path as an operation.

Sources: OpenAPI Specification 3.0.4, 3.1.1 and 3.2.0. Nothing is fetched; `servers` and `security` concern
who makes the calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from capability_rules.errors import SourceUnreadable
from features.tool_sources.descriptions import clean_text
from features.tool_sources.operation import ApiOperation, Catalog, Json, Location, Loss, Parameter, RequestBody
from features.tool_sources.readers.limits import OPERATIONS_MAX
from features.tool_sources.readers.references import ReferenceLost, ReferenceTable
from features.tool_sources.readers.schemas import SchemaConverter

_METHODS: Final = ("get", "head", "post", "put", "patch", "delete", "options", "trace", "query")
_READ_METHODS: Final = ("get", "head")
_LOCATIONS: Final[tuple[Location, ...]] = get_args(Location)
# RFC 9110 fields that the client of the API sets itself (OpenAPI 4.8.12.1), and what is a credential by its name.
_NOT_AN_ARGUMENT: Final = re.compile(
    r"accept|content-type|authorization|.*(api-?key|token|secret|password).*", re.IGNORECASE
)
_JSON: Final = re.compile(r"application/(?:[\w.-]+\+)?json(?:;.*)?|\*/\*|application/\*", re.IGNORECASE)
_FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data")
_TEXT_MAX: Final = 20_000
_PATH_LENGTH_MAX: Final = 500


def is_openapi(document: Any) -> bool:
    """Whether it says that it is one, of whatever version."""
    return isinstance(document, dict) and ("openapi" in document or "swagger" in document)


def read_openapi(document: Json) -> Catalog:
    """Its operations in their order. Raises `SourceUnreadable` for another version, and beyond the limits."""
    version = str(document.get("openapi") or document.get("swagger"))
    if not re.match(r"3\.\d", version):
        raise SourceUnreadable(
            f"OpenAPI 3.0 to 3.2 are read; this document is of version {version[:20]}. Convert it first"
        )
    paths = document.get("paths")
    if not isinstance(paths, dict):
        raise SourceUnreadable("The document has no `paths`: there is nothing to call")
    info = document["info"] if isinstance(document.get("info"), dict) else {}
    title = clean_text(info.get("title"), most=200) or "OpenAPI"
    reader = _Reader(document)
    operations = tuple(reader.read(paths))
    return Catalog("OpenAPI", title, clean_text(info.get("version"), most=60), operations, tuple(reader.skipped))


class _Reader:
    def __init__(self, document: Json) -> None:
        self._references = ReferenceTable(document)
        self._sent = SchemaConverter(self._references, "sent")
        self._received = SchemaConverter(self._references, "received")
        self.skipped: list[str] = []

    def read(self, paths: Mapping[str, Any]) -> Iterator[ApiOperation]:
        _require_count(paths)
        for path, given in paths.items():
            item = self._follow(given, f"The path {path[:100]}")
            if not path.startswith("/") or not isinstance(item, dict):
                continue
            if len(path) > _PATH_LENGTH_MAX:
                self.skipped.append(
                    f"The path {path[:60]}… is left out: it has more than {_PATH_LENGTH_MAX} characters"
                )
                continue
            shared = item.get("parameters")
            for method, operation in _list_operations(item):
                yield self._operation(path, method, operation, shared if isinstance(shared, list) else [])

    def _follow(self, value: Any, what: str) -> Any:
        try:
            return self._references.follow(value)
        except ReferenceLost as error:
            self.skipped.append(f"{what} is left out: {error}")
            return None

    def _operation(self, path: str, method: str, given: Json, shared: list[Any]) -> ApiOperation:
        losses: set[Loss] = set()
        own = given.get("parameters")
        parameters = tuple(self._parameters([*shared, *(own if isinstance(own, list) else [])], losses))
        body = self._body(given.get("requestBody"), losses)
        result, result_losses = self._result(given.get("responses"))
        tags = given.get("tags")
        name = given.get("operationId")
        return ApiOperation(
            key=f"{method.upper()} {path}",
            name=name[:200] if isinstance(name, str) else "",
            is_read=method in _READ_METHODS,
            method=method.upper(),
            path=path,
            summary=clean_text(given.get("summary"), most=200),
            description=str(given.get("description") or "")[:_TEXT_MAX],
            tags=tuple(clean_text(tag, most=60) for tag in tags if isinstance(tag, str))
            if isinstance(tags, list)
            else (),
            is_deprecated=given.get("deprecated") is True,
            parameters=parameters,
            body=body,
            result=result,
            definitions=self._sent.definitions,
            result_definitions=self._received.definitions,
            losses=frozenset(losses),
            result_losses=result_losses,
        )

    def _parameters(self, given: list[Any], losses: set[Loss]) -> Iterator[Parameter]:
        """Those of the path and of the operation, of which the later one counts where both have one name."""
        found: dict[tuple[str, str], Json] = {}
        for one in given:
            try:
                parameter = self._references.follow(one)
            except ReferenceLost as error:
                losses.add(Loss("IMPORT_SCHEMA_LOST", f"A parameter is left out: {error}"))
                continue
            if isinstance(parameter, dict) and isinstance(parameter.get("name"), str):
                found[parameter["name"], str(parameter.get("in"))] = parameter
        for (name, location), parameter in found.items():
            made = self._parameter(name, location, parameter, losses)
            if made is not None:
                yield made

    def _parameter(self, name: str, location: str, given: Json, losses: set[Loss]) -> Parameter | None:
        known = next((one for one in _LOCATIONS if one == location), None)
        if known is None or (known == "header" and _NOT_AN_ARGUMENT.fullmatch(name)):
            words = f"The {location} `{name[:60]}` is left out: who makes the calls sets it"
            if location not in ("header", "cookie"):
                words = f"The parameter `{name[:60]}` is left out: its place is {location[:20]!r}"
            losses.add(Loss("IMPORT_SCHEMA_LOST", words))
            return None
        style = given.get("style")
        if isinstance(style, str) and style not in ("form", "simple"):
            words = f"`{name[:60]}` is sent in the style `{style[:30]}`: who makes the calls encodes it"
            losses.add(Loss("IMPORT_SCHEMA_REWRITTEN", words))
        schema, lost = self._sent.convert_root(_schema_of(given))
        losses |= lost
        described = clean_text(given.get("description"), most=400)
        schema = (
            {"description": described, **{key: schema[key] for key in schema if key != "description"}}
            if described
            else schema
        )
        is_required = given.get("required") is True or known == "path"
        return Parameter(name[:200], known, schema, is_required)

    def _body(self, given: Any, losses: set[Loss]) -> RequestBody | None:
        try:
            body = self._references.follow(given)
        except ReferenceLost as error:
            losses.add(Loss("IMPORT_SCHEMA_LOST", f"The body is left out: {error}"))
            return None
        content = body.get("content") if isinstance(body, dict) else None
        if not isinstance(content, dict) or not content:
            return None
        media_type = _chosen(content)
        if not _JSON.fullmatch(media_type):
            words = f"The body is sent as `{media_type[:60]}`: who makes the calls encodes the arguments"
            losses.add(Loss("IMPORT_SCHEMA_REWRITTEN", words))
        schema, lost = self._sent.convert_root(_held(content[media_type]))
        losses |= lost
        return RequestBody(media_type[:100], schema)

    def _result(self, responses: Any) -> tuple[Json | None, frozenset[Loss]]:
        """What the first successful response is in JSON."""
        if not isinstance(responses, dict):
            return None, frozenset()
        good = sorted(code for code in responses if re.fullmatch(r"2\d\d|2XX", code, re.IGNORECASE))
        for code in [*good, *(["default"] if not good and "default" in responses else [])]:
            try:
                response = self._references.follow(responses[code])
            except ReferenceLost:
                continue
            content = response.get("content") if isinstance(response, dict) else None
            media_type = (
                next((name for name in content if _JSON.fullmatch(name)), "") if isinstance(content, dict) else ""
            )
            if media_type and isinstance(content, dict) and _held(content[media_type]):
                return self._received.convert_root(_held(content[media_type]))
        return None, frozenset()


def _list_operations(item: Json) -> Iterator[tuple[str, Json]]:
    """Of a path, by method: those that have keys of their own, and since OpenAPI 3.2 any others."""
    more = item.get("additionalOperations")
    found = {method: item.get(method) for method in _METHODS} | (more if isinstance(more, dict) else {})
    for method, operation in found.items():
        if isinstance(operation, dict) and re.fullmatch(r"[\w!#$%&'*+.^`|~-]{1,40}", method):
            yield method, operation


def _require_count(paths: Mapping[str, Any]) -> None:
    count = sum(1 for item in paths.values() if isinstance(item, dict) for _ in _list_operations(item))
    if max(count, len(paths)) > OPERATIONS_MAX:
        raise SourceUnreadable(
            f"The document has {max(count, len(paths)):,} operations; at most {OPERATIONS_MAX:,} are read"
        )


def _schema_of(parameter: Json) -> Any:
    content = parameter.get("content")
    if "schema" not in parameter and isinstance(content, dict) and content:
        return _held(content[_chosen(content)])
    return parameter.get("schema", {})


def _chosen(content: Json) -> str:
    """The media type that is taken: JSON before forms before anything else."""
    json_like = [name for name in content if _JSON.fullmatch(name)]
    forms = [name for name in content if name.partition(";")[0].strip().lower() in _FORMS]
    return str([*json_like, *forms, *content][0])


def _held(media: Any) -> Any:
    return media.get("schema", {}) if isinstance(media, dict) else {}
