"""Each constraint of the tables bites."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, models, transaction

from features.sharing.models import InstallCodeRedemption, ShareLink
from features.sharing.tests.page_rules import furnish
from tests.factories import publish

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

# What differs from a row that is there.
BITES: dict[str, tuple[type[models.Model], dict[str, Any]]] = {
    "share_link_revocation_paired": (ShareLink, {"name": "x", "token_hash": "0", "revoked_by": "operator:olga"}),
    "share_link_shows_one": (ShareLink, {"name": "x", "token_hash": "0", "skill_group": "a", "set_id": "b"}),
    "ShareLink.name": (ShareLink, {"token_hash": "0"}),
    "ShareLink.token_hash": (ShareLink, {"name": "x"}),
    "install_code_redemption_once": (InstallCodeRedemption, {}),
}


@pytest.mark.parametrize("name", BITES)
def test_a_constraint_bites(name: str) -> None:
    publish()
    furnish()
    model, changes = BITES[name]
    row = model._default_manager.get()
    values = {field.attname: getattr(row, field.attname) for field in model._meta.concrete_fields} | changes
    del values["id"]
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        model._default_manager.create(**values)
    # SQLite names the columns of a rule of uniqueness.
    assert name in str(caught.value) or f"{model._meta.db_table}" in str(caught.value)


def test_every_constraint_has_a_case_here() -> None:
    named = {constraint.name for model in (ShareLink, InstallCodeRedemption) for constraint in model._meta.constraints}
    assert named | {"ShareLink.name", "ShareLink.token_hash"} == set(BITES)
