"""JSON Pointers (RFC 6901)."""

from __future__ import annotations


def decode_step(step: str) -> str:
    """A part between two slashes as the name that it means: `~1` is a slash, `~0` a tilde."""
    return step.replace("~1", "/").replace("~0", "~")
