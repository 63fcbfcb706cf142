"""Supporting files that came, went or changed."""

from __future__ import annotations

from collections.abc import Iterator

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.semantic_diff.change import Change


def compare_supporting_files(old: SkillBundle, new: SkillBundle) -> Iterator[Change]:
    """Changes by path. A removed file breaks agents that know its path."""
    before, after = old.supporting_files, new.supporting_files
    for path in sorted(after.keys() - before.keys()):
        yield Change("changes", "", f"The file `{path}` is new", (), path)
    for path in sorted(before.keys() - after.keys()):
        yield Change("breaks", "", f"The file `{path}` is gone", None, path)
    for path in sorted(before.keys() & after.keys()):
        if before[path] != after[path]:
            yield Change("changes", "", f"The file `{path}` changed", (), path)
