"""How importing real Agent Skills agrees with recorded verdicts, and how long it takes.

    python bench/agent_skills.py FOLDER

FOLDER holds folders with SKILL.md and `manifest.csv` with the columns `local_path`, `lenient_client` (load,
load_with_warning or skip) and `spec_text` (valid or invalid). Nothing is stored. Prints every disagreement.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
os.environ.setdefault("DATA_DIR", tempfile.mkdtemp())

from capability_rules.agent_skills.exporter import export_skill_files
from capability_rules.agent_skills.importer import ImportedSkill, import_skill, skill_file_name
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.discovery.bundle_discovery import discover_bundles
from capability_rules.validation import Report, validate_bundle

# A folder's other files say nothing of SKILL.md, and a profile is our own word.
_NO_FAULT = {"IMPORT_FILE_LEFT_OUT", "IMPORT_PROFILE_CHOSEN"}


def lenient(taken: ImportedSkill) -> str:
    """Our verdict in the words of a client."""
    if taken.files is None:
        return "skip"
    return "load_with_warning" if _faults(taken) else "load"


def strict_verdict(taken: ImportedSkill) -> str:
    """By the letter of the specification: whatever has to be forgiven is a fault."""
    return "invalid" if _faults(taken) else "valid"


def _faults(taken: ImportedSkill) -> set[str]:
    return {finding.code for finding in taken.findings} - _NO_FAULT


def read(folder: Path) -> dict[str, tuple[ImportedSkill, Report | None]]:
    """Each skill by the path of its file below the folder, as it is taken in, and what validation says of it."""
    found = {}
    for source in discover_bundles(str(folder)):
        taken = import_skill(source)
        name = f"{source.path}/{skill_file_name(source.files)}"
        report = validate_bundle(taken.files) if taken.files is not None else None
        found[str(Path(name).relative_to(folder))] = (taken, report)
    return found


def comes_back(entry: tuple[ImportedSkill, Report | None]) -> bool:
    """Whether the bundle as an Agent Skill is taken in as the same bundle, its texts included."""
    _, report = entry
    if report is None or report.bundle is None:
        return False
    again = import_skill(SourceBundle("", dict(export_skill_files(report.bundle))))
    other = validate_bundle(again.files or {}).bundle
    return other is not None and other.content_digest == report.bundle.content_digest


def main(folder: Path) -> int:
    rows = list(csv.DictReader((folder / "manifest.csv").open(encoding="utf-8")))
    started = time.perf_counter()
    found = read(folder)
    seconds = time.perf_counter() - started
    answered = [row for row in rows if row["local_path"] in found]
    table = Counter((row["lenient_client"], lenient(found[row["local_path"]][0])) for row in answered)
    print(f"{len(rows)} skills, {len(answered)} answered, {seconds / max(1, len(answered)) * 1000:.1f} ms each")
    for (recorded, ours), count in sorted(table.items()):
        print(f"  recorded {recorded:<18} ours {ours:<18} {count}")
    strict = Counter((row["spec_text"], strict_verdict(found[row["local_path"]][0])) for row in answered)
    print("strict, recorded against ours:", dict(strict))
    print(f"exported and imported again with the same meaning: {sum(map(comes_back, found.values()))}")
    reports = [report for _, report in found.values() if report is not None]
    print(f"publishable as they come: {sum(report.ok for report in reports)} of {len(reports)}")
    print("errors:", Counter(f.code for report in reports for f in report.errors).most_common(12))
    print("losses:", Counter(f.code for taken, _ in found.values() for f in taken.findings).most_common())
    for row in answered:
        taken, _ = found[row["local_path"]]
        if lenient(taken) != row["lenient_client"]:
            codes = ", ".join(sorted(_faults(taken))) or "nothing"
            print(f"  {row['local_path']}: recorded {row['lenient_client']} ({row['oddities']}), ours ({codes})")
    return 0 if len(answered) == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
