"""/admin/: every table of the registry, for admins alone, without secrets, and nothing in it can be changed."""

from __future__ import annotations

import re

import pytest
from django.db import models
from django.test import Client
from django.urls import reverse

from features.webhooks import webhook_store
from registry.access import agent_keys
from registry.feature import list_registry_models
from registry.models import Operator
from studio.admin_site import SECRET_FIELDS, visible_fields
from tests.factories import OLGA, publish
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db

MODELS = list_registry_models()
# Names that sound like a secret and are none.
HARMLESS = {
    *("key_name", "key_prefix", "token_prefix", "dedupe_key", "concurrency_key", "fencing_token", "hash", "key"),
    *("previous_hash", "text_sha256", "sha256", "hook_secret_at", "previous_hook_secret_until"),
    *("previous_secret_until", "must_change_password", "id", "prompt_tokens", "reply_tokens"),
}


def _addresses(model: type[models.Model]) -> tuple[str, str | None]:
    name = model._meta.label_lower.replace(".", "_")
    row = model._default_manager.first()
    changed = reverse(f"admin:{name}_change", args=[row.pk]) if row is not None else None
    return reverse(f"admin:{name}_changelist"), changed


@pytest.mark.slow
def test_an_admin_reads_every_table_and_can_change_none(signed_in: SignIn) -> None:
    client = signed_in("admin")
    publish("alpha")
    key = agent_keys.create_key(name="agent", by=OLGA)[1]
    webhook_store.create_webhook(name="chat", url="https://hooks.example.com/hidden-path", by=OLGA)
    index = client.get("/admin/").content.decode()
    assert "Capabilities" in index
    assert "Tables · Capability Studio" in index
    for model in MODELS:
        listing, row = _addresses(model)
        assert client.get(listing).status_code == 200, listing
        assert client.get(f"{listing}add/").status_code == 403, listing
        if row is None:
            continue
        page = client.get(row)
        assert page.status_code == 200, row
        text = page.content.decode()
        assert "hidden-path" not in text, row
        assert key not in text, row
        assert agent_keys.hash_key(key) not in text, row
        assert 'name="_save"' not in text, row
        before = model._default_manager.filter(pk=model._default_manager.first().pk).values().get()  # type: ignore[union-attr]
        assert client.post(row, {"name": "other"}).status_code == 403, row
        assert client.post(row.replace("/change/", "/delete/"), {"post": "yes"}).status_code == 403, row
        assert model._default_manager.filter(pk=before[model._meta.pk.attname]).values().get() == before, row


def test_secrets_are_no_field_of_any_page() -> None:
    shown = {f"{model.__name__}.{name}" for model in MODELS for name in visible_fields(model)}
    sounds_secret = re.compile(r"secret|password|token|hash|key|code$")
    suspicious = {one for one in shown if sounds_secret.search(one.partition(".")[2])}
    assert {one for one in suspicious if one.partition(".")[2] not in HARMLESS} <= {
        "ReviewEntry.code",
        "Revision.simhash",
        "Acceptance.code",
        "OutcomeReport.code",
    }
    assert not {"OutcomeReport.reason", "OutcomeReport.conversation"} & shown
    names = {field.name for model in MODELS for field in model._meta.concrete_fields}
    assert {name for name in SECRET_FIELDS if "." not in name} <= names


@pytest.mark.parametrize("role", ["viewer", "author", "publisher"])
def test_other_roles_may_not_enter(role: str, signed_in: SignIn) -> None:
    client = signed_in(role)
    assert [client.get(path, follow=True).status_code for path in ("/admin/", "/admin/registry/operator/")] == [
        403,
        403,
    ]


def test_the_studio_signs_in_and_out(client: Client) -> None:
    page = client.get("/admin/registry/operator/", follow=True)
    assert page.redirect_chain[-1][0] == "/sign-in/?next=/admin/registry/operator/"
    assert client.post("/admin/login/", {"username": "vera", "password": "x"})["Location"].startswith("/sign-in/")
    assert client.get("/admin/password_change/", follow=True).redirect_chain[-1][0].startswith("/sign-in/")


def test_a_first_password_opens_nothing(signed_in: SignIn) -> None:
    client = signed_in("admin")
    Operator.objects.update(must_change_password=True)
    assert client.get("/admin/", follow=True).redirect_chain[-1][0] != "/admin/"
