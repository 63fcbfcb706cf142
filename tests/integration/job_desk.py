"""`job_desk.py enqueue KIND PAYLOAD` stores a job as a write does; `job_desk.py parked` what the audit log tells."""

from __future__ import annotations

import json
import sys
from typing import Any

import django

django.setup()

from registry.core import audit  # noqa: E402
from registry.core.jobs import queue  # noqa: E402
from registry.core.transactions import write_transaction  # noqa: E402
from registry.models import AuditEvent  # noqa: E402


def enqueue(kind: str, payload: str) -> dict[str, Any]:
    with write_transaction():
        job, _ = queue.enqueue(kind, json.loads(payload))
    return {"job_id": job.pk}


def parked() -> dict[str, Any]:
    subjects = AuditEvent.objects.filter(verb="job.park").values_list("subject", flat=True)
    return {"parked": list(subjects), "audit_broken": audit.find_chain_break() is not None}


def main() -> None:
    verb, *arguments = sys.argv[1:]
    print(json.dumps(enqueue(*arguments) if verb == "enqueue" else parked()))


if __name__ == "__main__":
    main()
