"""`first_start_desk.py kill STEP` is a first start that kills itself; `facts SECRET...` what a registry has of one."""

# ruff: noqa: E402 (Django is set up before its models can be imported)

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")

import django

django.setup()

from capability_rules.validation.isolation import pool

# Bundles of our own: a process to check them in takes longer to start than all else here.
pool.use_processes(0)

from django.core.management import call_command
from django.core.management.base import OutputWrapper
from django.db import connection

from registry.access import agent_keys, operators
from registry.core import audit
from registry.models import AgentKey, Capability, Operator
from registry.publishing import publication

STEPS: dict[str, tuple[Any, str]] = {
    "operator": (operators, "create_operator"),
    "key": (agent_keys, "create_key"),
    "example": (publication, "publish_validated"),
    "print": (OutputWrapper, "write"),
    "commit": (connection, "_commit"),
}


def dying(step: Callable[..., Any], when: str, number: int) -> Callable[..., Any]:
    """`step`, whose call of this number is the last thing that the process does."""
    calls = itertools.count(1)

    def run(*args: Any, **kwargs: Any) -> Any:
        is_last = next(calls) == number
        if is_last and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        value = step(*args, **kwargs)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return value

    return run


def kill(step: str, when: str, number: str) -> None:
    """Such as `example after 4`. The tables are there, so that each commit is one of the first start."""
    owner, name = STEPS[step]
    setattr(owner, name, dying(getattr(owner, name), when, int(number)))
    call_command("prepare")


def facts(*secrets: str) -> dict[str, Any]:
    """Which of these secrets let somebody in, and what there is."""
    admin = Operator.objects.filter(username="admin").first()
    hashes = set(AgentKey.objects.values_list("key_hash", flat=True))
    return {
        "good": [
            text for text in secrets if agent_keys.hash_key(text) in hashes or (admin and admin.check_password(text))
        ],
        "operators": Operator.objects.count(),
        "keys": AgentKey.objects.count(),
        "published": list(Capability.objects.filter(status="published").values_list("capability_id", flat=True)),
        "audit_broken": audit.find_chain_break() is not None,
    }


def main() -> None:
    verb, *arguments = sys.argv[1:]
    if verb == "kill":
        kill(*arguments)
    print(json.dumps(facts(*arguments)))


if __name__ == "__main__":
    main()
