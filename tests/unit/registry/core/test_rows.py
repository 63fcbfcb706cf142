"""One row at a time: what is not there is refused, and what is not named is not saved."""

from __future__ import annotations

import pytest

from registry.common.errors import NotFound
from registry.core.rows import get_row, update_row
from registry.models import Team

pytestmark = pytest.mark.django_db


def test_a_missing_row_is_refused_with_the_error_of_the_caller() -> None:
    team = Team.objects.create(name="Ocean", created_by="operator:olga")
    assert get_row(Team.objects.filter(name="Ocean"), NotFound("No such team")) == team
    with pytest.raises(NotFound, match="No such team"):
        get_row(Team.objects.filter(name="Desert"), NotFound("No such team"))


def test_only_the_named_columns_are_saved() -> None:
    team = Team.objects.create(name="Ocean", created_by="operator:olga")
    team.created_by = "operator:pavel"
    update_row(team, name="Sea", description="All the water")
    assert (team.name, team.description) == ("Sea", "All the water")
    assert Team.objects.values_list("name", "description", "created_by").get() == (
        "Sea",
        "All the water",
        "operator:olga",
    )


def test_a_column_that_is_not_there_is_refused() -> None:
    team = Team.objects.create(name="Ocean", created_by="operator:olga")
    with pytest.raises(ValueError, match="colour"):
        update_row(team, colour="blue")
