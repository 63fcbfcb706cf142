"""The key of a model's server, taken out of whatever comes from there: some servers repeat it in an error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from capability_client.evaluation.streamed_reply import PartialReply
from capability_kit.json_text import map_texts

# A shorter key is a word that somebody typed for a server that asks for none.
_PART_CHARACTERS: Final = 8
MASK: Final = "[key]"


class KeyMask:
    """Masks the key and each part of it of eight characters or more."""

    def __init__(self, key: str) -> None:
        self._parts = {key[at : at + _PART_CHARACTERS] for at in range(len(key) - _PART_CHARACTERS + 1)}

    def in_text(self, text: str) -> str:
        """The text with `[key]` in place of each part."""
        parts = self._parts
        if not any(part in text for part in parts):
            return text
        found, at = [], 0
        while at < len(text):
            if text[at : at + _PART_CHARACTERS] not in parts:
                found.append(text[at])
                at += 1
                continue
            at += _PART_CHARACTERS
            # Parts overlap: the next character ends one as long as the text goes on as the key does.
            while at < len(text) and text[at - _PART_CHARACTERS + 1 : at + 1] in parts:
                at += 1
            found.append(MASK)
        return "".join(found)

    def in_value(self, value: Any) -> Any:
        """JSON with each of its texts masked; names of keys stay."""
        return map_texts(value, self.in_text)

    def in_partial(self, partial: PartialReply) -> PartialReply:
        """What has come of a reply, masked."""
        calls = tuple((self.in_text(name), self.in_text(arguments)) for name, arguments in partial.calls)
        return replace(partial, text=self.in_text(partial.text), calls=calls)
