"""Requests to the identity provider: of an answer no more is read than it may have."""

from __future__ import annotations

import io
from typing import Any, Final

# The list of its addresses, a token with its claims, what it says of a person: a few KiB each.
RESPONSE_BYTES_MAX: Final = 1024 * 1024


def limit_responses(session: Any) -> None:
    """Have a session of `requests` read that much of each answer, and ask for it uncompressed.

    Its requests raise `requests.RequestException` for a longer answer, and for a compressed one.
    """
    session.headers["Accept-Encoding"] = "identity"
    # Called when the head is there, before anything of the body is read.
    session.hooks["response"].append(_read_within_limit)


def _read_within_limit(response: Any, **_options: Any) -> None:
    from requests import RequestException

    with response.raw as stream:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise RequestException("the identity provider's answer is compressed, which was not asked for")
        content = stream.read(RESPONSE_BYTES_MAX + 1, decode_content=False)
    if len(content) > RESPONSE_BYTES_MAX:
        raise RequestException(f"the identity provider's answer has more than {RESPONSE_BYTES_MAX:,} bytes")
    response.raw = io.BytesIO(content)
