"""`backup_desk.py fill` puts something into every table, `busy` publishes until its input ends, `state` tells what is
there, `many COUNT` publishes so many small capabilities."""

from __future__ import annotations

import sys
import threading
from typing import Any

from tests.integration import desk  # isort: split

from registry.access import agent_keys, operators
from registry.catalog import drafts
from registry.catalog.incidents import open_incident
from registry.core import audit
from registry.models import AuditEvent, Draft, Incident, Operator, Revision
from registry.operations.bootstrap import create_initial_data
from registry.publishing import publication
from tests.factories import OLGA, bundle
from tests.servers import ROOT


def _publish(capability_id: str, body: str) -> None:
    outcome = publication.publish(files=bundle(capability_id, body=body), by=OLGA)
    assert outcome.status == "published", outcome


def fill() -> dict[str, Any]:
    create_initial_data(examples=ROOT / "examples", tell=lambda _: None)
    key = agent_keys.create_key(name="agent", by=OLGA, scopes=["read", "publish"])[1]
    agent_keys.create_key(name="old agent", by=OLGA)
    agent_keys.revoke_key(name="old agent", by=OLGA)
    operators.create_operator(username="vera", password="correct horse battery", role="author", by=OLGA)
    for body in ("One.", "Two – “größer” 👋.", "Three."):
        _publish("alpha", body)
    publication.rollback(capability_id="alpha", to=2, by=OLGA, note="Grüße")
    _publish("beta", "One.")
    publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    _publish("gamma", "One.")
    publication.retire(capability_id="gamma", by=OLGA)
    drafts.save_draft(capability_id="delta", files=bundle("delta"), based_on=None, by=OLGA)
    open_incident(
        revision=Revision.objects.get(capability__capability_id="beta"), message="m", details="d", findings=()
    )
    return {"key": key}


def busy() -> dict[str, Any]:
    ended = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait, daemon=True).start()
    number = 0
    while not ended.is_set():
        number += 1
        _publish("busy", f"Number {number}.")
        if number == 3:
            print("begun", flush=True)
    return {"published": number}


def many(count: str) -> dict[str, Any]:
    for number in range(int(count)):
        _publish(f"many_{number}", f"Number {number}. " + "More than a word. " * 400)
    return {}


def state() -> dict[str, Any]:
    busy = Revision.objects.filter(capability__capability_id="busy").values_list("number", "digest")
    return {
        "busy": {str(number): digest for number, digest in busy},
        "audit_rows": AuditEvent.objects.count(),
        "audit_holds": audit.find_chain_break() is None,
        "drafts": list(Draft.objects.filter(discarded_at=None).values_list("capability__capability_id", flat=True)),
        "incidents": Incident.objects.count(),
        "operators": list(Operator.objects.order_by("username").values_list("username", "password")),
        "last_of_alpha": Revision.objects.filter(capability__capability_id="alpha").count(),
    }


if __name__ == "__main__":
    desk.run(fill, busy, state, many)
