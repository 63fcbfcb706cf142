"""An operation as a tool contract. Deterministic: the same operation gives the same contract and digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import rfc8785

from capability_kit.json_schema.evaluator import SchemaEvaluator, SchemaUnsafe
from capability_kit.json_schema.graph import Node, SchemaGraph
from capability_rules.bundles.json_reader import LEVELS_MAX
from features.tool_sources.descriptions import clean_text, cut_text
from features.tool_sources.mapping.arguments import build_arguments, find_refused_names, resolve_root
from features.tool_sources.mapping.definitions import embed_definitions
from features.tool_sources.operation import ApiOperation, Json, Loss

_DESCRIPTION_MAX: Final = 1024
# A result helps a model less than arguments do; a large one is left out.
_RESULT_BYTES_MAX: Final = 16_000
# More than this no vendor takes, and a bundle holds only a few of them.
_CONTRACT_BYTES_MAX: Final = 200_000
_DEFAULT_STEPS_MAX: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class MappedTool:
    """A tool of tools.json, what was rewritten or lost on the way, and the digest of what it was made from.

    `digest` does not depend on the name. `refused` says why it cannot be a tool; empty where it can.
    """

    contract: Json
    losses: tuple[Loss, ...]
    digest: str
    refused: str = ""


def map_operation(operation: ApiOperation, name: str) -> MappedTool:
    """The contract of an operation under a name: what only reads is read, all else writes and requires approval."""
    losses = set(operation.losses)
    arguments, lost = build_arguments(operation)
    arguments, defined = embed_definitions(arguments, operation.definitions)
    losses |= lost | defined | _drop_bad_defaults(arguments)
    contract: Json = {"name": name, "description": describe_operation(operation), "args_schema": arguments}
    contract |= _result(operation, losses)
    contract["policy"] = {"kind": "read"} if operation.is_read else {"kind": "write", "requires_approval": True}
    refused_names = find_refused_names(arguments)
    if refused_names:
        listed = ", ".join(f"`{one[:64]}`" for one in refused_names[:3])
        words = f"Gemini or Anthropic refuses property names of this body ({listed}): they get the others of the tools"
        losses.add(Loss("IMPORT_SCHEMA_LOST", words))
    return MappedTool(contract, tuple(sorted(losses)), digest_contract(contract), _refusal(contract))


def _refusal(contract: Json) -> str:
    """Why tools.json cannot have the contract; empty where it can."""
    size = len(json.dumps(contract, ensure_ascii=False).encode("utf-8", "replace"))
    if size > _CONTRACT_BYTES_MAX:
        return f"its contract has {size:,} bytes; at most {_CONTRACT_BYTES_MAX:,} are taken"
    # In tools.json it stands in a list.
    if 1 + _depth(contract) > LEVELS_MAX:
        return f"its contract nests deeper than the {LEVELS_MAX} levels that tools.json may have"
    return ""


def _depth(value: Any) -> int:
    """How many lists and objects are within each other."""
    depth, level = 0, [value]
    while level := [one for one in level if isinstance(one, dict | list)]:
        depth += 1
        level = [item for one in level for item in (one.values() if isinstance(one, dict) else one)]
    return depth


def digest_contract(contract: Json) -> str:
    """SHA-256 over the canonical JSON (RFC 8785) of a contract without its name and its forms, in hex digits."""
    counted = {key: value for key, value in contract.items() if key not in ("name", "ui")}
    return hashlib.sha256(rfc8785.dumps(counted)).hexdigest()


def named_contract(contract: Mapping[str, Any], name: str) -> Json:
    """The contract under another name."""
    return {**contract, "name": name}


def describe_operation(operation: ApiOperation) -> str:
    """What it does, in at most 1,024 characters; method and path where the source does not say."""
    summary, text = operation.summary.rstrip("."), clean_text(operation.description, most=4_000)
    if summary and not text.lower().startswith(summary.lower()):
        text = f"{summary}. {text}".strip()
    return cut_text(text, _DESCRIPTION_MAX) or operation.key[:_DESCRIPTION_MAX]


def _result(operation: ApiOperation, losses: set[Loss]) -> Json:
    if not isinstance(operation.result, dict):
        return {}
    root = resolve_root(operation.result, operation.result_definitions)
    schema, defined = embed_definitions(root, operation.result_definitions)
    if len(json.dumps(schema)) > _RESULT_BYTES_MAX or not schema:
        losses.add(Loss("IMPORT_SCHEMA_LOST", "The schema of the result is left out: it is too large"))
        return {}
    losses |= {*operation.result_losses, *defined, *_drop_bad_defaults(schema)}
    return {"result_schema": schema}


def _drop_bad_defaults(schema: Json) -> set[Loss]:
    """Take out defaults that their own schema refuses, or that cannot be checked."""
    graph = SchemaGraph(schema)
    nodes = [node for node in graph.nodes if "default" in node.schema]
    bad = [node for node in nodes if not _is_accepted(graph, node)]
    for node in bad:
        del _at(schema, node)["default"]
    words = "A default that its own schema refuses is left out"
    return {Loss("IMPORT_SCHEMA_LOST", words)} if bad else set()


def _is_accepted(graph: SchemaGraph, node: Node) -> bool:
    try:
        return SchemaEvaluator(graph).find_error(node, node.schema["default"], steps_max=_DEFAULT_STEPS_MAX) is None
    except SchemaUnsafe:
        return False


def _at(schema: Any, node: Node) -> Any:
    for step in node.path:
        schema = schema[step]
    return schema
