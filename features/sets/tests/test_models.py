"""Every constraint of the tables bites."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from features.sets import set_store
from features.sets.models import CapabilitySet, SetRevision
from features.sets.tests.documents import COMMAND, document
from tests.factories import publish

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.mark.parametrize("columns", [{"visibility": "secret"}, {"set_id": ""}])
def test_a_row_that_the_code_would_not_write_is_refused(columns: dict[str, Any]) -> None:
    publish("alpha")
    set_store.save_set(document("alpha"), by=COMMAND)
    with pytest.raises(IntegrityError), transaction.atomic():
        CapabilitySet.objects.update(**columns)


def test_a_revision_is_stored_once() -> None:
    publish("alpha")
    row = set_store.save_set(document("alpha"), by=COMMAND)
    with pytest.raises(IntegrityError), transaction.atomic():
        SetRevision.objects.create(of_set=row, number=1, document={}, changes={}, created_by="x")
