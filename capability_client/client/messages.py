"""What goes over the wire, as values: the seam between what to ask (requests.py) and how to ask it (transport.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

BYTES_MAX = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. `seconds` is for all of it, from the look-up of the name to the last byte. A peer that
    `may_think` says nothing for as long; any other is given up after five silent seconds."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None
    seconds: float = 20.0
    bytes_max: int = BYTES_MAX
    may_think: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP answer, decompressed. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def is_success(self) -> bool:
        """Whether it answers the question; 304 says that the kept answer does."""
        return 200 <= self.status < 300 or self.status == 304


@dataclass(frozen=True, slots=True)
class TransportError:
    """No answer, and why, in words. `is_too_large`: it was not read to its end; `is_timeout`: it took too long."""

    reason: str
    is_too_large: bool = False
    is_timeout: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait before the next try."""

    seconds: float = field(default=0.0)


Step = Request | Pause
Outcome = Response | TransportError | None
