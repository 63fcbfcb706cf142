"""`manage.py credential`: secrets that are sent to others (docs/contract.md 3.3)."""

from __future__ import annotations

import sys
from typing import Any

from features.credentials import credential_store
from features.credentials.models import Credential
from registry.cli.command import SubcommandBase, format_moment, terminal_actor


class Command(SubcommandBase):
    help = "Keep, list and end credentials; a secret is read from stdin and never printed."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "create", self.create, "Keep a secret, which is read from stdin.", "name")
        parser.add_argument("--host", action="append", required=True, metavar="HOST", help="where it may be sent")
        parser.add_argument("--username", default="", metavar="NAME", help="where a host wants one beside the token")
        self.verb(verbs, "replace", self.replace, "Read another secret for it from stdin.", "name")
        words = "Let members import from its hosts with it, and so read what it reads."
        self.verb(verbs, "open", self.open, words, "name")
        self.verb(verbs, "close", self.close, "Leave imports with it to admins.", "name")
        self.verb(verbs, "list", self.list, "List all credentials, without their secrets.")
        self.verb(verbs, "end", self.end, "Forget its secret; what uses it stops.", "name")

    def create(self, options: dict[str, Any]) -> int:
        row = credential_store.create_credential(
            name=options["name"],
            hosts=options["host"],
            username=options["username"],
            secret=sys.stdin.readline(),
            by=terminal_actor(),
        )
        return self.tell(_row(row), f"{row.name}: kept for {', '.join(row.hosts)}", options)

    def replace(self, options: dict[str, Any]) -> int:
        row = credential_store.replace_secret(name=options["name"], secret=sys.stdin.readline(), by=terminal_actor())
        return self.tell(_row(row), f"{row.name}: has its new secret", options)

    def open(self, options: dict[str, Any]) -> int:
        return self._open_to_members(options, is_open=True)

    def close(self, options: dict[str, Any]) -> int:
        return self._open_to_members(options, is_open=False)

    def _open_to_members(self, options: dict[str, Any], *, is_open: bool) -> int:
        row = credential_store.open_to_members(name=options["name"], is_open=is_open, by=terminal_actor())
        words = "members import with it" if is_open else "admins alone import with it"
        return self.tell(_row(row), f"{row.name}: {words}", options)

    def list(self, options: dict[str, Any]) -> int:
        rows = [_row(row) for row in credential_store.list_credentials()]
        return self.tell({"credentials": rows}, map(_line, rows), options)

    def end(self, options: dict[str, Any]) -> int:
        row = credential_store.end_credential(name=options["name"], by=terminal_actor())
        return self.tell(_row(row), f"{row.name}: ended", options)


def _row(row: Credential) -> dict[str, Any]:
    times = {"created_at": row.created_at, "last_used_at": row.last_used_at, "ended_at": row.ended_at}
    shown = {name: format_moment(time) for name, time in times.items()}
    columns = ("name", "hosts", "username", "is_open")
    return {name: getattr(row, name) for name in columns} | {"used_for": row.last_used_for} | shown


def _line(row: dict[str, Any]) -> str:
    state = f"ended {row['ended_at']}" if row["ended_at"] else f"last used {row['last_used_at'] or 'never'}"
    opened = "  open to members" if row["is_open"] else ""
    return f"{row['name']}  {', '.join(row['hosts'])}  {state}{opened}"
