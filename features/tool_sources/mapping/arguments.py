"""The arguments of a tool: parameters and the properties of the body beside each other, each under a name that vendors
take."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from capability_kit.bundles.vendor_limits import PROPERTY_NAMES, ROOT_REFUSED
from capability_kit.json_schema.graph import iterate_schemas
from features.tool_sources.mapping.names import LENGTH_MAX, snake_case
from features.tool_sources.operation import ApiOperation, Definitions, Json, Loss, RequestBody

_TAKEN_AS_IS: Final = PROPERTY_NAMES["gemini"]
# With one of these a body is more than a list of properties: it stays one argument.
_NOT_FLAT: Final = frozenset({*ROOT_REFUSED, "patternProperties", "$ref", "const", "minProperties", "maxProperties"})


def build_arguments(operation: ApiOperation) -> tuple[Json, frozenset[Loss]]:
    """The args_schema without its definitions, and what became of names that a vendor would refuse."""
    if operation.arguments is not None:
        return _given(operation.arguments, operation.definitions)
    made = _ArgumentList()
    for one in operation.parameters:
        made.add(one.name, one.schema, one.location, is_required=one.is_required)
    is_open = _add_body(made, operation.body, operation.definitions) if operation.body else False
    schema: Json = {"type": "object", "properties": made.properties}
    schema |= {"required": made.required} if made.required else {}
    return schema | ({} if is_open else {"additionalProperties": False}), frozenset(made.losses)


def _given(schema: Json, definitions: Definitions) -> tuple[Json, frozenset[Loss]]:
    """The schema of a tool that is described as one: it is an object, and its names are those that the tool knows."""
    whole = resolve_root(schema, definitions)
    refused = [key for key in ROOT_REFUSED if key in whole and key != "enum"]
    losses = set[Loss]()
    if refused:
        words = f"OpenAI and Anthropic refuse `{refused[0]}` at the root: what they get leaves it out and says so"
        losses.add(Loss("IMPORT_SCHEMA_LOST", words))
    whole.pop("enum", None)
    return {"properties": {}, **whole, "type": "object"}, frozenset(losses)


def resolve_root(schema: Json, definitions: Definitions) -> Json:
    """What a lone reference at the root means."""
    seen: set[str] = set()
    while isinstance(schema.get("$ref"), str) and schema["$ref"] not in seen:
        seen.add(schema["$ref"])
        target = definitions.schemas.get(schema["$ref"].removeprefix("#/$defs/"), {})
        schema = target | {key: value for key, value in schema.items() if key != "$ref"}
    return {key: value for key, value in schema.items() if key != "$ref"}


def _add_body(made: _ArgumentList, body: RequestBody, definitions: Definitions) -> bool:
    """Its properties as arguments where it is a list of them, else `body` as one argument; whether more are taken."""
    schema = resolve_root(body.schema, definitions)
    extra = schema.get("additionalProperties")
    if "properties" not in schema or _NOT_FLAT & set(schema) or isinstance(extra, dict):
        made.add(
            "body", {"description": "The body of the request.", **body.schema}, "body", is_required=True, is_whole=True
        )
        return False
    required = schema.get("required", ())
    for name, item in schema["properties"].items():
        made.add(name, item, "body", is_required=name in required)
    return extra is True


class _ArgumentList:
    def __init__(self) -> None:
        self.properties: Json = {}
        self.required: list[str] = []
        self.losses: set[Loss] = set()

    def add(self, sent_as: str, schema: Json, where: str, *, is_required: bool, is_whole: bool = False) -> None:
        """One argument. A name that is taken, or that a vendor refuses, is changed; the description has the old one."""
        name = next(name for name in _names(sent_as, where) if name not in self.properties)
        if name != sent_as and not is_whole:
            words = f"The argument `{name}` is sent as `{sent_as[:64]}`"
            self.losses.add(
                Loss("IMPORT_SCHEMA_REWRITTEN", f"{words}: a vendor would refuse the name, or it is there twice")
            )
            told = f"Sent as `{sent_as[:64]}` in the {where}."
            schema = {**schema, "description": f"{schema.get('description', '')} {told}".strip()}
        self.properties[name] = schema
        if is_required:
            self.required.append(name)


def _names(sent_as: str, where: str) -> Iterator[str]:
    if _TAKEN_AS_IS.fullmatch(sent_as):
        yield sent_as
    base = snake_case(sent_as)[: LENGTH_MAX - 12] or "argument"
    base = base if re.match(r"[a-z]", base) else f"argument_{base}"
    yield base
    yield f"{where}_{base}"
    number = 2
    while True:
        yield f"{base}_{number}"
        number += 1


def find_refused_names(schema: Json) -> list[str]:
    """Names of properties at any level that Gemini or Anthropic refuses: the body's own, which have to stay."""
    names = {name for one in iterate_schemas(schema) for name in one.get("properties", ())}
    return sorted(name for name in names if not all(allowed.fullmatch(name) for allowed in PROPERTY_NAMES.values()))
