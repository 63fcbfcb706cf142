"""The command `capability-studio`: what an installed wheel is started with, in the place of `run.py`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from registry.common.installation import PACKAGES_DIR
from studio.launcher.commands import guard_command, read_settings
from studio.launcher.console import Refusal, print_answer

# Of Django's commands those that a person runs by name.
_SHORT: Final = ("agent_key", "backup", "bundle", "git_source", "operator", "registry", "webhook", "worker")
HELP: Final = f"""\
capability-studio                    start the server and the worker, print the address
capability-studio serve              the same
capability-studio manage ARGS...     run one of Django's commands, as `manage migrate`
capability-studio COMMAND ARGS...    the same for {", ".join(_SHORT)}
capability-studio --version          print the version
capability-studio --help             this page

A registry is kept in DATA_DIR, which is ./capability-studio-data where it is not set. Other settings come from the
environment as well: docs/settings.md says what they do.
"""


@dataclass(frozen=True)
class InstalledPackages:
    """As a `Virtualenv` that is there already: the environment is the one that the wheel was installed into."""

    root: Path = PACKAGES_DIR

    def ensure(self, lock: str) -> Path:  # noqa: ARG002 (as a Virtualenv)
        return Path(sys.executable)


def main() -> None:
    """The console command. Exit codes: 0 done, 1 failed, 2 an invalid setting or command."""
    sys.exit(guard_command(lambda: _dispatch(sys.argv[1:])))


def _dispatch(arguments: Sequence[str]) -> int:
    command, *rest = arguments or ["serve"]
    if command == "serve":
        # Each verb imports what it needs alone: a start must be quick.
        from studio.launcher.serving import serve

        return serve(InstalledPackages(), read_settings())
    if command == "manage" or command in _SHORT:
        from studio.launcher.manage import main as manage

        os.environ["DATA_DIR"] = str(read_settings().data_dir)
        manage(rest if command == "manage" else [command, *rest])
        return 0
    if command == "--version":
        from importlib.metadata import version

        print_answer(version("capability-studio"))
        return 0
    if command in {"-h", "--help", "help"}:
        print_answer(HELP)
        return 0
    raise Refusal(f"Unknown command '{command}'.\n\n{HELP}", exit_code=2)


if __name__ == "__main__":
    main()
