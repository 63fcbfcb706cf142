"""`manage.py set`: sets of capabilities and their plugins (docs/contract.md 6.1)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.conf import settings

from capability_rules.errors import InvalidRequest
from features.sets import plugins, set_store
from features.sets.api import describe_row
from features.sets.clients import render_table
from features.sets.plugin_forms import FORMS
from features.sets.plugins import PluginAddress
from features.sets.set_reader import resolve_set, store_set
from registry import snapshot
from registry.cli.command import SubcommandBase, terminal_actor
from registry.snapshot import PUBLIC

_BYTES_MAX = 1024 * 1024


class Command(SubcommandBase):
    help = "Sets: capabilities that are installed as one, and their plugins."

    def add_verbs(self, verbs: Any) -> None:
        self.verb(verbs, "list", self.list, "List all sets.")
        self.verb(verbs, "show", self.show, "Print the document of a set, as save takes it.", "id")
        parser = self.verb(verbs, "save", self.save, "Make a set or change it, by its document.")
        parser.add_argument("file", metavar="FILE", help="the document as JSON; - is stdin")
        parser.add_argument("--team", default=None, metavar="NAME", help="the team it belongs to; an empty name: none")
        parser.add_argument("--expected-revision", type=int, metavar="N", help="refuse where it has another one")
        self.verb(verbs, "delete", self.delete, "End a set; its capabilities stay.", "id")
        parser = self.verb(
            verbs, "plugin", self.plugin, "Write a plugin of the set, as readers without a key get it.", "id"
        )
        parser.add_argument("--form", required=True, choices=list(FORMS), help="of which client")
        parser.add_argument("--to", required=True, type=Path, metavar="FILE", help="the zip that is written")
        self.verb(verbs, "clients", self.clients, "Print how clients connect, as the table of README.md.")

    def list(self, options: dict[str, Any]) -> int:
        found = [describe_row(row) for row in set_store.query_sets()]
        lines = [
            f"{row['set']['set_id']}  revision {row['revision']}  {len(row['set']['members'])} members" for row in found
        ]
        return self.tell({"sets": found}, lines or "There are no sets", options)

    def show(self, options: dict[str, Any]) -> int:
        row = describe_row(set_store.get_set(options["id"]))
        return self.tell(row, json.dumps(row["set"], indent=2).splitlines(), options)

    def save(self, options: dict[str, Any]) -> int:
        row = set_store.save_set(
            _read(options["file"]),
            by=terminal_actor(),
            expected_revision=options["expected_revision"],
            team=options["team"],
        )
        return self.tell(describe_row(row), f"{row.set_id}: revision {row.revision}", options)

    def delete(self, options: dict[str, Any]) -> int:
        row = set_store.delete_set(set_id=options["id"], by=terminal_actor())
        return self.tell(describe_row(row), f"{row.set_id}: deleted", options)

    def plugin(self, options: dict[str, Any]) -> int:
        held = snapshot.current_snapshot()
        found = resolve_set(held, PUBLIC, store_set(set_store.get_set(options["id"])))
        address = PluginAddress(settings.PUBLIC_URL or f"http://127.0.0.1:{settings.PORT}", needs_key=True)
        plugin = plugins.load_plugin(held, found, options["form"], address)
        options["to"].write_bytes(plugin.rendered.identity)
        size = len(plugin.rendered.identity)
        row = {"set_id": found.set_id, "version": found.version, "sha256": plugin.sha256, "size": size}
        return self.tell(row, f"{options['to']}: version {found.version}, sha256 {plugin.sha256}", options)

    def clients(self, options: dict[str, Any]) -> int:
        table = render_table()
        return self.tell({"table": table}, table.splitlines(), options)


def _read(name: str) -> dict[str, Any]:
    raw = sys.stdin.buffer.read(_BYTES_MAX + 1) if name == "-" else Path(name).read_bytes()[: _BYTES_MAX + 1]
    if len(raw) > _BYTES_MAX:
        raise InvalidRequest("The document of a set has at most 1 MiB")
    try:
        values = json.loads(raw)
    except ValueError as error:
        raise InvalidRequest(f"{name} is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise InvalidRequest(f"{name} is not an object with set_id, name, description and members")
    return values
