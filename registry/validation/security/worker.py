"""The process that checks large texts; isolation.py starts it.

It reads texts from its standard input and writes findings to its standard output, one JSON document behind four bytes
of length, until the input ends or nothing was asked for a minute. Two seconds of its own work on one request and the
system ends it, whatever it is doing.
"""

from __future__ import annotations

import dataclasses
import json
import select
import signal
import struct
import sys
from typing import BinaryIO, Final

CPU_SECONDS_MAX: Final = 2.0
IDLE_SECONDS_MAX: Final = 60.0
_LENGTH = struct.Struct(">I")


def read_message(stream: BinaryIO) -> bytes | None:
    """The next message, None where the stream ends before it is whole."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = stream.read(length)
    return body if len(body) == length else None


def write_message(stream: BinaryIO, message: bytes) -> None:
    """Write a message and send it off. Raises OSError where nobody reads any more."""
    stream.write(_LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def answer(message: bytes) -> bytes:
    """The findings of the texts in a message."""
    from registry.validation.security.scanner import check_texts
    from registry.validation.security.text_corpus import AuthorText

    texts = [
        AuthorText(file, tuple(path), text, is_key, offset) for file, path, text, is_key, offset in json.loads(message)
    ]
    return json.dumps([dataclasses.asdict(finding) for finding in check_texts(texts)]).encode()


def prepare() -> None:
    """Read the rules, compile their patterns and read the model, so that no request pays for it."""
    from registry.validation.security.rule_loader import compile_rules, load_rule_files
    from registry.validation.security.sentence_rules import load_literal_index, load_sentence_rules
    from registry.validation.security.suspicion import load_model

    for file in load_rule_files():
        compile_rules(file)
    load_sentence_rules()
    load_literal_index()
    load_model()


def main() -> None:
    """Answer one request after the other."""
    prepare()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while select.select([source], [], [], IDLE_SECONDS_MAX)[0]:
        message = read_message(source)
        if message is None:
            return
        # The default action of SIGPROF ends the process: a pattern that runs does not have to agree.
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS_MAX)
        found = answer(message)
        signal.setitimer(signal.ITIMER_PROF, 0)
        write_message(sink, found)


if __name__ == "__main__":
    main()
