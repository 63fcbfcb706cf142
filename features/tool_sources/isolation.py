"""Reads a document where bundles are checked: in a process that is ended where it takes too long or too much memory,
one caller after the other.

A text of 10 MB can keep a parser busy for as long as its author likes, and a web process has other readers.
"""

from __future__ import annotations

import json
from typing import Any, Final

from capability_rules.errors import SourceUnreadable
from capability_rules.validation.isolation.pool import CheckEnded, ChecksUnfinished, current_pool
from features.tool_sources.readers.limits import ANSWER_BYTES_MAX, BYTES_MAX, SECONDS_MAX
from features.tool_sources.source_tools import ToolCatalog, read_tools

_OPERATION: Final = "features.tool_sources.isolation:answer_request"


def read_tools_isolated(content: bytes, *, seconds_max: int = SECONDS_MAX) -> ToolCatalog:
    """The tools of a document.

    Raises `SourceUnreadable` with the reason, and the number of a limit, and `ChecksBusy` and `ChecksUnfinished` where
    there is no time for it now.
    """
    if len(content) > BYTES_MAX:
        raise SourceUnreadable(f"The document has {len(content):,} bytes; at most {BYTES_MAX:,} are read")
    pool = current_pool()
    if pool is None:
        return read_tools(content)
    try:
        answer = pool.run({"do": _OPERATION, "content": content.decode("latin-1"), "cpu_seconds": seconds_max})
    except CheckEnded as ended:
        if not ended.is_limit:
            raise ChecksUnfinished from None
        raise SourceUnreadable(_too_long(seconds_max)) from None
    if "error" in answer:
        raise SourceUnreadable(answer["error"])
    return ToolCatalog.from_dict(answer)


def _too_long(seconds_max: int) -> str:
    return f"Reading the document takes more than {seconds_max} s of work, or too much memory"


def answer_request(request: dict[str, Any], _channel: object) -> dict[str, Any]:
    """In the process: a `ToolCatalog`, or `{"error": ...}`."""
    try:
        answer = read_tools(request["content"].encode("latin-1")).as_dict()
    except SourceUnreadable as error:
        return {"error": error.message}
    except MemoryError:
        return {"error": _too_long(request["cpu_seconds"])}
    size = len(json.dumps(answer))
    if size > ANSWER_BYTES_MAX:
        return {"error": f"Its tools have {size:,} bytes; at most {ANSWER_BYTES_MAX:,} are kept: bring a part of it"}
    return answer
