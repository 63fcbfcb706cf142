"""What the programs of these tests have in common: import it first, since before it no model can be imported.

A program is called as `NAME.py VERB ARGUMENT...` and prints a JSON object. `kill_at` is the one way in which they die.
"""

# ruff: noqa: E402 (Django is set up before its models can be imported)

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, Literal, NoReturn

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")

import django

django.setup()

from capability_rules.validation.isolation import pool

# Bundles of our own: a process to check them in takes longer to start than all else here.
pool.use_processes(0)


def run(*verbs: Callable[..., dict[str, Any]]) -> None:
    """Call the one that the command line names, and print what it answers."""
    verb, *arguments = sys.argv[1:]
    print(json.dumps({each.__name__: each for each in verbs}[verb](*arguments)))


def kill_at(owner: Any, name: str, when: Literal["before", "after"], *, call: int = 1) -> None:
    """Have the call of this number of a function be the last thing that the process does."""
    step, calls = getattr(owner, name), itertools.count(1)

    def dying(*args: Any, **kwargs: Any) -> Any:
        is_last = next(calls) == call
        if is_last and when == "before":
            _die()
        value = step(*args, **kwargs)
        if is_last:
            _die()
        return value

    setattr(owner, name, dying)


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("it lives on")
