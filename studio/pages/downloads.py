"""Files to download. Tables are sent as they are read: CSV that no spreadsheet takes for a formula, lines of JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from django.http import FileResponse, HttpResponse, StreamingHttpResponse


class _Echo:
    """What `csv.writer` writes to: hands each line back."""

    def write(self, line: str) -> str:
        return line


def _as_cell(value: object) -> object:
    # A spreadsheet runs what begins like a formula, and names of keys and ids are written by others.
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return value


def file_response(name: str, kind: str, content: bytes | str | IO[bytes]) -> HttpResponse:
    """A download of what is in memory, or of an open file."""
    if not isinstance(content, bytes | str):
        return FileResponse(content, as_attachment=True, filename=name, content_type=kind)  # type: ignore[return-value]
    return HttpResponse(content, content_type=kind, headers={"Content-Disposition": _disposition(name)})


def csv_response(name: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> HttpResponse:
    """A download; the first line has the names of the columns."""

    def lines() -> Iterator[str]:
        writer = csv.writer(_Echo())
        yield writer.writerow(head)
        for row in rows:
            yield writer.writerow([_as_cell(value) for value in row])

    return _download(name, "text/csv; charset=utf-8", lines())


def json_lines_response(name: str, rows: Iterable[dict[str, Any]]) -> HttpResponse:
    """A download with one JSON object per line."""
    return _download(
        name, "application/jsonl; charset=utf-8", (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    )


def _download(name: str, kind: str, lines: Iterator[str]) -> HttpResponse:
    response = StreamingHttpResponse((line.encode("utf-8") for line in lines), content_type=kind)
    response["Content-Disposition"] = _disposition(name)
    return response  # type: ignore[return-value]


def _disposition(name: str) -> str:
    return f'attachment; filename="{name}"'
