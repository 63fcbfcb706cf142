"""The digest of a bundle: one name for one content, which any client can recompute (schemas/README.md)."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785


def bundle_digest(*, capability: dict[str, Any], skill_doc: str, tools: list[Any], ui_schemas: list[Any]) -> str:
    """`sha256:` + hex of the SHA-256 over the RFC 8785 canonical JSON of the four parts.

    The parts are as `capability_skill_load` returns them. Raises `rfc8785.CanonicalizationError` on values that JSON
    cannot represent (NaN, integers beyond 2^53-1).
    """
    parts: Any = {"capability": capability, "skill_doc": skill_doc, "tools": tools, "ui_schemas": ui_schemas}
    return "sha256:" + hashlib.sha256(rfc8785.dumps(parts)).hexdigest()


def digest_of_load(answer: dict[str, Any]) -> str:
    """Recompute the digest from a response of `capability_skill_load`, to compare with its `digest`."""
    parts = {key: answer[key] for key in ("capability", "skill_doc", "tools", "ui_schemas")}
    return bundle_digest(**parts)


def text_digest(text: str) -> str:
    """`sha256:` + hex of a text as UTF-8: the name of one file."""
    return bytes_digest(text.encode("utf-8", errors="surrogatepass"))


def bytes_digest(content: bytes) -> str:
    """`sha256:` + hex of the bytes of a file that is not text."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
