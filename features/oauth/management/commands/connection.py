"""`manage.py connection`: the assistants that act for members (docs/contract.md 3.5)."""

from __future__ import annotations

from typing import Any

from features.oauth import connections
from features.oauth.models import Connection
from registry.cli.command import SubcommandBase, format_moment, terminal_actor


class Command(SubcommandBase):
    help = "List the connections of assistants, and end them."

    def add_verbs(self, verbs: Any) -> None:
        self.verb(verbs, "list", self.list, "List the connections in force, the newest first.")
        parser = self.verb(verbs, "end", self.end, "End a connection: its next call is refused.")
        parser.add_argument("id", type=int)

    def list(self, options: dict[str, Any]) -> int:
        rows = [_row(one) for one in connections.list_connections()]
        return self.tell({"connections": rows}, map("{id}  {member}  {via}  {scopes}".format_map, rows), options)

    def end(self, options: dict[str, Any]) -> int:
        row = connections.end_connection(key=options["id"], operator=None, by=terminal_actor())
        return self.tell(_row(row), f"{row.operator} · {row.via}: ended", options)


def _row(row: Connection) -> dict[str, Any]:
    return {
        "id": row.pk,
        "member": row.operator.get_username(),
        "via": row.via,
        "client": row.client.client_id,
        "scopes": ",".join(row.scopes),
        "created_at": format_moment(row.created_at),
        "last_used_at": format_moment(row.last_used_at),
    }
