"""What a session knows and decides, without input or output (docs/contract.md 7).

Where the registry, a tool or a person is needed, a method is a generator: it yields what to call, is sent what that
returned, and returns its own result. `Session` and `AsyncSession` do the calling.

Each of these modules builds on the one before: state.py, catalog.py (what there is), loader.py (what is active),
calls.py (tools), turns.py (messages), and here what goes from one process to another.
"""

from __future__ import annotations

from capability_client.session import serialization
from capability_client.session.turns import SessionTurns


class SessionCore(SessionTurns):
    """All of a session but the calling."""

    def to_json(self, *, secret: bytes | None = None) -> str:
        """The session as text (serialization.py); with a `secret`, no one else can make a file that is accepted."""
        self._settle_layout()
        return serialization.serialize_session(self, secret=secret)
