"""What a source offers: one neutral record for each operation, whatever the form it was described in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]
Form = Literal["OpenAPI", "MCP", "OpenAI", "Anthropic", "Gemini"]
LossCode = Literal["IMPORT_SCHEMA_REWRITTEN", "IMPORT_SCHEMA_LOST"]
Location = Literal["path", "query", "header"]


@dataclass(frozen=True, slots=True, order=True)
class Loss:
    """What became of a part that tools.json or a vendor cannot have: rewritten with the same meaning, or lost."""

    code: LossCode
    message: str


@dataclass(frozen=True, slots=True)
class SchemaFacts:
    """How many characters a schema has as JSON, and the definitions that it names itself."""

    size: int
    references: tuple[str, ...]


@dataclass(slots=True)
class Definitions:
    """Schemas that others refer to as `#/$defs/NAME`, what each lost on its way here, and what was measured of it."""

    schemas: dict[str, Json] = field(default_factory=dict)
    losses: dict[str, set[Loss]] = field(default_factory=dict)
    facts: dict[str, SchemaFacts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument outside of the body. `schema` may refer to the operation's definitions."""

    name: str
    location: Location
    schema: Json
    is_required: bool


@dataclass(frozen=True, slots=True)
class RequestBody:
    """What a request carries, in the media type that is taken of those that are offered."""

    media_type: str
    schema: Json


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One thing that can be called.

    `key` names it in its source for good: `GET /pets/{id}`, or a tool's name. `arguments` is the whole schema of a
    tool that is described as one; an operation of HTTP has parameters and a body in its place.
    """

    key: str
    name: str
    is_read: bool
    method: str = ""
    path: str = ""
    summary: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    is_deprecated: bool = False
    parameters: tuple[Parameter, ...] = ()
    body: RequestBody | None = None
    arguments: Json | None = None
    result: Json | bool | None = None
    definitions: Definitions = field(default_factory=Definitions)
    result_definitions: Definitions = field(default_factory=Definitions)
    losses: frozenset[Loss] = frozenset()
    result_losses: frozenset[Loss] = frozenset()


@dataclass(frozen=True, slots=True)
class Catalog:
    """All operations of a source, in its order. `skipped` says in sentences what is there and cannot be a tool."""

    form: Form
    title: str
    version: str
    operations: tuple[ApiOperation, ...]
    skipped: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[ApiOperation]:
        return iter(self.operations)
