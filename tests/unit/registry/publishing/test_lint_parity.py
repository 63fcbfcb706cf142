"""`capability-lint` finds what an import into an empty registry finds (docs/contract.md 5.1), on what is committed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from capability_rules.agent_skills.exporter import export_skill_files
from capability_rules.bundles.finding import Finding
from capability_rules.discovery.bundle_discovery import discover_bundles
from capability_rules.lint.checks import lint_paths
from capability_rules.validation import validate_bundle
from registry.publishing import batch
from tests.cases import read_cases, valid_bundle, valid_names
from tests.factories import OLGA
from tests.servers import ROOT
from tests.sweeps import check_each

pytestmark = pytest.mark.django_db

Files = Mapping[str, bytes | str]
_SKILLS: Final = sorted((ROOT / "bench" / "security_cases").glob("skills_*.jsonl"))
# Of 854 skills, half of them hostile: all of them take a minute.
_EVERY: Final = 40


def _examples() -> Iterator[tuple[str, Files]]:
    for folder in sorted(path for path in (ROOT / "examples").iterdir() if path.is_dir()):
        files = {
            str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
        }
        yield folder.name, files
        bundle = validate_bundle({name: text.decode() for name, text in files.items()}).bundle
        assert bundle is not None
        yield f"{folder.name}, as a skill", export_skill_files(bundle)


def _schema_examples() -> Iterator[tuple[str, Files]]:
    yield from ((name, valid_bundle(name)) for name in valid_names())
    yield from ((f"invalid/{case.name}", case.files) for case in read_cases())


def _skills(every: int) -> Iterator[tuple[str, Files]]:
    for path in _SKILLS:
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            if number % every == 0:
                yield f"{path.stem}:{number + 1}", {"SKILL.md": json.loads(line)["skill_md"]}


def _write(folder: Path, files: Files) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))


def _facts(findings: Iterable[Finding]) -> list[tuple[object, ...]]:
    return sorted(
        (one.code, one.severity, one.file, one.pointer, one.line or 0, one.message, bool(one.held)) for one in findings
    )


def _check_all(bundles: Iterable[tuple[str, Files]], folder: Path) -> None:
    given = dict(bundles)
    assert len(given) > 10

    def check(name: str) -> None:
        place = folder / f"case-{sorted(given).index(name)}" / "bundle"
        _write(place, given[name])
        (found,) = lint_paths([str(place)]).checked
        (imported,) = batch.import_all(discover_bundles(str(place)), by=OLGA, mode="draft", dry_run=True)
        assert _facts(found.report.findings) == _facts(imported.findings)

    check_each(sorted(given), check)


def test_examples_have_the_findings_of_an_import(tmp_path: Path) -> None:
    _check_all(_examples(), tmp_path)


@pytest.mark.slow
def test_cases_of_findings_have_the_findings_of_an_import(tmp_path: Path) -> None:
    _check_all(_schema_examples(), tmp_path)


def test_skills_of_others_have_the_findings_of_an_import(tmp_path: Path) -> None:
    _check_all(_skills(_EVERY), tmp_path)


@pytest.mark.rare
def test_all_skills_of_others_have_the_findings_of_an_import(tmp_path: Path) -> None:
    _check_all(_skills(1), tmp_path)
