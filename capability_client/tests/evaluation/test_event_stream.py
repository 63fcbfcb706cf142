"""Server-sent events, cut anywhere."""

from __future__ import annotations

import pytest

from capability_client.evaluation.event_stream import EventStream


def _read(*parts: bytes) -> list[str]:
    stream = EventStream()
    return [data for part in parts for data in stream.feed(part)]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\n", ["a"]),
        (b"data:a\n\ndata:  b\n\n", ["a", " b"]),
        (b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["a", "b", "c"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data\ndata: b\n\n", ["\nb"]),
        (b": keep-alive\n\n:\ndata: a\n: more\n\n", ["a"]),
        (b"event: ping\nid: 7\nretry: 3\nother: x\ndata: a\n\nevent: odd\n\n", ["a"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        ("data: Zürich 🦊\n\n".encode(), ["Zürich 🦊"]),
        ("data: one\u2028line\x0b\x85\n\n".encode(), ["one\u2028line\x0b\x85"]),
        (b"data: \xff\n\n", ["\ufffd"]),
        # A stream that breaks off leaves no event behind.
        (b"data: a\n\ndata: b\n", ["a"]),
        (b"data: a\n\ndata: b", ["a"]),
        (b"\n\n\n", []),
        (b"", []),
    ],
)
def test_a_stream_is_its_events_wherever_it_is_cut(stream: bytes, events: list[str]) -> None:
    assert _read(stream) == events
    assert _read(*(bytes((byte,)) for byte in stream)) == events
    for at in range(len(stream)):
        assert _read(stream[:at], b"", stream[at:]) == events


def test_an_event_is_there_as_soon_as_it_is_whole() -> None:
    stream = EventStream()
    assert list(stream.feed(b"data: a\n\ndata: b\r\n")) == ["a"]
    # The empty line ends at its return, whatever follows.
    assert list(stream.feed(b"\r")) == ["b"]
    assert list(stream.feed(b"\ndata: c\n\n")) == ["c"]
