"""`manage.py install_code`, `bundle visibility`, `registry set`."""

from __future__ import annotations

from typing import Any

import pytest

from features.sharing.install_codes import redeem_code
from registry.common.actors import Actor
from registry.models import AuditEvent, Capability
from registry.publishing import publication
from tests.factories import OLGA, agent_key, publish

pytestmark = pytest.mark.django_db


def test_show_and_rotate(manage: Any) -> None:
    publish()
    code = Capability.objects.get().install_code
    assert manage("install_code", "show", "alpha").out == f"{code}\n"
    agent_key(name="guest")
    redeem_code(code=code, by=Actor("agent_key", "guest"))
    shown = manage("install_code", "show", "alpha", "--format", "json").document
    assert (shown["install_code"], shown["visibility"], shown["redemptions"][0]["key"]) == (code, "listed", "guest")
    assert manage("install_code", "show", "alpha", "--redemptions").out.endswith("  guest\n")
    done = manage("install_code", "rotate", "alpha", "--note", "Leaked")
    assert done.out == f"{Capability.objects.get().install_code}\n" != f"{code}\n"
    assert AuditEvent.objects.get(verb="install_code.rotate").detail == {"note": "Leaked"}
    done = manage("install_code", "show", "alfa")
    assert (done.code, "CAPABILITY_NOT_FOUND" in done.err) == (1, True)


def test_visibility(manage: Any) -> None:
    publish()
    assert manage("bundle", "visibility", "alpha", "unlisted", "--note", "Trial").out == "alpha: unlisted\n"
    row = AuditEvent.objects.get(verb="capability.visibility")
    assert {"visibility": "unlisted", "note": "Trial"}.items() <= row.detail.items()
    again = manage("bundle", "visibility", "alpha", "unlisted", "--format", "json").document
    assert again == {"capability_id": "alpha", "visibility": "unlisted"}
    assert AuditEvent.objects.filter(verb="capability.visibility").count() == 1
    assert manage("bundle", "visibility", "alfa", "listed").code == 1


def test_first_run(manage: Any) -> None:
    publish()
    assert manage("registry", "show").out == "first_run: nothing\n"
    assert manage("registry", "set", "first_run", "alpha").out == "first_run: alpha\n"
    assert manage("registry", "show", "--format", "json").document == {"first_run": "alpha"}
    assert manage("registry", "set", "first_run", "").out == "first_run: nothing\n"
    publication.retire(capability_id="alpha", by=OLGA)
    done = manage("registry", "set", "first_run", "alpha")
    assert (done.code, "STATUS_CONFLICT" in done.err) == (1, True)
