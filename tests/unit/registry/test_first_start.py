"""What a new registry needs is made once."""

from __future__ import annotations

import pytest

from registry import publishing
from registry.access.keys import hash_key
from registry.first_start import FIRST_OPERATOR, make_first_things
from registry.models import AgentKey, Capability, Operator
from registry.snapshot.content import read_principals
from tests.factories import OLGA
from tests.servers import ROOT

pytestmark = pytest.mark.django_db


def test_the_first_start_makes_an_operator_a_key_and_the_examples() -> None:
    made = make_first_things(examples=ROOT / "examples")
    operator = Operator.objects.get(username=FIRST_OPERATOR)
    assert made.password is not None
    assert made.agent_key is not None
    assert operator.check_password(made.password)
    assert (operator.role, operator.must_change_password) == ("admin", True)
    assert hash_key(made.agent_key) in read_principals()
    assert {result.status for result in made.examples} == {"published"}
    assert not [finding for result in made.examples for finding in result.findings]
    assert len(made.examples) == 7


def test_a_second_start_changes_nothing() -> None:
    make_first_things(examples=ROOT / "examples")
    publishing.retire(capability_id="weights", by=OLGA)
    again = make_first_things(examples=ROOT / "examples")
    assert (again.password, again.agent_key, again.examples) == (None, None, ())
    assert Capability.objects.get(capability_id="weights").status == "retired"


def test_examples_can_be_left_out() -> None:
    assert make_first_things(examples=None).examples == ()
    assert not Capability.objects.exists()
    assert AgentKey.objects.count() == 1
