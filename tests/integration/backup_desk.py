"""`backup_desk.py fill` puts something into every table, `busy` publishes until its input ends, `state` tells what is
there, `many COUNT` publishes so many small capabilities."""

# ruff: noqa: E402 (Django is set up before its models can be imported)

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")

import django

django.setup()

from capability_rules.validation.isolation import pool

# Bundles of our own: a process to check them in takes longer to start than all else here.
pool.use_processes(0)

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
    verb, *arguments = sys.argv[1:]
    verbs: dict[str, Callable[..., dict[str, Any]]] = {"fill": fill, "busy": busy, "state": state, "many": many}
    print(json.dumps(verbs[verb](*arguments)))
