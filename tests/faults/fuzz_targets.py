"""What is fuzzed: each target takes any bytes, gives them to one reader, and asserts what that reader promises.

A target fails with an exception; everything that a reader refuses in its own words is fine. The same functions replay
what was found before (`capability_rules/tests/bundles/test_fuzz_inputs.py`).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from capability_kit.bundles.front_matter import normalize_skill_text, read_front_matter, split_front_matter
from capability_rules.agent_skills.importer import import_skill
from capability_rules.bundles.archives import read_members, write_tar_gz, write_zip
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.bundles.json_locations import locate_pointers
from capability_rules.bundles.json_reader import read_json
from capability_rules.bundles.markdown_outline import parse_outline
from capability_rules.bundles.text import decode_text
from capability_rules.errors import RegistryError
from capability_rules.validation import Finding, Report, pipeline, validate_bundle
from tests.cases import read_cases, valid_bundle, valid_names
from tests.servers import ROOT

Target = Callable[[bytes], None]
# Loaded with this module, so that a tracer that instruments imports sees the checks too.
_CHECKS: Final = pipeline
# A bundle of which one file at a time is replaced: it has tools and forms.
BASE: Final = valid_bundle("with_tools")


def fuzz_json(data: bytes) -> None:
    """The strict reader agrees with the standard one, or says why not and where."""
    text, fault = decode_text(data)
    if fault is not None:
        return
    parsed = read_json(text)
    assert parsed.readable or parsed.faults
    for error in parsed.faults:
        assert 0 <= error.offset <= len(text)
        assert error.message
        assert error.hint
    if parsed.readable and not parsed.faults:
        assert json.loads(text) == parsed.value
        assert locate_pointers(text, [()])[()].start >= 0


def fuzz_front_matter(data: bytes) -> None:
    """What was read is plain data, with its places inside of the text."""
    text = "---\n" + data.decode("utf-8", "replace")
    found = split_front_matter(text)
    json.dumps(found.values)
    assert 0 <= found.body_offset <= len(text)
    assert all(0 <= offset <= len(text) for offset in found.places.values())
    for error in found.faults:
        assert error.message
    lenient = read_front_matter(normalize_skill_text(text))
    json.dumps(lenient.values)
    assert all(0 <= remark.offset <= len(text) for remark in lenient.remarks)


def fuzz_outline(data: bytes) -> None:
    """Headings are in the order of the text, inside of it."""
    text = data.decode("utf-8", "replace")
    lines = [heading.line for heading in parse_outline(text).headings]
    assert lines == sorted(lines)
    assert all(1 <= line <= text.count("\n") + text.count("\r") + 2 for line in lines)


def fuzz_archive(data: bytes) -> None:
    """No name leads elsewhere, and no entry is longer than was asked for."""
    try:
        members = read_members(data, "upload")
    except RegistryError:
        return
    for name, read in members.items():
        assert not name.startswith("/")
        assert ".." not in name.split("/")
        try:
            content = read(100_000)
        except RegistryError:
            continue
        assert len(content) <= 100_000


def fuzz_tools(data: bytes) -> None:
    """`tools.json` of a bundle that is sound otherwise."""
    _validate({"tools.json": data})


def fuzz_forms(data: bytes) -> None:
    """`ui_schemas.json` of a bundle that is sound otherwise."""
    _validate({"ui_schemas.json": data})


def fuzz_capability(data: bytes) -> None:
    """`capability.json` of a bundle that is sound otherwise."""
    _validate({"capability.json": data})


def fuzz_skill(data: bytes) -> None:
    """A SKILL.md of the Agent Skills format becomes a bundle that can be validated, or losses say why not."""
    imported = import_skill(SourceBundle("skill", {"SKILL.md": data}, "skill"))
    assert imported.files is not None or imported.findings
    for finding in imported.findings:
        assert finding.message
    if imported.files is not None:
        _check(validate_bundle(imported.files).findings)


def _validate(replaced: Mapping[str, bytes]) -> None:
    """By itself, which is fifty times as fast for junk; what is sound by itself, within a whole bundle too."""
    report = _checked(replaced)
    if all(finding.code == "FILE_MISSING" for finding in report.errors):
        _checked({**BASE, **replaced})


def _checked(files: Mapping[str, bytes | str]) -> Report:
    report = validate_bundle(files)
    _check(report.findings)
    for finding in report.findings:
        if finding.line is not None and finding.file in report.files:
            assert 1 <= finding.line <= report.files[finding.file].count("\n") + 1, finding
    return report


def _check(findings: tuple[Finding, ...]) -> None:
    """A check that did not understand its input is a defect; one that ran out of time is not, under a tracer."""
    for finding in findings:
        assert finding.code != "CHECK_FAILED", finding


TARGETS: Final[Mapping[str, Target]] = {
    "json": fuzz_json,
    "front_matter": fuzz_front_matter,
    "outline": fuzz_outline,
    "archive": fuzz_archive,
    "tools": fuzz_tools,
    "forms": fuzz_forms,
    "capability": fuzz_capability,
    "skill": fuzz_skill,
}


def seeds(name: str) -> Iterator[bytes]:
    """Inputs to begin with: the examples of `schemas/`, so that what is tried gets past the first character."""
    bundles = [*map(valid_bundle, valid_names()), *(case.files for case in read_cases())]
    if name == "archive":
        for files in bundles[:4]:
            content = {file: _bytes(text)[:2000] for file, text in files.items()}
            yield from (write_zip(content), write_zip(content, compress=False), write_tar_gz(content))
        return
    file = {"tools": "tools.json", "forms": "ui_schemas.json", "capability": "capability.json"}.get(name)
    files_of = ["skill.md"] if name in ("front_matter", "outline", "skill") else [file] if file else _JSON
    for files in bundles:
        yield from (_bytes(files[one]) for one in files_of if one in files)


def kept_inputs(name: str) -> list[bytes]:
    """What fuzzing has found before: inputs that reach code which smaller ones do not, and those that once failed."""
    encoded: list[str] = json.loads((ROOT / "tests" / "data" / "fuzz" / f"{name}.json").read_text("utf-8"))
    return [base64.b64decode(one) for one in encoded]


_JSON: Final = ["capability.json", "tools.json", "ui_schemas.json"]


def _bytes(text: bytes | str) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
