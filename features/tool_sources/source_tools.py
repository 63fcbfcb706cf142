"""What a source comes to: every operation as a tool that can be chosen. Plain data, since it crosses a process."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from features.tool_sources.mapping.contract import map_operation
from features.tool_sources.mapping.names import name_tools
from features.tool_sources.operation import ApiOperation, Catalog, Json, Loss
from features.tool_sources.readers import read_source


@dataclass(frozen=True, slots=True)
class SourceTool:
    """An operation under its `key`, and the contract that it becomes. `refused` says why it cannot be a tool."""

    key: str
    method: str
    path: str
    summary: str
    tags: tuple[str, ...]
    is_deprecated: bool
    contract: Json
    digest: str
    losses: tuple[Loss, ...]
    refused: str = ""

    @property
    def name(self) -> str:
        return str(self.contract["name"])

    @property
    def is_read(self) -> bool:
        """Whether the contract's policy is read."""
        return bool(self.contract["policy"]["kind"] == "read")


@dataclass(frozen=True, slots=True)
class ToolCatalog:
    """All tools of a source. `form` is OpenAPI, MCP or a vendor; `skipped` says what is there and was left out."""

    form: str
    title: str
    version: str
    tools: tuple[SourceTool, ...]
    skipped: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> ToolCatalog:
        """Of `as_dict`, after JSON made lists of its tuples."""
        tools = tuple(
            SourceTool(**{**tool, "tags": tuple(tool["tags"]), "losses": tuple(Loss(**one) for one in tool["losses"])})
            for tool in values["tools"]
        )
        return cls(**{**values, "tools": tools, "skipped": tuple(values["skipped"])})


def read_tools(content: bytes) -> ToolCatalog:
    """The tools of a document, in this process: `isolation.read_tools_isolated` is for texts of others.

    Raises `SourceUnreadable`.
    """
    return map_catalog(read_source(content))


def map_catalog(catalog: Catalog) -> ToolCatalog:
    """Every operation as a tool under a name of its own."""
    names = name_tools(catalog)
    tools = tuple(_tool(operation, names[operation.key]) for operation in catalog)
    return ToolCatalog(catalog.form, catalog.title, catalog.version, tools, catalog.skipped)


def _tool(operation: ApiOperation, name: str) -> SourceTool:
    mapped = map_operation(operation, name)
    return SourceTool(
        operation.key,
        operation.method,
        operation.path,
        operation.summary or str(mapped.contract["description"])[:200],
        operation.tags,
        operation.is_deprecated,
        mapped.contract,
        mapped.digest,
        mapped.losses,
        mapped.refused,
    )
