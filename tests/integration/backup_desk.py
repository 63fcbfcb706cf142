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

from registry import audit, drafts, publishing
from registry.access import keys, operators
from registry.first_start import make_first_things
from registry.incidents import open_incident
from registry.models import AuditEvent, Draft, Incident, Operator, Revision
from tests.factories import OLGA, bundle
from tests.servers import ROOT


def _publish(capability_id: str, body: str) -> None:
    outcome = publishing.publish(files=bundle(capability_id, body=body), by=OLGA)
    assert outcome.status == "published", outcome


def fill() -> dict[str, Any]:
    make_first_things(examples=ROOT / "examples", tell=lambda _: None)
    key = keys.create_key(name="agent", by=OLGA, scopes=["read", "publish"])[1]
    keys.create_key(name="old agent", by=OLGA)
    keys.revoke_key(name="old agent", by=OLGA)
    operators.create_operator(username="vera", password="correct horse battery", role="author", by=OLGA)
    for body in ("One.", "Two – “größer” 👋.", "Three."):
        _publish("alpha", body)
    publishing.rollback(capability_id="alpha", to=2, by=OLGA, note="Grüße")
    _publish("beta", "One.")
    publishing.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    _publish("gamma", "One.")
    publishing.retire(capability_id="gamma", by=OLGA)
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
        "audit_holds": audit.first_broken() is None,
        "drafts": list(Draft.objects.filter(discarded_at=None).values_list("capability__capability_id", flat=True)),
        "incidents": Incident.objects.count(),
        "operators": list(Operator.objects.order_by("username").values_list("username", "password")),
        "last_of_alpha": Revision.objects.filter(capability__capability_id="alpha").count(),
    }


if __name__ == "__main__":
    verb, *arguments = sys.argv[1:]
    verbs: dict[str, Callable[..., dict[str, Any]]] = {"fill": fill, "busy": busy, "state": state, "many": many}
    print(json.dumps(verbs[verb](*arguments)))
