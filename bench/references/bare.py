"""The fastest that the server can be: a function that returns bytes it holds."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def _read(name: str) -> tuple[list[tuple[str, str]], bytes]:
    kept = json.loads((Path(os.environ["BENCH_FOLDER"]) / f"{name}.json").read_text())
    body = kept["body"].encode()
    headers = [(key, value) for key, value in kept["headers"]]
    return [*headers, ("Content-Length", str(len(body)))], body


LIST = _read("capability_registry_list")
LOAD = _read("capability_skill_load")
NOT_MODIFIED = [pair for pair in LIST[0] if pair[0].lower() not in ("content-type", "content-length")]


def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    if "HTTP_IF_NONE_MATCH" in environ:
        start_response("304 Not Modified", [*NOT_MODIFIED, ("Content-Length", "0")])
        return [b""]
    headers, body = LIST if environ["PATH_INFO"].endswith("list") else LOAD
    start_response("200 OK", headers)
    return [body]
