"""Each constraint of the tables bites."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, models, transaction

from features.clawhub.models import SkillUpload, UploadedSkill
from registry.models import Revision
from tests.factories import publish

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

# What differs from a row that is there.
BITES: dict[str, tuple[type[models.Model], dict[str, Any]]] = {
    "skill_upload_key_not_empty": (SkillUpload, {"key_name": ""}),
    "skill_upload_path_not_empty": (SkillUpload, {"path": ""}),
    "SkillUpload.upload_id": (SkillUpload, {}),
    "uploaded_skill_once": (UploadedSkill, {}),
}


@pytest.mark.parametrize("name", BITES)
def test_a_constraint_bites(name: str) -> None:
    publish()
    SkillUpload.objects.create(key_name="agent", path="SKILL.md", size=1, sha256="0" * 64)
    UploadedSkill.objects.create(revision=Revision.objects.get(), fingerprint="0" * 64)
    model, changes = BITES[name]
    row = model._default_manager.get()
    values = {field.attname: getattr(row, field.attname) for field in model._meta.concrete_fields} | changes
    del values["id"]
    if "upload_id" in values and name != "SkillUpload.upload_id":
        del values["upload_id"]
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        model._default_manager.create(**values)
    # SQLite names the columns of a rule of uniqueness.
    assert name in str(caught.value) or "." in name or name == "uploaded_skill_once"


def test_every_constraint_has_a_case_here() -> None:
    named = {constraint.name for model in (SkillUpload, UploadedSkill) for constraint in model._meta.constraints}
    assert named | {"SkillUpload.upload_id"} == set(BITES)
