"""Memory of an import and an export of 50 MiB of files, and whether every byte comes back.

    python bench/large_files.py [FOLDER ...]

A FOLDER of skills is imported too, and each exported skill compared with it, file by file.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
os.environ.setdefault("DATA_DIR", tempfile.mkdtemp())

import django

django.setup()

from django.core.management import call_command

from capability_rules.discovery.bundle_discovery import discover_bundles
from registry.catalog.exporter import Export, export_capability, write_export
from registry.common.actors import Actor
from registry.common.errors import StatusConflict
from registry.importing.bundle_import import import_all_or_none, import_archive
from registry.models import Capability
from registry.publishing.batch import import_all

BY = Actor("operator", "bench")
_PART = 10 * 2**20 - 10
Result = TypeVar("Result")


def make_archive(name: str, parts: int) -> IO[bytes]:
    """A zip of a skill with that many files of 10 MiB, which nothing compresses."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 (closed with its last reader)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        text = f"---\nname: {name}\ndescription: Large files of {name}\n---\n# A\n\nText.\n"
        archive.writestr(f"{name}/SKILL.md", text)
        for number in range(parts):
            archive.writestr(f"{name}/assets/{number}.bin", random.Random(number).randbytes(_PART))
    file.seek(0)
    return file


def resident() -> float:
    """Of this process, in MiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure(what: str, work: Callable[[], Result]) -> Result:
    """Print the peak above the start, watched every two milliseconds, and the CPU time."""
    before, peak, has_ended = resident(), [resident()], threading.Event()

    def watch() -> None:
        while not has_ended.wait(0.002):
            peak[0] = max(peak[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.process_time()
    result = work()
    seconds = time.process_time() - began
    has_ended.set()
    watcher.join()
    print(f"{what}: {peak[0] - before:.0f} MiB above {before:.0f}, {seconds:.1f} s of CPU")
    return result


def compare(folder: str) -> Counter[str]:
    """How many files of the skills of a folder come back, by what became of them."""
    found: Counter[str] = Counter()
    for source in discover_bundles(folder):
        (result,) = import_all([source], by=BY, mode="draft")
        if result.status != "draft":
            found["skills refused"] += 1
            continue
        capability = Capability.objects.get(capability_id=result.capability_id)
        with tempfile.TemporaryDirectory() as target:
            write_export(_export(capability), Path(target))
            inner = [Path(source.path) / name for name in source.inner]
            for file in Path(source.path).rglob("*"):
                is_own = not any(file.is_relative_to(one) for one in inner)
                if file.is_file() and file.name.lower() != "skill.md" and is_own:
                    found[_fate(file, Path(target) / file.relative_to(source.path))] += 1
    return found


def _export(capability: Capability) -> Export:
    try:
        return export_capability(capability, format_="agent-skill", draft=True)
    except StatusConflict:
        # Held passages, for instance: its files are the same.
        return export_capability(capability, draft=True)


def _fate(file: Path, copy: Path) -> str:
    if not copy.exists():
        return "left out, with the reason"
    if file.read_bytes() == copy.read_bytes():
        return "every byte"
    plain = file.read_bytes().removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    return "a text with other line ends" if plain.replace(b"\r\n", b"\n") == copy.read_bytes() else "other bytes"


def main() -> None:
    """Print everything."""
    call_command("migrate", verbosity=0)
    import_all_or_none(import_archive(make_archive("small", 0), "small.zip"), by=BY)
    archive = make_archive("large", 5)
    done = measure("import of 50 MiB", lambda: import_all_or_none(import_archive(archive, "large.zip"), by=BY))
    assert done.is_stored
    capability = Capability.objects.get(capability_id="large")
    export = export_capability(capability, format_="agent-skill", draft=True)
    measure("export of 50 MiB", export.open_zip).close()
    for folder in sys.argv[1:]:
        print(f"{folder}: {dict(compare(folder))}")


if __name__ == "__main__":
    main()
