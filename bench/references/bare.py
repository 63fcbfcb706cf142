"""The fastest that granian's WSGI can be: a function that returns bytes it holds, with the headers it needs."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any


def _read(name: str) -> bytes:
    saved = json.loads((Path(os.environ["BENCH_FOLDER"]) / f"{name}.json").read_text())
    body: str = saved["body"]
    return body.encode()


def _headers(body: bytes) -> list[tuple[str, str]]:
    return [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]


LIST = _read("capability_registry_list")
LOAD = _read("capability_skill_load")
GZIP = gzip.compress(LOAD, compresslevel=6, mtime=0)
LIST_HEADERS, LOAD_HEADERS = _headers(LIST), _headers(LOAD)
GZIP_HEADERS = [*_headers(GZIP), ("Content-Encoding", "gzip")]
NOT_MODIFIED = [("ETag", '"bare"')]


def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    if "HTTP_IF_NONE_MATCH" in environ:
        start_response("304 Not Modified", NOT_MODIFIED)
        return [b""]
    if environ.get("HTTP_ACCEPT_ENCODING") == "gzip":
        start_response("200 OK", GZIP_HEADERS)
        return [GZIP]
    if environ["PATH_INFO"].endswith("list"):
        start_response("200 OK", LIST_HEADERS)
        return [LIST]
    start_response("200 OK", LOAD_HEADERS)
    return [LOAD]
