"""`manage.py install_code`: codes by which keys see what is not listed (docs/agent-keys.md)."""

from __future__ import annotations

from typing import Any

from registry.access import install_codes
from registry.cli.command import SubcommandBase, is_terminal
from registry.cli.text_output import escape_controls
from registry.core.queries import get_capability
from registry.models import Capability


class Command(SubcommandBase):
    help = "Show and rotate install codes."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "show", self.show, "Print a capability's code.")
        parser.add_argument("capability_id", metavar="ID")
        parser.add_argument("--redemptions", action="store_true", help="who has redeemed it, and when")
        parser = self.verb(verbs, "rotate", self.rotate, "Make another code; who redeemed the old one sees it still.")
        parser.add_argument("capability_id", metavar="ID")
        parser.add_argument("--note", default="")

    def show(self, options: dict[str, Any]) -> int:
        return self._tell(get_capability(options["capability_id"]), options, with_redemptions=options["redemptions"])

    def rotate(self, options: dict[str, Any]) -> int:
        capability = install_codes.rotate_code(
            capability_id=options["capability_id"], by=is_terminal(), note=options["note"]
        )
        return self._tell(capability, options)

    def _tell(self, capability: Capability, options: dict[str, Any], *, with_redemptions: bool = False) -> int:
        found = install_codes.list_redemptions(capability)
        rows = [{"key": row.key.name, "at": row.at.isoformat(timespec="seconds")} for row in found]
        if options["format"] == "json":
            known = {"capability_id": capability.capability_id, "install_code": capability.install_code}
            self.document({**known, "visibility": capability.visibility, "redemptions": rows})
            return 0
        self.line(capability.install_code)
        for row in rows if with_redemptions else []:
            self.line(escape_controls(f"{row['at']}  {row['key']}"))
        return 0
