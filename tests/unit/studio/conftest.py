"""People who sign in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from registry.access import operators
from registry.models import Operator
from tests import factories
from tests.factories import OLGA
from tests.sessions import confirm_identity
from tests.unit.studio import page_sweep

PASSWORD = "Correct-horse-battery-9"
SignIn = Callable[..., Client]
fresh_process = pytest.fixture(autouse=True)(factories.fresh_process)


@pytest.fixture
def furnished(db: None) -> None:
    """Something on every page."""
    page_sweep.furnish()


def make_operator(role: str, **more: Any) -> Operator:
    """An operator named as the role."""
    return operators.create_operator(username=f"the-{role}", password=PASSWORD, role=role, by=OLGA, **more)


@pytest.fixture
def signed_in(db: None) -> SignIn:
    """Makes an operator of a role and answers a browser in which they are signed in."""

    def sign_in(role: str = "admin", *, enforce_csrf_checks: bool = False, **more: Any) -> Client:
        operator = Operator.objects.filter(username=f"the-{role}").first() or make_operator(role, **more)
        client = Client(enforce_csrf_checks=enforce_csrf_checks)
        client.force_login(operator)
        confirm_identity(client)
        return client

    return sign_in
