"""Checks that each default matches its property's schema, each against its own subschema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from capability_kit.json_schema.evaluator import SchemaEvaluator, SchemaUnsafe
from capability_kit.json_schema.graph import Node, SchemaGraph
from capability_rules.validation.rules.tool_patterns import Patterns
from capability_rules.validation.rules.tool_schemas import shortened_names

# What one default may take, in the steps of capability_kit.json_schema.measure: some hundredths of a second.
_STEPS_MAX: Final = 20_000_000


def find_invalid_defaults(graph: SchemaGraph, patterns: Patterns) -> Iterator[tuple[Node, str]]:
    """Each subschema that refuses its own default, with the reason in words.

    A default whose check would take too long is passed over.
    """
    nodes = [node for node in graph.nodes if "default" in node.schema]
    if not nodes:
        return
    evaluator = SchemaEvaluator(graph, is_unwanted=lambda pattern: not patterns.verdict(pattern).runs)
    for node in nodes:
        patterns.deadline.check()
        try:
            error = evaluator.find_error(node, node.schema["default"], steps_max=_STEPS_MAX)
        except SchemaUnsafe:
            continue
        if error is not None:
            yield node, shortened_names(error.message)
