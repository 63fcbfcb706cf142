"""Reading `schemas/`, the one source of a bundle's shape."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

# A link to the folder of the checkout; a wheel has the files themselves.
SCHEMAS_DIR = (Path(__file__).parent / "schemas").resolve()


@cache
def read_schema(name: str) -> dict[str, Any]:
    """One document of `schemas/`, by its path without `.schema.json`: `capability`, `api/error` ..."""
    document: dict[str, Any] = json.loads((SCHEMAS_DIR / f"{name}.schema.json").read_text("utf-8"))
    return document
