"""The bill of materials: CycloneDX 1.6 of what a lock installs, from the lock alone, without network or `.venv`."""

from __future__ import annotations

import json
import re
import tomllib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from studio.launcher.console import Refusal

_PIN: Final = re.compile(r"([A-Za-z0-9._-]+)(?:\[[a-z,]+\])?==([^\s;]+)(?: ; (.+?))?(?: \\)?")
_HASH: Final = re.compile(r"\s+--hash=sha256:([0-9a-f]{64})(?: \\)?")
# Ids of documents with the same content are the same.
_NAMESPACE: Final = uuid.UUID("6f5ba3f0-6c1b-4d60-9d55-2f2f0b7f1c55")


def write_sbom(root: Path, arguments: list[str]) -> str:
    """The document for `requirements.lock`, or for the lock that is named. Raises `Refusal`."""
    name = arguments[0] if arguments else "requirements.lock"
    lock = root / name
    if len(arguments) > 1 or not lock.is_file():
        raise Refusal(f"Usage: python3 run.py sbom [LOCK]; {name} does not exist", exit_code=2)
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    document = build_sbom(lock.read_text("utf-8"), name=project["name"], version=project["version"])
    return json.dumps(document, indent=2)


def build_sbom(lock: str, *, name: str, version: str) -> dict[str, Any]:
    """CycloneDX for the text of a lock. A package of some systems only has the condition of its pin."""
    product = f"pkg:pypi/{name}@{version}"
    components = list(_components(lock))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, product + lock)}",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": product, "name": name, "version": version, "purl": product}
        },
        "components": components,
        # What needs what is not in a lock.
        "dependencies": [{"ref": product, "dependsOn": [component["bom-ref"] for component in components]}],
    }


def _components(lock: str) -> Iterator[dict[str, Any]]:
    component: dict[str, Any] | None = None
    for line in lock.splitlines():
        if pin := _PIN.fullmatch(line):
            if component is not None:
                yield component
            purl = f"pkg:pypi/{pin[1].lower().replace('_', '-')}@{pin[2]}"
            component = {
                "type": "library",
                "bom-ref": purl,
                "name": pin[1],
                "version": pin[2],
                "purl": purl,
                "hashes": [],
            }
            if pin[3]:
                component["properties"] = [{"name": "python:marker", "value": pin[3]}]
        elif (found := _HASH.fullmatch(line)) and component is not None:
            component["hashes"].append({"alg": "SHA-256", "content": found[1]})
    if component is not None:
        yield component
