"""What a report of an outcome may have at most (docs/contract.md 4, `capability_feedback`), for client and registry."""

from __future__ import annotations

from typing import Final

# The outcomes with which it may say why.
FAILURES: Final = ("likely_failure", "confirmed_failure")
MESSAGES_MAX: Final = 200
CONVERSATION_BYTES_MAX: Final = 64 * 1024
# Of a tool, a code, an argument.
NAME_LENGTH_MAX: Final = 64
