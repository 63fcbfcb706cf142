"""`manage.py skill_group`: what several capabilities have in common (docs/contract.md 5)."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from capability_rules.errors import InvalidRequest
from registry.cli.command import SubcommandBase, pick, terminal_actor
from registry.matching import skill_groups


class Command(SubcommandBase):
    help = "Describe and list skill groups."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "set", self.set, "Make a group, or change what is given of it.", "id")
        parser.add_argument("--name")
        parser.add_argument("--description")
        parser.add_argument(
            "--example", action="append", help="a sentence that should lead to the group; may be repeated"
        )
        parser.add_argument(
            "--exclusive",
            action=argparse.BooleanOptionalAction,
            default=None,
            help="a session keeps one of its capabilities active",
        )
        parser.add_argument("--team", help="the team that alone changes the group from then on; '' for every publisher")
        parser = self.verb(verbs, "import", self.import_file, "Make or change all groups of a YAML or JSON file.")
        parser.add_argument("file", type=Path)
        self.verb(verbs, "list", self.list, "List the groups and how many published capabilities each has.")

    def set(self, options: dict[str, Any]) -> int:
        group = skill_groups.set_group(
            group_id=options["id"],
            examples=options["example"],
            is_exclusive=options["exclusive"],
            **pick(options, "name", "description", "team"),
        )
        row = {key: getattr(group, key) for key in ("group_id", "name", "description", "examples")}
        return self.tell({**row, "exclusive": group.is_exclusive}, f"{group.group_id}: {group.name}", options)

    def import_file(self, options: dict[str, Any]) -> int:
        try:
            text = options["file"].read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidRequest(f"{options['file']}: {error}") from None
        ids = skill_groups.import_groups(text, by=terminal_actor())
        return self.tell({"groups": ids}, ids, options)

    def list(self, options: dict[str, Any]) -> int:
        rows = skill_groups.list_groups()
        return self.tell({"groups": [asdict(row) for row in rows]}, map(_line, rows), options)


def _line(row: skill_groups.GroupRow) -> str:
    marks = ["exclusive"] if row.is_exclusive else []
    marks += [] if row.is_described else ["not described"]
    marks += [] if row.members else ["orphan"]
    return "  ".join((row.group_id, row.name, f"{row.members} published", *marks))
