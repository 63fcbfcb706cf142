"""What an import mapped, kept elsewhere or left out, as findings with their place in SKILL.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from registry.bundles.finding import Finding
from registry.bundles.json_locations import build_pointer
from registry.bundles.text import Lines
from registry.validation.codes import severity_by_code


@dataclass
class LossReport:
    """Collects findings about one file. `key_offsets` says where each key of the front matter is in `text`."""

    file: str
    text: str = ""
    key_offsets: Mapping[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, code: str, message: str, hint: str = "", *, key: str = "", below: str = "") -> None:
        """Note one; `key` is a key of the front matter and `below` one inside of its value."""
        line, column = Lines(self.text).place(self.key_offsets.get(key, 0))
        pointer = build_pointer(tuple(step[:200] for step in (key, below) if step))
        self.findings.append(Finding(code, severity_by_code()[code], self.file, pointer, line, column, message, hint))

    def add_file(self, code: str, name: str, message: str, hint: str = "") -> None:
        """Note one about another file, which has no place."""
        self.findings.append(Finding(code, severity_by_code()[code], name[:200], "", None, None, message, hint))
