"""A folder of skills: the same questions as to a registry, answered without one.

Each subfolder is a bundle of four files, or a SKILL.md of the Agent Skills format. One that cannot be read is named
with the cause, never passed over in silence.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from capability_client.client.requests import require_file
from capability_kit.bundles.bundle import Bundle, Listing, ListingEntry, SupportingFile
from capability_kit.bundles.digest import bundle_digest
from capability_kit.bundles.front_matter import normalize_skill_text, read_front_matter, split_front_matter
from capability_kit.bundles.skill_mapping import DESCRIPTION_MAX, begin_mapping, finish_mapping
from capability_kit.bundles.supporting_files import describe_files, read_files, write_files
from capability_kit.errors import CapabilityNotFound, RegistryError, RevisionNotFound, SupportingFileNotFound
from capability_kit.text.files import write_atomically
from capability_kit.text.sanitize import one_line

FILE_BYTES_MAX: Final = 1024 * 1024
TRIGGER_MAX: Final = 80
ORIGIN: Final = ".origin.json"
# A file that changed so shortly before it was read may change again without another time.
_SETTLED_SECONDS: Final = 1.0


class SkillUnreadable(RegistryError):
    """A folder that is not a skill; the message says why."""

    code = "SKILL_UNREADABLE"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A subfolder that could not be read, and why."""

    folder: str
    cause: str


class LocalSkills:
    """The skills below a folder, looked at for each question: what is installed is there at once."""

    def __init__(self, folder: Path | str, *, first_run: str | None = None) -> None:
        self.folder: Path = Path(folder).expanduser()
        self.first_run = first_run
        self.unreadable: list[Unreadable] = []
        self._read: tuple[tuple[Any, ...], float, tuple[Bundle, ...]] | None = None

    def list(self) -> Listing:
        """Every skill that can be read; the others stand in `unreadable`."""
        found = {bundle.capability_id: bundle for bundle in self._read_all()}
        entries = tuple(ListingEntry.of_bundle(found[name]) for name in sorted(found))
        first_run = self.first_run or ("introduction" if "introduction" in found else None)
        return Listing(entries, 0, first_run=first_run)

    def load(self, capability_id: str, *, digest: str | None = None) -> Bundle:
        """One skill. Raises `CapabilityNotFound`, or `RevisionNotFound` where the folder holds another release."""
        for bundle in self._read_all():
            if bundle.capability_id == capability_id:
                if digest not in (None, bundle.digest):
                    raise RevisionNotFound(f"The folder holds another release of '{capability_id}'")
                return bundle
        raise self._not_installed(capability_id)

    def _not_installed(self, capability_id: str) -> CapabilityNotFound:
        names = [entry.capability_id for entry in self.list().entries]
        data = {"available_capabilities": names, "available_total": len(names)}
        words = f"No skill '{one_line(capability_id, most=64)}' is installed"
        return CapabilityNotFound(words, data=data, capability_id=capability_id)

    def reload(self, capability_id: str) -> Bundle:
        """As `load`, since nothing is kept."""
        return self.load(capability_id)

    def file(self, bundle: Bundle, path: str) -> str:
        """The text of one of `bundle.files`, checked against its digest.

        Raises `SupportingFileNotFound`, also for one that was changed since.
        """
        found = self._find_file(bundle, require_file(bundle, path, is_text=True))
        return found if isinstance(found, str) else found.decode("utf-8")

    def content(self, bundle: Bundle, path: str) -> bytes:
        """The bytes of one of `bundle.files`, checked and refused as by `file`."""
        found = self._find_file(bundle, require_file(bundle, path))
        return found if isinstance(found, bytes) else found.encode("utf-8")

    def _find_file(self, bundle: Bundle, wanted: SupportingFile) -> str | bytes:
        for folder in self._folders():
            found = read_files(folder).get(wanted.path) if _id_of(folder) == bundle.capability_id else None
            if found is not None and wanted.is_of(found):
                return found
        data = {"available_files": [one.path for one in bundle.files]}
        raise SupportingFileNotFound(f"'{bundle.capability_id}' has no file '{one_line(wanted.path)}'", data=data)

    def install(self, bundle: Bundle, *, origin: str = "", files: Mapping[str, str | bytes] | None = None) -> Path:
        """Write a bundle into the folder, in the place of an older one. `origin` says where it came from, `files` are
        `bundle.files` by path. Raises `ValueError` for a path that leads elsewhere."""
        target = self.folder / bundle.capability_id
        scratch = self.folder / f".new-{bundle.capability_id}"
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        for name, text in files_of(bundle).items():
            write_atomically(scratch / name, text)
        write_files(scratch, files or {})
        facts = {"origin": origin, "digest": bundle.digest, "revision": bundle.revision}
        write_atomically(scratch / ORIGIN, json.dumps(facts, indent=2) + "\n")
        shutil.rmtree(target, ignore_errors=True)
        scratch.rename(target)
        return target

    def uninstall(self, capability_id: str) -> None:
        """Remove a skill's folder. Raises `CapabilityNotFound`."""
        for folder in self._folders():
            if _id_of(folder) == capability_id:
                if folder.is_symlink():
                    folder.unlink()
                else:
                    shutil.rmtree(folder)
                return
        raise self._not_installed(capability_id)

    def _folders(self) -> tuple[Path, ...]:
        if not self.folder.is_dir():
            return ()
        return tuple(sorted(each for each in self.folder.iterdir() if each.is_dir() and not each.name.startswith(".")))

    def _read_all(self) -> tuple[Bundle, ...]:
        """Every skill that can be read; parsed again only where a file has changed since."""
        seen, now = _fingerprint(self._folders()), time.time()
        if self._read is None or self._read[0] != seen or self._read[1] < _newest(seen) + _SETTLED_SECONDS:
            self._read = seen, now, self._parse_all()
        return self._read[2]

    def _parse_all(self) -> tuple[Bundle, ...]:
        found: dict[str, Bundle] = {}
        self.unreadable = []
        for folder in self._folders():
            try:
                bundle = read_folder(folder)
            except SkillUnreadable as error:
                self.unreadable.append(Unreadable(folder.name, error.message))
                continue
            if bundle.capability_id in found:
                self.unreadable.append(Unreadable(folder.name, f"'{bundle.capability_id}' is there already"))
            else:
                found[bundle.capability_id] = bundle
        return tuple(found.values())


