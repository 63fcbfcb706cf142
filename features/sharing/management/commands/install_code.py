"""`manage.py install_code`: codes by which keys see what is not listed (docs/agent-keys.md)."""

from __future__ import annotations

from typing import Any

from features.sharing import install_codes
from registry.cli.command import SubcommandBase, format_moment, pick
from registry.core.queries import get_capability
from registry.models import Capability


class Command(SubcommandBase):
    help = "Show and rotate install codes."

    def add_verbs(self, verbs: Any) -> None:
        parser = self.verb(verbs, "show", self.show, "Print a capability's code.", "capability_id")
        parser.add_argument("--redemptions", action="store_true", help="who has redeemed it, and when")
        words = "Make another code; who redeemed the old one sees it still."
        parser = self.verb(verbs, "rotate", self.rotate, words, "capability_id")
        parser.add_argument("--note", default="")

    def show(self, options: dict[str, Any]) -> int:
        return self._tell(get_capability(options["capability_id"]), options, with_redemptions=options["redemptions"])

    def rotate(self, options: dict[str, Any]) -> int:
        return self._tell(install_codes.rotate_code(**pick(options, "capability_id", "note")), options)

    def _tell(self, capability: Capability, options: dict[str, Any], *, with_redemptions: bool = False) -> int:
        found = install_codes.list_redemptions(capability)
        rows = [{"key": row.key.name, "at": format_moment(row.at)} for row in found]
        row = {key: getattr(capability, key) for key in ("capability_id", "install_code", "visibility")}
        lines = ["{at}  {key}".format_map(each) for each in rows if with_redemptions]
        return self.tell({**row, "redemptions": rows}, [capability.install_code, *lines], options)
