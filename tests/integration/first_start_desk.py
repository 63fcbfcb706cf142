"""`first_start_desk.py kill STEP` is a first start that kills itself; `facts SECRET...` what a registry has of one."""

from __future__ import annotations

from typing import Any, Literal

from tests.integration import desk  # isort: split

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


def kill(step: str, when: Literal["before", "after"], number: str) -> dict[str, Any]:
    """Such as `example after 4`. The tables are there, so that each commit is one of the first start."""
    desk.kill_at(*STEPS[step], when, call=int(number))
    call_command("prepare")
    return facts()


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


if __name__ == "__main__":
    desk.run(kill, facts)
