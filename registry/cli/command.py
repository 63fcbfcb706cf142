"""What the commands share: verbs as sub-parsers, one JSON document or text, refusals without a stack trace."""

from __future__ import annotations

import argparse
import getpass
import itertools
import json
import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, InterfaceError

from capability_rules.errors import RegistryError, RegistryUnavailable
from capability_rules.output.text import TerminalStyle, escape_controls
from registry.common import database_errors
from registry.common.actors import Actor
from registry.common.installation import PROGRAM

Handler = Callable[[dict[str, Any]], int]


def terminal_actor() -> Actor:
    """The person at the terminal, by login name."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = "unknown"
    return Actor("command_line", _text(name)[:150])


def pick(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """These options as arguments of a write, with who makes it."""
    return {"by": terminal_actor(), **{name: options[name] for name in names}}


def add_format_choices(parser: argparse.ArgumentParser, formats: list[str]) -> None:
    """Let `--format` of a verb take these."""
    for action in parser._actions:  # noqa: SLF001 (argparse offers no other way to widen an option)
        if action.dest == "format":
            action.choices = formats


def format_moment(at: datetime | None) -> str | None:
    """To the second, as rows show it."""
    return at.isoformat(timespec="seconds") if at else None


def _text(value: str) -> str:
    """What came from the system's own encoding, with U+FFFD for bytes that were not text there."""
    return value.encode("utf-8", errors="replace").decode("utf-8")


def _unusable(error: Exception) -> str:
    outage = database_errors.classify_error(error)
    if outage in database_errors.PERSISTENT_OUTAGES:
        return outage.sentences(error)
    return f"The database cannot be used: {str(error).strip().rstrip('.')}. Run: {PROGRAM} manage migrate"


class SubcommandBase(BaseCommand):
    """A command with verbs. A handler returns the exit code: 0 done, 1 refused; argparse exits with 2."""

    requires_system_checks: list[str] = []
    # Known before the arguments are understood.
    wants_json = False

    def run_from_argv(self, argv: list[str]) -> None:
        self.wants_json = "--format=json" in argv or ("--format", "json") in itertools.pairwise(argv)
        super().run_from_argv(argv)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        self._tell_errors_of(parser)
        return parser

    def _tell_errors_of(self, parser: argparse.ArgumentParser) -> None:
        end = parser.error

        def error(message: str) -> None:
            self.tell_misuse(message)
            end(message)

        parser.error = error  # type: ignore[method-assign, assignment]

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=argparse.ArgumentParser)
        self.add_verbs(verbs)

    def add_verbs(self, verbs: Any) -> None:
        raise NotImplementedError

    def verb(self, verbs: Any, name: str, handler: Handler, help_text: str, *names: str) -> argparse.ArgumentParser:
        """Declare a verb with its positional arguments by `names`, and with the options that all verbs have."""
        parser: argparse.ArgumentParser = verbs.add_parser(name, help=help_text, description=help_text)
        self._tell_errors_of(parser)
        parser.add_argument("--format", choices=["text", "json"], default="text", help="json: one document on stdout")
        parser.set_defaults(handler=handler)
        for argument in names:
            parser.add_argument(argument, metavar="ID" if argument == "capability_id" else None)
        return parser

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 (Django's signature)
        # Django colors all of it on a terminal, whatever NO_COLOR says.
        self.stderr.style_func = None
        if isinstance(options.get("note"), str):
            options["note"] = _text(options["note"])
        try:
            code = options["handler"](options)
        except RegistryError as error:
            code = self.refuse(error, options)
        except (DatabaseError, InterfaceError) as error:
            code = self.refuse(RegistryUnavailable(_unusable(error)), options)
        except BrokenPipeError:
            code = 1
        if code:
            sys.exit(code)

    def refuse(self, error: RegistryError, options: dict[str, Any]) -> int:
        """Print why it failed, in the requested format."""
        if options["format"] != "json":
            self.complain(error)
            for suggestion in error.extra.get("suggestions", []):
                self.stderr.write(f"  did you mean {suggestion['capability_id']}?")
        else:
            self.document({"error": {"code": error.code, "message": error.message, **error.extra}})
        return 1

    def report_usage_error(self, words: str, options: dict[str, Any]) -> int:
        """Arguments that do not go together; the exit code that argparse has for such."""
        self.wants_json = options["format"] == "json"
        self.tell_misuse(words)
        self.stderr.write(words)
        return 2

    def tell_misuse(self, words: str) -> None:
        """With `--json`, print the one JSON document here too."""
        if self.wants_json:
            self.document({"error": {"code": "INVALID_REQUEST", "message": words}})

    def tell(self, document: dict[str, Any], words: str | Iterable[str], options: dict[str, Any]) -> int:
        """Print the document or, as text, a line or several, as requested; returns the exit code of success."""
        if options["format"] == "json":
            self.document(document)
        else:
            self.lines(map(escape_controls, [words] if isinstance(words, str) else words))
        return 0

    def complain(self, error: RegistryError) -> None:
        self.stderr.write(
            f"{TerminalStyle(sys.stderr)('error', 'error')}[{error.code}] {escape_controls(error.message)}"
        )

    def document(self, value: dict[str, Any]) -> None:
        """The one JSON document of a call; a path that is not text in the system's encoding shows U+FFFD there."""
        self.stdout.write(_text(json.dumps(value, indent=2, ensure_ascii=False)))

    def lines(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.line(text)

    def line(self, text: str) -> None:
        self.stdout.write(text)