def _fingerprint(folders: Iterable[Path]) -> tuple[tuple[str, float, int], ...]:
    """`(path, modified, bytes)` of every file."""
    rows = []
    for folder in folders:
        for path in folder.rglob("*"):
            try:
                found = path.stat()
            except OSError:
                continue
            rows.append((str(path), found.st_mtime, found.st_size))
    return tuple(sorted(rows))


def _newest(fingerprint: Iterable[tuple[str, float, int]]) -> float:
    return max((modified for _, modified, _ in fingerprint), default=0.0)


def _id_of(folder: Path) -> str:
    try:
        return read_folder(folder).capability_id
    except SkillUnreadable:
        return folder.name.replace("-", "_")


def read_folder(folder: Path) -> Bundle:
    """The bundle of one folder, its digest computed. Raises `SkillUnreadable`."""
    is_bundle = (folder / "capability.json").is_file()
    if is_bundle:
        body = _skill_doc(_text(folder / "skill.md"))
        capability = _json(folder / "capability.json", {})
    else:
        capability, body = _read_agent_skill(folder)
    if not isinstance(capability, dict):
        raise SkillUnreadable("capability.json is not an object")
    capability.pop("utterances", None)
    tools = _json(folder / "tools.json", [])
    parts: dict[str, Any] = {
        "capability": capability,
        "skill_doc": body,
        "tools": tools.get("tools") if isinstance(tools, dict) else tools,
        "ui_schemas": _listed(_json(folder / "ui_schemas.json", [])),
    }
    try:
        digest = bundle_digest(**parts)
        head = {"capability_id": capability.get("capability_id"), "digest": digest}
        return Bundle.from_answer({**head, **parts, "files": describe_files(read_files(folder))})
    except RegistryError as error:
        raise SkillUnreadable(error.message) from None
    except (ValueError, TypeError, RecursionError) as error:
        raise SkillUnreadable(f"It holds values that no digest can be computed over: {error}") from None


def files_of(bundle: Bundle) -> dict[str, str]:
    """The four files of a bundle."""

    def text(value: Any) -> str:
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"

    return {
        "capability.json": text(bundle.capability),
        "skill.md": bundle.skill_doc,
        "tools.json": text(list(bundle.tools)),
        "ui_schemas.json": text(list(bundle.ui_schemas)),
    }


def _skill_doc(text: str) -> str:
    """The text of a skill.md after its front matter."""
    return text[split_front_matter(text).body_offset :]


def _read_agent_skill(folder: Path) -> tuple[dict[str, Any], str]:
    """The capability of a SKILL.md, as the registry imports it, and the text below its front matter."""
    text = normalize_skill_text(_text(_skill_file(folder)))
    found = read_front_matter(text)
    if not found.values:
        cause = found.faults[0].message if found.faults else "It has no front matter"
        raise SkillUnreadable(f"The front matter of SKILL.md cannot be read. {cause}")
    mapping = begin_mapping(found.values, folder=folder.name)
    if not mapping.capability:
        raise SkillUnreadable(f"SKILL.md cannot be used. {mapping.notes[-1].message}")
    mapping.capability["skill_profile"] = "agent_skill"
    finish_mapping(mapping)
    capability = mapping.capability
    words = str(capability["name"]).replace("-", " ")
    capability["name"] = one_line(words.title(), most=80)
    capability["description"] = capability["description"][:DESCRIPTION_MAX]
    capability.setdefault("intent_triggers", [words[:TRIGGER_MAX]])
    return capability, text[found.body_offset :]


def _skill_file(folder: Path) -> Path:
    """SKILL.md, however it is spelled; the right spelling first."""
    spelled = sorted((one for one in folder.glob("*") if one.name.lower() == "skill.md"), key=lambda one: one.name)
    return spelled[0] if spelled else folder / "SKILL.md"


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError:
        raise SkillUnreadable(f"There is no {path.name}") from None
    if len(raw) > FILE_BYTES_MAX:
        raise SkillUnreadable(f"{path.name} is larger than {FILE_BYTES_MAX:,} bytes")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise SkillUnreadable(f"{path.name} is not UTF-8 from byte {error.start + 1:,} on") from None


def _json(path: Path, absent: Any) -> Any:
    if not path.is_file():
        return absent
    try:
        return json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise SkillUnreadable(f"{path.name} is not JSON: {str(error)[:100]}") from None


def _listed(value: Any) -> Any:
    """A map `{schema_id: definition}` as the list that it stands for (docs/contract.md 1.4)."""
    if not isinstance(value, dict):
        return value
    return [{"schema_id": name, "definition": definition} for name, definition in value.items()]
