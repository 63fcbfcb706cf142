"""The process that checks bundles; pool.py starts it.

It reads a request from its standard input and writes messages to its standard output, until the input ends. Six seconds
of its own work on one request, or the `cpu_seconds` that it names, and the system ends it, whatever it is doing.
"""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO, Final

from capability_rules.bundles.parsed_bundle import ParsedBundle
from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.validation.in_place import capability_id_of, check_in_place
from capability_rules.validation.isolation.messages import (
    encode_message,
    pack_bundle,
    pack_findings,
    read_message,
    unpack_files,
)

CPU_SECONDS_MAX: Final = 6.0
# docs/contract.md 2: of one process. What asks for more is a MemoryError, and a check that could not finish.
_MEMORY_BYTES_MAX: Final = 512 * 1024 * 1024
# Loads and pages come first.
_NICENESS: Final = 5


@dataclass(frozen=True)
class _AskingContext(ValidationContext):
    """Asks the process that has the registry."""

    channel: Channel | None = None

    def owners_of(self, names: Iterable[str]) -> dict[str, str]:
        return dict(self._ask("owners_of", list(names)))

    def ids_like(self, word: str) -> set[str]:
        return set(self._ask("ids_like", word))

    def _ask(self, question: str, of: Any) -> Any:
        if self.channel is None:
            raise TypeError("nobody to ask")
        self.channel.send({"question": question, "of": of})
        answer = self.channel.receive()
        if answer is None:
            sys.exit(0)
        return answer["answer"]


@dataclass(frozen=True)
class Channel:
    """Both ends of the conversation."""

    source: BinaryIO
    sink: BinaryIO

    def send(self, message: dict[str, Any]) -> None:
        self.sink.write(encode_message(message))
        self.sink.flush()

    def receive(self) -> dict[str, Any] | None:
        return read_message(self.source)


def check(request: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """The report on the files of a request."""
    files = unpack_files(request["files"])
    sent: int | None = None

    def on_check(name: str, documents: ParsedBundle) -> None:
        nonlocal sent
        parsed = {"parsed": _describe_files(documents, files)} if sent is None else {}
        channel.send({"checking": name, "found": pack_findings(documents.findings[sent or 0 :]), **parsed})
        sent = len(documents.findings)

    report = check_in_place(files, _AskingContext(channel=channel), on_check=on_check)
    return {"findings": pack_findings([*report.findings, *report.notes]), "bundle": pack_bundle(report.bundle)}


def _describe_files(documents: ParsedBundle, files: Mapping[str, bytes | str]) -> dict[str, Any]:
    """What was read before the first check: only texts that normalizing has changed are sent back."""
    changed = {name: text for name, text in documents.files.items() if text != files.get(name)}
    names = list(documents.files)
    return {"names": names, "changed": changed, "capability_id": capability_id_of(documents)}


def dry_run(request: dict[str, Any], _channel: Channel) -> dict[str, Any]:
    """What an event of a form comes to, as the fields of `FormDryRun`."""
    from capability_kit.bundles.bundle import Bundle
    from capability_kit.form_dry_run import dry_run_action

    return asdict(dry_run_action(Bundle.from_answer(request["bundle"]), request["schema_id"], request["event"]))


Operation = Callable[[dict[str, Any], Channel], dict[str, Any]]
_OPERATIONS: Final[Mapping[str, Operation]] = {"check": check, "dry_run": dry_run}


def _find_operation(name: str) -> Operation:
    """One of these, or that of a feature as `package.module:function`; who asks is the product, never a stranger."""
    if name in _OPERATIONS:
        return _OPERATIONS[name]
    module, _, function = name.partition(":")
    found: Operation = getattr(importlib.import_module(module), function)
    return found


def prepare() -> None:
    """Read the rules, compile their patterns and read the model, so that no request pays for it."""
    from capability_rules.validation.security.rule_loader import compile_rules, load_literal_index, load_rule_files
    from capability_rules.validation.security.suspicion import load_model

    for file in load_rule_files():
        compile_rules(file)
    load_literal_index()
    load_model()
    check_in_place({"capability.json": "{}", "skill.md": "# A\n", "tools.json": "[]", "ui_schemas.json": "[]"})


def main() -> None:
    """Answer one request after the other."""
    # Ctrl-C in a terminal reaches it too; it ends with the process that asks it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICENESS)
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES_MAX, _MEMORY_BYTES_MAX))
    prepare()
    try:
        _answer_requests(Channel(sys.stdin.buffer, sys.stdout.buffer))
    except BrokenPipeError:
        # The process that asks was killed; what is still to be written has no reader.
        os._exit(0)


def _answer_requests(channel: Channel) -> None:
    channel.send({"ready": True})
    while (request := channel.receive()) is not None:
        # The default action of SIGPROF ends the process: what runs does not have to agree.
        signal.setitimer(signal.ITIMER_PROF, request.get("cpu_seconds", CPU_SECONDS_MAX))
        result = _find_operation(request["do"])(request, channel)
        signal.setitimer(signal.ITIMER_PROF, 0)
        channel.send({"result": result})


if __name__ == "__main__":
    main()
