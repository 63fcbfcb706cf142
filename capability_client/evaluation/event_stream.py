"""Server-sent events, read as the HTML standard does ("Interpreting an event stream"), from bytes cut anywhere."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final

# No other sign ends a line: U+2028 may stand in a text.
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


class EventStream:
    """Reads one stream. The names of events are left out: both vendors repeat them in the data."""

    def __init__(self) -> None:
        # It takes a byte order mark away, and half a character waits for its other half.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._ends_in_return = False
        self._line: list[str] = []
        self._data: list[str] = []

    def feed(self, part: bytes) -> Iterator[str]:
        """The data of each event that is whole now; what a stream that breaks off leaves behind is not an event."""
        text = self._decoder.decode(part)
        if not text:
            return
        # CR LF is one end of a line, also where it is cut in two.
        rest = text.removeprefix("\n") if self._ends_in_return else text
        self._ends_in_return = text.endswith("\r")
        *lines, last = _LINE_END.split(rest)
        for line in lines:
            whole = "".join((*self._line, line))
            self._line.clear()
            if whole:
                self._take(whole)
            elif self._data:
                yield "\n".join(self._data)
                self._data.clear()
        self._line.append(last)

    def _take(self, line: str) -> None:
        """A comment has no name before its colon, and is left out as any field but `data` is."""
        name, _colon, value = line.partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))
