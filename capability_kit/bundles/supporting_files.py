"""The files beside the four, in `references/`, `scripts/` and `assets/` of a skill's folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from capability_kit.bundles.digest import bytes_digest, text_digest
from capability_kit.text.files import write_atomically

FOLDERS: Final = ("references", "scripts", "assets")
COUNT_MAX: Final = 1000
BYTES_MAX: Final = 1024 * 1024
# Of a file that is kept as bytes: it is not text, or too large to be one.
CONTENT_BYTES_MAX: Final = 10 * 1024 * 1024
UNKNOWN_TYPE: Final = "application/octet-stream"
PATH_MAX: Final = 200
# Paths come from others and are read by models and written to disks: no look-alike or invisible characters, no step
# that leads up, is hidden or looks like an option, and none that means something else on another system.
_ODD: Final = re.compile(r"[^A-Za-z0-9._/ -]")
_STEP: Final = re.compile(r"[A-Za-z0-9_](?:.*[A-Za-z0-9_-])?")
# What Windows takes for a device, whatever follows the first dot.
_DEVICES: Final = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))})


def path_fault(path: str) -> str:
    """Why a supporting file cannot have this path, in words; empty where it can."""
    odd = _ODD.search(path)
    if odd is not None:
        return f"it has {_describe_character(odd[0])}; a path has ASCII letters, digits, '.', '_', '-', spaces and '/'"
    if len(path) > PATH_MAX:
        return f"it has more than {PATH_MAX} characters"
    steps = path.split("/")
    if not all(_STEP.fullmatch(step) for step in steps):
        return "a step of it is empty, begins with a dot, a hyphen or a space, or ends with a dot or a space"
    if "  " in path:
        return "it has two spaces in a row, which can push the rest of it out of view"
    device = next(filter(is_device_name, steps), "")
    return f"Windows reserves {device} for a device" if device else ""


def is_device_name(name: str) -> bool:
    """Whether Windows takes the name of a file or folder for a device, such as con or nul.txt."""
    return name.partition(".")[0].rstrip().lower() in _DEVICES


def _describe_character(char: str) -> str:
    if char.isascii() and char.isprintable():
        return repr(char)
    return f"'{char}' (U+{ord(char):04X})" if char.isalnum() and char.isprintable() else f"U+{ord(char):04X}"


def is_path(path: str) -> bool:
    """Whether a file in the folders of a skill can have this path."""
    return path.partition("/")[0] in FOLDERS and "/" in path and not path_fault(path)


def read_files(folder: Path) -> dict[str, str | bytes]:
    """`{path: text or bytes}` of a skill's folder, at most COUNT_MAX; what is too large or a link is left out."""
    found: dict[str, str | bytes] = {}
    for file in _files(folder):
        path = file.relative_to(folder).as_posix()
        content = _content(file) if is_path(path) else None
        if content is not None and len(found) < COUNT_MAX:
            found[path] = content
    return found


def describe_files(files: Mapping[str, str | bytes]) -> list[dict[str, Any]]:
    """The files as in `files` of a load response; what is not text has a type that says nothing more."""
    rows: list[dict[str, Any]] = []
    for path, content in sorted(files.items()):
        if isinstance(content, str):
            rows.append({"path": path, "digest": text_digest(content), "size": len(content.encode())})
        else:
            facts = {"digest": bytes_digest(content), "size": len(content), "type": UNKNOWN_TYPE}
            rows.append({"path": path, **facts})
    return rows


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Put them into a skill's folder. Raises `ValueError` for a path that leads elsewhere; nothing is written then."""
    odd = next((path for path in files if not is_path(path)), None)
    if odd is not None:
        raise ValueError(f"A file of a skill cannot have the path {odd[:80]!r}")
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, content)


def _files(folder: Path) -> Iterator[Path]:
    for name in FOLDERS:
        for file in sorted((folder / name).rglob("*")):
            below = file.relative_to(folder)
            is_link = any((folder / part).is_symlink() for part in (below, *below.parents))
            if file.is_file() and not is_link:
                yield file


def _content(file: Path) -> str | bytes | None:
    try:
        raw = file.read_bytes() if file.stat().st_size <= CONTENT_BYTES_MAX else None
    except OSError:
        return None
    if raw is None or len(raw) > BYTES_MAX:
        return raw
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return raw
    return raw if "\0" in text else text
