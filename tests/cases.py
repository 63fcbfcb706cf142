"""The cases under schemas/examples: a base bundle, what is replaced in it, and exactly the findings that follow."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capability_rules.schema_loader import SCHEMAS_DIR

EXAMPLES = SCHEMAS_DIR / "examples"


@dataclass(frozen=True)
class Case:
    """One broken bundle. Of `expect` only the keys that a case names are compared."""

    name: str
    files: dict[str, bytes | str]
    expect: list[dict[str, Any]]


def valid_bundle(name: str) -> dict[str, bytes | str]:
    """The files of one of the valid examples."""
    return {file.name: file.read_bytes() for file in sorted((EXAMPLES / "valid" / name).iterdir())}


def valid_names() -> list[str]:
    return sorted(folder.name for folder in (EXAMPLES / "valid").iterdir())


def read_cases() -> list[Case]:
    return [_read(file) for file in sorted((EXAMPLES / "invalid").glob("*.json"))]


def _read(file: Path) -> Case:
    document = json.loads(file.read_text("utf-8"))
    files = valid_bundle(document["base"])
    for name in document.get("remove", []):
        del files[name]
    for name, content in document.get("replace", {}).items():
        files[name] = content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)
    for name, encoded in document.get("replace_base64", {}).items():
        files[name] = base64.b64decode(encoded)
    return Case(file.stem, files, document["expect"])
