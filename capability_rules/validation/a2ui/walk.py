"""Going through parsed JSON without recursion, so that no nesting can hurt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from capability_kit.json_schema.validation import measure_depth
from capability_rules.bundles.problem import Path


@dataclass(frozen=True, slots=True)
class ComponentSite:
    """One object somewhere inside a value: where it is, and how many function calls contain it."""

    path: Path
    node: dict[str, Any]
    calls: int

    @property
    def is_call(self) -> bool:
        """A function call, as a2ui-core counts them: `{"functionCall": {..}}` and `{"call", "args"}` are one each."""
        return isinstance(self.node.get("functionCall"), dict) or ("call" in self.node and "args" in self.node)


def depth_of(value: object, most: int) -> int:
    """Count levels as a2ui-core does, the innermost values included: 1 for `5` or `[]`, 2 for `[5]`.

    Stops soon after `most`.
    """
    return measure_depth(value, most - 1) + 1


def iterate_sites(value: object, path: Path = ()) -> Iterator[ComponentSite]:
    """Yield every object in `value`, itself included, in the order of the document."""
    stack: list[tuple[object, Path, int]] = [(value, path, 0)]
    while stack:
        node, here, calls = stack.pop()
        if isinstance(node, dict):
            site = ComponentSite(here, node, calls)
            yield site
            inner_key = _calling_key(site)
            children = [
                (child, (*here, key), calls + (key == inner_key))
                for key, child in node.items()
                if isinstance(child, dict | list)
            ]
            stack.extend(reversed(children))
        elif isinstance(node, list):
            items = [(item, (*here, i), calls) for i, item in enumerate(node) if isinstance(item, dict | list)]
            stack.extend(reversed(items))


def _calling_key(site: ComponentSite) -> str | None:
    if isinstance(site.node.get("functionCall"), dict):
        return "functionCall"
    return "args" if site.is_call else None
