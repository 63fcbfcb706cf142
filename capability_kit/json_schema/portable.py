"""A schema as it is sent to others: every reference is a pointer into `$defs` of the same document.

An author may refer by `$id`, by an anchor, dynamically, or into a keyword that the other side leaves out; a reader of
the exported document needs none of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from capability_kit.json_schema.graph import REFERENCES, STORED_MAP, Link, Node, SchemaGraph
from capability_kit.json_schema.rewriter import SchemaRewriter, TooManyForms

Json = dict[str, Any]
_ANNOTATIONS: Final = frozenset({"default", "examples"})
_ADDRESSES: Final = frozenset({"$id", "$schema", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"})
# Values that are data: a `$ref` in them is a key like any other.
_DATA: Final = frozenset({"enum", "const", "default", "examples"})
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


class SchemaNotPortable(ValueError):
    """A reference that cannot be followed in the document; the message names it."""


def make_portable(schema: Json) -> Json:
    """The schema with each reference as `#/$defs/NAME`; the same object where it is so already.

    Raises `SchemaNotPortable` for a reference that leaves the document or points at nothing, and for dynamic ones
    that unfold to too many forms.
    """
    written = list(_reference_texts(schema))
    if not written:
        return schema
    graph = SchemaGraph(schema)
    require_resolved(graph)
    links = [link for node in graph.nodes for link in node.links]
    if len(links) == len(written) and all(_is_plain(link, graph) for link in links):
        return schema
    try:
        return SchemaRewriter(graph, keeps=_keeps, wished_name=_wished_name).document(graph.root)
    except TooManyForms as error:
        raise SchemaNotPortable(str(error)) from None


def require_resolved(graph: SchemaGraph) -> None:
    """Raises `SchemaNotPortable` where a reference has no meaning, or two, in its document."""
    for bad in graph.bad_references:
        raise SchemaNotPortable(f"the reference {bad.reference.target[:80]!r} has no target in the schema")
    if not graph.is_resolved:
        raise SchemaNotPortable("its references have more than one meaning, or too many branches")


def _reference_texts(value: Any) -> Iterator[str]:
    """Whatever looks like a reference, in keywords that no vocabulary knows too."""
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, dict):
            yield from (found[key] for key in REFERENCES if isinstance(found.get(key), str))
            stack += [below for key, below in found.items() if key not in _DATA or isinstance(below, dict)]
        elif isinstance(found, list):
            stack += found


def _is_plain(link: Link, graph: SchemaGraph) -> bool:
    path = link.target.path
    is_stored = len(path) == 2 and path[0] == "$defs" and link.reference.target == f"#/$defs/{path[1]}"
    return is_stored and link.reference.keyword == "$ref" and link.target.resource is graph.root.resource


def _keeps(key: str, value: Any) -> bool:
    """What says something of a value. A structure in a keyword that no vocabulary knows may refer to what is gone."""
    if key in _ADDRESSES or key in REFERENCES or key in STORED_MAP:
        return False
    return key in _ANNOTATIONS or not isinstance(value, dict | list)


def _wished_name(node: Node) -> str:
    anchor = node.schema.get("$anchor") or node.schema.get("$dynamicAnchor")
    name = str(node.path[-1]) if node.path else "root"
    wished = anchor if isinstance(anchor, str) and (not node.path or node.path[-2:-1] != ("$defs",)) else name
    return wished if _NAME.fullmatch(wished) else ""
