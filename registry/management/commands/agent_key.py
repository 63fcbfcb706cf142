"""`manage.py agent_key`: keys for agent runtimes (CONTRACT 4)."""

from __future__ import annotations

from typing import Any

from registry import keys
from registry.management.verbs import VerbCommand, at_terminal
from registry.models import AgentKey
from registry.terminal.text import printable


class Command(VerbCommand):
    help = "Create, list and revoke the keys of agent runtimes."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "create", self.create, "Make a key and print it, this once.")
        parser.add_argument("name")
        parser.add_argument("--scopes", default=",".join(keys.DEFAULT_SCOPES), help=f"out of {','.join(keys.SCOPES)}")
        parser.add_argument("--groups", default=None, help="a,b: it knows capabilities of these skill groups alone")
        parser.add_argument("--read-only-tools", action="store_true", help="it is given no tool that writes")
        parser.add_argument("--preview", action="store_true", help="it sees drafts as if they were published")
        self.verb(verbs, "list", self.list, "List all keys; the keys themselves are not kept.")
        parser = self.verb(verbs, "revoke", self.revoke, "End a key.")
        parser.add_argument("name")

    def create(self, options: dict[str, Any]) -> int:
        scopes = [scope.strip() for scope in options["scopes"].split(",") if scope.strip()]
        groups = options["groups"]
        row, key = keys.create_key(
            name=options["name"],
            by=at_terminal(),
            scopes=scopes,
            groups=[group.strip() for group in groups.split(",") if group.strip()] if groups is not None else None,
            read_only_tools=options["read_only_tools"],
            preview=options["preview"],
        )
        if options["format"] == "json":
            self.document({"name": row.name, "scopes": row.scopes, "key": key})
        else:
            self.line(key)
        return 0

    def list(self, options: dict[str, Any]) -> int:
        rows = [_row(key) for key in AgentKey.objects.all()]
        if options["format"] == "json":
            self.document({"keys": rows})
            return 0
        for row in rows:
            state = "revoked" if row["revoked_at"] else f"last used {row['last_used_at'] or 'never'}"
            self.line(f"{printable(row['name'])}  {row['hint']}…  {','.join(row['scopes'])}{_limits(row)}  {state}")
        return 0

    def revoke(self, options: dict[str, Any]) -> int:
        row = keys.revoke_key(name=options["name"], by=at_terminal())
        if options["format"] == "json":
            self.document({"name": row.name, "revoked_at": row.revoked_at.isoformat() if row.revoked_at else None})
        else:
            self.line(f"{printable(row.name)}: revoked")
        return 0


def _row(key: AgentKey) -> dict[str, Any]:
    return {
        "name": key.name,
        "hint": key.hint,
        "scopes": key.scopes,
        "groups": key.groups,
        "read_only_tools": key.read_only_tools,
        "preview": key.preview,
        "created_at": key.created_at.isoformat(timespec="seconds"),
        "last_used_at": key.last_used_at.isoformat(timespec="seconds") if key.last_used_at else None,
        "revoked_at": key.revoked_at.isoformat(timespec="seconds") if key.revoked_at else None,
    }


def _limits(row: dict[str, Any]) -> str:
    words = [f"groups {','.join(row['groups'])}"] if row["groups"] else []
    words += [word for word, name in (("no write tools", "read_only_tools"), ("preview", "preview")) if row[name]]
    return f"  {'; '.join(words)}" if words else ""
