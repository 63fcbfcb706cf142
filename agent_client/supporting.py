"""The texts beside the four files, in `references/`, `scripts/` and `assets/` of a skill's folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from agent_client.cache import write_whole
from agent_client.digest import text_digest

FOLDERS: Final = ("references", "scripts", "assets")
COUNT_MAX: Final = 100
BYTES_MAX: Final = 1024 * 1024
# A path may come from a registry: no step leads up, none is hidden, and none means something else on another system.
_PATH: Final = re.compile(
    r"(?:references|scripts|assets)(?:/[^/\\:*?\"<>|\x00-\x1f\x7f.][^/\\:*?\"<>|\x00-\x1f\x7f]*)+"
)


def is_path(path: str) -> bool:
    """Whether a file of a skill can have this path."""
    return len(path) <= 200 and _PATH.fullmatch(path) is not None


def texts_of(folder: Path) -> dict[str, str]:
    """`{path: text}` of a skill's folder, at most COUNT_MAX; what is no text, is too large or is a link is left out."""
    found: dict[str, str] = {}
    for file in _files(folder):
        path = file.relative_to(folder).as_posix()
        text = _text(file) if is_path(path) else None
        if text is not None and len(found) < COUNT_MAX:
            found[path] = text
    return found


def facts_of(texts: Mapping[str, str]) -> list[dict[str, Any]]:
    """As `files` of a load answer."""
    return [
        {"path": path, "digest": text_digest(text), "size": len(text.encode())} for path, text in sorted(texts.items())
    ]


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Put them into a skill's folder. Raises `ValueError` for a path that leads elsewhere; nothing is written then."""
    odd = next((path for path in texts if not is_path(path)), None)
    if odd is not None:
        raise ValueError(f"A file of a skill cannot have the path {odd[:80]!r}")
    for path, text in texts.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, text)


def _files(folder: Path) -> Iterator[Path]:
    for name in FOLDERS:
        for file in sorted((folder / name).rglob("*")):
            below = file.relative_to(folder)
            is_link = any((folder / part).is_symlink() for part in (below, *below.parents))
            if file.is_file() and not is_link:
                yield file


def _text(file: Path) -> str | None:
    try:
        raw = file.read_bytes() if file.stat().st_size <= BYTES_MAX else b"\0"
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\0" in text else text
