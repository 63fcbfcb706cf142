"""What a session knows and decides, without input or output (docs/contract.md 7).

Where the registry, a tool or a person is needed, a method is a generator: it yields what to call, is sent what that
returned, and returns its own result. `Session` and `AsyncSession` do the calling.

Each of these modules builds on the one before: state.py, catalog.py (what there is), loader.py (what is active),
calls.py (tools), turns.py (messages), and here what goes from one process to another.
"""

from __future__ import annotations

from capability_client.session import serialization
from capability_client.session.message_export import MessageVendor, export_messages
from capability_client.session.turns import SessionTurns


class SessionCore(SessionTurns):
    """All of a session but the calling."""

    def messages_for(self, vendor: MessageVendor) -> list[dict[str, object]]:
        """The conversation as a vendor's API takes it, with what is of this request alone at its end.

        `prompt_parts().before` is the system text, `tools(vendor)` are the tools. Raises `ValueError` for a vendor that
        is not known.
        """
        if not self._appends:
            self._lasting_skills()
        return export_messages(self.messages, vendor, turn=self._passing_prompt())

    def to_json(self, *, secret: bytes | None = None) -> str:
        """The session as text (serialization.py); with a `secret`, no one else can make a file that is accepted."""
        self._settle_layout()
        return serialization.serialize_session(self, secret=secret)
