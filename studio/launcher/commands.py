"""The command line of `run.py`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from registry.common.installation import DATA_DIR_PARENT
from studio.config.environment import VARIABLES, ConfigurationError, StudioEnvironment, read_environment
from studio.launcher.console import Refusal, print_answer, say
from studio.launcher.manage import manage_command
from studio.launcher.virtualenv import Virtualenv, choose_lock

ROOT = Path(__file__).resolve().parent.parent.parent
HELP = """\
python3 run.py                      set up where needed, start the server and the worker, print the address
python3 run.py test [ARGS]          run the test suite on SQLite and PostgreSQL; ARGS go to pytest
                     --all          the slow tests too: browsers, servers, this program itself
                     --rare         what a release needs too: wheels, third-party clients, corpora
                     --no-skips     a test that is skipped for want of a program is a failure
python3 run.py manage ARGS...       run manage.py inside .venv
python3 run.py secrets ADDRESS      write .env for docker compose, with new random secrets; ADDRESS is PUBLIC_URL
python3 run.py lock [ARGS]          refresh requirements*.lock from pyproject.toml; ARGS go to uv, as --upgrade
python3 run.py sbom [LOCK]          print the bill of materials of requirements.lock (CycloneDX), without network
python3 run.py release              check that this checkout can be released, and print the commands that publish it
python3 run.py --verbose [...]      show all that pip says
python3 run.py --help               this page

Settings come from the environment, docs/settings.md says what they do:
""" + "\n".join(textwrap.wrap(", ".join(VARIABLES) + ".", 112))


class Interrupted(BaseException):
    """A signal asked us to stop before anything was served."""


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit code: 0 done, 1 failed, 2 an invalid setting or command."""
    verbose = arguments[:1] == ["--verbose"]
    rest = list(arguments[1:] if verbose else arguments)
    return guard_command(lambda: _dispatch(rest, Virtualenv(ROOT, verbose=verbose)))


def guard_command(command: Callable[[], int]) -> int:
    """The exit code of a command; what stops it is said in a sentence."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return command()
    except ConfigurationError as error:
        say(str(error))
        return 2
    except Refusal as refusal:
        say(str(refusal))
        return refusal.exit_code
    except (KeyboardInterrupt, Interrupted):
        say("Interrupted. The next start takes up the work again.")
        return 130


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise Interrupted


def _dispatch(arguments: list[str], setup: Virtualenv) -> int:
    command, *rest = arguments or ["serve"]
    if command == "serve":
        # Each verb imports what it needs alone: a start must be quick.
        from studio.launcher.serving import serve

        return serve(setup, read_settings())
    if command == "manage":
        return _manage(setup, rest)
    if command == "test":
        from studio.launcher.test_runner import run_tests

        return run_tests(setup, rest)
    if command == "secrets":
        from studio.launcher.env_file import write_compose_env

        return write_compose_env(ROOT, rest)
    if command == "lock":
        from studio.launcher.lockfiles import refresh_locks

        return refresh_locks(ROOT, rest)
    if command == "sbom":
        from studio.launcher.sbom import write_sbom

        print_answer(write_sbom(ROOT, rest))
        return 0
    if command == "release":
        from studio.launcher.release import release

        return release(setup, rest)
    if command in {"-h", "--help", "help"}:
        print_answer(HELP)
        return 0
    raise Refusal(f"Unknown command '{command}'.\n\n{HELP}", exit_code=2)


def read_settings() -> StudioEnvironment:
    """Read every setting, and print the warnings. Raises ConfigurationError."""
    environment = read_environment(os.environ, base_dir=DATA_DIR_PARENT)
    for warning in environment.warnings:
        say(f"Warning: {warning}")
    return environment


def _manage(setup: Virtualenv, arguments: Sequence[str]) -> int:
    """Become manage.py, so that its input, output, signals and exit code are the command's own."""
    lock = choose_lock(read_settings())
    command = manage_command(setup.ensure(lock), *arguments)
    if os.name != "nt":
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(command[0], command)
    return subprocess.call(command)
