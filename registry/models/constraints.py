"""Constraints that many tables have, one function for each kind. Part of `registry.models`."""

from __future__ import annotations

from typing import Any

from django.db.models import CheckConstraint, Q


def check_choice(column: str, values: list[str], *, name: str) -> CheckConstraint:
    """The column has one of these values."""
    return CheckConstraint(condition=Q(**{f"{column}__in": values}), name=name)


def check_paired(column: str, text_column: str, *, name: str) -> CheckConstraint:
    """The column is null exactly where the text beside it is empty."""
    neither = Q(**{f"{column}__isnull": True, text_column: ""})
    both = Q(**{f"{column}__isnull": False}) & ~Q(**{text_column: ""})
    return CheckConstraint(condition=neither | both, name=name)


def check_set_where(column: str, *, name: str, **others: Any) -> CheckConstraint:
    """The column is null except where the others have these values; there it never is."""
    return _check_null(column, name, others, is_null=False)


def check_null_where(column: str, *, name: str, **others: Any) -> CheckConstraint:
    """The column is null where the others have these values, and only there."""
    return _check_null(column, name, others, is_null=True)


def _check_null(column: str, name: str, others: dict[str, Any], *, is_null: bool) -> CheckConstraint:
    there = Q(**others, **{f"{column}__isnull": is_null})
    elsewhere = ~Q(**others) & Q(**{f"{column}__isnull": not is_null})
    return CheckConstraint(condition=there | elsewhere, name=name)
