"""The verb of `manage.py bundle` that decides about held passages (docs/contract.md 5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from registry.cli.command import SubcommandBase, terminal_actor
from registry.publishing import held_passages


class DecisionVerbs(SubcommandBase):
    """The verb `accept`."""

    def add_decision_verbs(self, verbs: Any) -> None:
        words = "Decide that passages which the security checks doubt are fine."
        parser = self.verb(verbs, "accept", self.accept, words)
        parser.add_argument("capability_ids", nargs="+", metavar="ID", help="of the capability")
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--place", metavar="FILE:LINE", help="the passage at this place")
        which.add_argument("--all", action="store_true", help="every passage that waits")
        parser.add_argument("--reason", required=True, metavar="TEXT", help="why; it stays with the passage")

    def accept(self, options: dict[str, Any]) -> int:
        """Decide about the passages of each capability in turn; all of them have the one reason."""
        rows = [
            held_passages.describe_accepted(row)
            for capability_id in dict.fromkeys(options["capability_ids"])
            for row in held_passages.accept_passages(
                capability_id=capability_id, by=terminal_actor(), reason=options["reason"], place=options["place"] or ""
            )
        ]
        words = [f"{row['capability_id']}: {row['file']}:{row['line']} is fine: {row['reason']}" for row in rows]
        return self.tell({"accepted": rows}, words, options)


def describe_command(capability_ids: Iterable[str]) -> str:
    """The one command that decides about what these have held."""
    return f"bundle accept {' '.join(capability_ids)} --all --reason WHY"
