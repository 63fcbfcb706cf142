"""What `capability-lint` checks: every bundle and Agent Skill that it finds, as a registry would import it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from capability_rules.agent_skills.importer import ImportedSkill, import_skill
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.bundles.finding import sort_findings
from capability_rules.bundles.finding_fingerprints import hold, mark_doubts
from capability_rules.bundles.needed_skills import get_needed_skills
from capability_rules.discovery.bundle_discovery import discover_bundles
from capability_rules.errors import SourceUnreadable
from capability_rules.lint.changed_paths import list_changed_paths
from capability_rules.validation.bundle_set import ValidationResult, validate_set
from capability_rules.validation.needs import find_need_findings
from capability_rules.validation.report import Report


@dataclass(frozen=True)
class LintResult:
    """`checked` in the order of their paths; `unreadable` are arguments that could not be read at all."""

    checked: tuple[ValidationResult, ...]
    unreadable: tuple[SourceUnreadable, ...] = ()


def lint_paths(paths: Sequence[str], *, changed_since: str = "") -> LintResult:
    """Check all that is found at the paths: against each other, and against nothing that is published.

    With a git revision only what has changed since this branch left it is reported; what it meets of the others (an id
    or the name of a tool that is taken) is found as well. Raises `SourceUnreadable` where git cannot say.
    """
    sources: list[SourceBundle] = []
    unreadable: list[SourceUnreadable] = []
    for path in paths:
        try:
            sources += discover_bundles(path)
        except SourceUnreadable as error:
            error.extra["path"] = path
            unreadable.append(error)
    reported = {source.path for source in sources}
    if changed_since:
        reported = {source.path for source in _changed(sources, paths, changed_since)}
        # Where nothing of one argument is a bundle any more, nothing of it can be reported.
        unreadable = [error for error in unreadable if not Path(error.extra["path"]).is_dir()]
    # What is there already comes first: of two that meet, the one that is new has the finding.
    ordered = sorted(sources, key=lambda source: source.path in reported)
    taken = [import_skill(source) for source in ordered]
    checked = [entry for entry in _check(taken) if entry.path in reported]
    return LintResult(tuple(sorted(checked, key=lambda entry: entry.path)), tuple(unreadable))


def _changed(sources: Sequence[SourceBundle], paths: Sequence[str], revision: str) -> list[SourceBundle]:
    """The sources with a file that differs: the one whose folder is the nearest above the file.

    What git keeps as a repository of its own says nothing of its files: all sources in it are among them.
    """
    places = {Path(source.path).resolve(): source for source in sources}
    found: dict[str, SourceBundle] = {}
    changed_paths = list_changed_paths({_folder_of(Path(path)) for path in paths}, revision)
    for changed in changed_paths:
        owner = next((place for place in (changed, *changed.parents) if place in places), None)
        if owner is not None:
            found[places[owner].path] = places[owner]
    for place, source in places.items():
        if not changed_paths.isdisjoint(place.parents):
            found[source.path] = source
    return list(found.values())


def _folder_of(path: Path) -> Path:
    place = path.resolve()
    return place if place.is_dir() else place.parent


def _check(taken: Sequence[ImportedSkill]) -> Iterator[ValidationResult]:
    readable = [SourceBundle(entry.path, entry.files) for entry in taken if entry.files is not None]
    results = validate_set(readable)
    needed = {
        one.report.capability_id: get_needed_skills(one.report.bundle.capability)
        for one in results
        if one.report.bundle is not None
    }
    done = iter(results)
    for entry in taken:
        if entry.files is None:
            report = Report(dict(entry.shown), tuple(sort_findings([*entry.findings])), None, "")
            yield ValidationResult(entry.path, report)
            continue
        result = next(done)
        found = find_need_findings(
            result.report, is_loadable=needed.__contains__, needs_of=lambda skill: needed.get(skill, ())
        )
        doubts = filter(result.report.is_foreign_doubt, result.report.notes)
        found += [replace(one, severity="warning") for one in doubts]
        findings = sort_findings([*entry.findings, *result.report.findings, *found])
        files = {**entry.shown, **result.report.files}
        # Nobody has decided about a passage here.
        held = mark_doubts(findings, files, hold)
        yield replace(result, report=replace(result.report, files=files, findings=held))
