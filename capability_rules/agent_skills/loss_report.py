"""What an import mapped, kept elsewhere or left out, as findings with their place in SKILL.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from capability_kit.bundles.front_matter_remarks import Remark, RemarkKind
from capability_kit.bundles.skill_mapping import MappingNote
from capability_kit.bundles.yaml_tree import Path
from capability_rules.bundles.finding import Finding
from capability_rules.bundles.json_locations import build_pointer
from capability_rules.bundles.text import Lines
from capability_rules.validation.codes import severity_by_code

_CODE_OF: Final[Mapping[RemarkKind, str]] = {
    "rescued": "IMPORT_YAML_RESCUED",
    "lost_key": "IMPORT_KEY_LOST",
    "dropped": "IMPORT_YAML_DROPPED",
    "odd": "IMPORT_FORM_ODD",
}


@dataclass
class LossReport:
    """Collects findings about one file. `places` says where each key of the front matter is in `text`."""

    file: str
    text: str = ""
    places: Mapping[Path, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, code: str, message: str, hint: str = "", *, path: Path = (), offset: int | None = None) -> None:
        """Note one; `path` are the keys of the front matter that lead to it, of which the last with a place counts,
        unless `offset` says where in the text it is."""
        at = self._offset_of(path) if offset is None else offset
        line, column = Lines(self.text).place(at)
        pointer = build_pointer(tuple(step[:200] for step in path))
        self.findings.append(Finding(code, severity_by_code()[code], self.file, pointer, line, column, message, hint))

    def add_remarks(self, remarks: Iterable[Remark]) -> None:
        """What the reader of the front matter has to tell."""
        for one in remarks:
            self.add(_CODE_OF[one.kind], one.message, one.hint, path=one.path, offset=one.offset)

    def add_notes(self, notes: Iterable[MappingNote]) -> None:
        for one in notes:
            self.add(one.code, one.message, one.hint, path=one.path)

    def add_file(self, code: str, name: str, message: str, hint: str = "") -> None:
        """Note one about another file, which has no place."""
        self.findings.append(Finding(code, severity_by_code()[code], name[:200], "", None, None, message, hint))

    def _offset_of(self, path: Path) -> int:
        found = (self.places[path[:depth]] for depth in range(len(path), 0, -1) if path[:depth] in self.places)
        return next(found, 0)
