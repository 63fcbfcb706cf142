"""Many bundles in one call: what command line and operator API do with what they were given (CONTRACT 5).

Bundles go one by one; one that is refused never stops the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from registry import drafts, publishing
from registry.actors import Actor
from registry.agent_skills.taking import Taken, take
from registry.errors import InvalidRequest
from registry.imports.sources import SourceBundle
from registry.queries import published_names
from registry.releases.gate import GateReport
from registry.validation import Finding, Published, Report, validate
from registry.validation.findings import in_order
from registry.validation.json_places import locate
from registry.validation.texts import Lines

Mode = Literal["draft", "publish"]
# What a draft could not keep, or would take the place of another bundle of the same call.
_UNSTORABLE: Final = drafts.UNSTORABLE | {"CAPABILITY_ID_DUPLICATE"}


@dataclass(frozen=True)
class Validated:
    """One bundle of a call, and what was found."""

    path: str
    report: Report

    def as_dict(self) -> dict[str, Any]:
        """One entry of `{"bundles": [...]}`."""
        report = self.report
        findings = [finding.as_dict() for finding in report.findings]
        return {"path": self.path, "capability_id": report.capability_id or None, "ok": report.ok, "findings": findings}


@dataclass(frozen=True)
class Result:
    """What became of one bundle."""

    path: str
    capability_id: str
    status: publishing.Status
    revision: int | None
    digest: str | None
    findings: tuple[Finding, ...]
    files: dict[str, str]
    gate: GateReport | None = None

    def as_dict(self) -> dict[str, Any]:
        """One entry of `{"results": [...]}`."""
        return {
            "path": self.path,
            "capability_id": self.capability_id or None,
            "status": self.status,
            "revision": self.revision,
            "digest": self.digest,
            "findings": [finding.as_dict() for finding in self.findings],
        }


def validate_all(sources: Iterable[SourceBundle]) -> list[Validated]:
    """Check each bundle against what is published and against the ones before it in this call."""
    published = published_names()
    seen: dict[str, str] = {}
    checked = []
    for source in sources:
        report = _with_duplicate_id(validate(source.files, published=published), source.path, seen)
        published = _as_if_published(published, report)
        checked.append(Validated(source.path, report))
    return checked


def _with_duplicate_id(report: Report, path: str, seen: dict[str, str]) -> Report:
    """The second of two bundles with one id is the one at fault; `seen` maps the ids so far to their paths."""
    if not report.capability_id or report.capability_id not in seen:
        seen[report.capability_id] = path
        return report
    other_path = seen[report.capability_id]
    message = f"capability_id '{report.capability_id}' stands in {other_path} too"
    text = report.files["capability.json"]
    line, column = Lines(text).place(locate(text, [("capability_id",)])[("capability_id",)].start)
    finding = Finding(
        *("CAPABILITY_ID_DUPLICATE", "error", "capability.json", "/capability_id", line, column),
        *(message, "Give one of the two another id."),
    )
    return replace(report, findings=in_order([*report.findings, finding]))


def _as_if_published(published: Published, report: Report) -> Published:
    if report.bundle is None or not report.capability_id:
        return published
    owners = {name: owner for name, owner in published.tool_owners.items() if owner != report.capability_id}
    for tool in report.bundle.tools:
        name = tool.get("name") if isinstance(tool, dict) else None
        if isinstance(name, str):
            owners.setdefault(name, report.capability_id)
    return Published(owners, published.capability_ids | {report.capability_id})


def publish_all(
    sources: Iterable[SourceBundle],
    *,
    by: Actor,
    note: str = "",
    acknowledge: Collection[str] = (),
    dry_run: bool = False,
) -> list[Result]:
    """Publish each bundle in turn; what validating the whole call shows as an error is refused."""
    taken = [Taken(source.path, source.files) for source in sources]
    return _publish_all(taken, by=by, note=note, acknowledge=acknowledge, dry_run=dry_run)


def _publish_all(
    taken: Iterable[Taken], *, by: Actor, note: str, acknowledge: Collection[str], dry_run: bool
) -> list[Result]:
    readable = [SourceBundle(entry.path, entry.files) for entry in taken if entry.files is not None]
    if dry_run:
        checked = validate_all(readable)
        foreseen = [publishing.foresee(entry.report, acknowledge, by=by, note=note) for entry in checked]
        return [result_of(outcome, entry.path) for outcome, entry in zip(foreseen, checked, strict=True)]
    results = []
    seen: dict[str, str] = {}
    for entry in readable:
        report = _with_duplicate_id(validate(entry.files, published=published_names()), entry.path, seen)
        outcome = publishing.publish_checked(report, by=by, note=note, acknowledge=acknowledge)
        results.append(result_of(outcome, entry.path))
    return results


def result_of(outcome: publishing.Outcome, path: str) -> Result:
    """A verb's outcome as a line of an answer."""
    files = dict(outcome.gate.report.files) if outcome.gate else {}
    return Result(
        path,
        outcome.capability_id,
        outcome.status,
        outcome.revision,
        outcome.digest,
        outcome.findings,
        files,
        outcome.gate,
    )


def import_all(
    sources: Iterable[SourceBundle],
    *,
    by: Actor,
    mode: Mode,
    note: str = "",
    acknowledge: Collection[str] = (),
    dry_run: bool = False,
    over: Mapping[str, int] | None = None,
) -> list[Result]:
    """Take each bundle or Agent Skill in, as a draft (whatever its faults) or published.

    `over` names, by id, versions of drafts that may be written over rather than put away.

    What an Agent Skill lost on the way is among its findings; one that cannot be read is refused with the cause. A dry
    run says `draft` and stores none.
    """
    taken = [take(source) for source in sources]
    if mode == "publish":
        done = iter(_publish_all(taken, by=by, note=note, acknowledge=acknowledge, dry_run=dry_run))
    else:
        done = _import_drafts(taken, by=by, note=note, dry_run=dry_run, over=over or {})
    return [_unreadable(entry) if entry.files is None else _with_losses(next(done), entry) for entry in taken]


def _unreadable(taken: Taken) -> Result:
    return Result(taken.path, "", "refused", None, None, in_order([*taken.findings]), dict(taken.shown))


def _with_losses(result: Result, taken: Taken) -> Result:
    findings = in_order([*taken.findings, *result.findings])
    return replace(result, findings=findings, files={**taken.shown, **result.files})


def _import_drafts(
    taken: Iterable[Taken], *, by: Actor, note: str, dry_run: bool, over: Mapping[str, int]
) -> Iterator[Result]:
    seen: dict[str, str] = {}
    for entry in taken:
        if entry.files is not None:
            report = _with_duplicate_id(validate(entry.files, published=published_names()), entry.path, seen)
            yield _import_draft(
                entry.path, report, by=by, note=note, dry_run=dry_run, over=over.get(report.capability_id)
            )


def _import_draft(path: str, report: Report, *, by: Actor, note: str, dry_run: bool, over: int | None) -> Result:
    """A draft needs an id to live under, and texts that can be stored; everything else can be mended in the Studio."""
    refused = Result(path, report.capability_id, "refused", None, None, report.findings, dict(report.files))
    if not report.capability_id or any(finding.code in _UNSTORABLE for finding in report.errors):
        return refused
    try:
        drafts.replace_draft(
            capability_id=report.capability_id, files=report.files, by=by, note=note, dry_run=dry_run, over=over
        )  # fmt: skip
    except InvalidRequest:
        return refused
    return replace(refused, status="draft")
