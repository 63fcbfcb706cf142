"""`job_desk.py enqueue KIND PAYLOAD` stores a job as a write does; `job_desk.py parked` what the audit log tells."""

from __future__ import annotations

import json
from typing import Any

from tests.integration import desk  # isort: split

from registry.core import audit
from registry.core.jobs import queue
from registry.core.transactions import write_transaction
from registry.models import AuditEvent


def enqueue(kind: str, payload: str) -> dict[str, Any]:
    with write_transaction():
        job, _ = queue.enqueue(kind, json.loads(payload))
    return {"job_id": job.pk}


def parked() -> dict[str, Any]:
    subjects = AuditEvent.objects.filter(verb="job.park").values_list("subject", flat=True)
    return {"parked": list(subjects), "audit_broken": audit.find_chain_break() is not None}


if __name__ == "__main__":
    desk.run(enqueue, parked)
