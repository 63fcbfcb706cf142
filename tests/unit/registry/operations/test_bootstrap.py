"""What a new registry needs is made once, and not without being shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.access import operators
from registry.access.agent_keys import hash_key
from registry.catalog import first_run
from registry.models import AgentKey, Capability, Draft, Operator, Release, Revision
from registry.operations.bootstrap import (
    FIRST_OPERATOR,
    InitialCredentials,
    create_initial_data,
    is_waiting_for_first_sign_in,
)
from registry.publishing import publication
from registry.snapshot.snapshot import read_principals
from tests.factories import OLGA, tampering
from tests.servers import ROOT

pytestmark = pytest.mark.django_db


def start(*, examples: Path | None = ROOT / "examples") -> InitialCredentials:
    made: list[InitialCredentials] = []
    create_initial_data(examples=examples, tell=made.append)
    (only,) = made
    return only


def test_the_first_start_makes_an_operator_a_key_and_the_examples() -> None:
    made = start()
    operator = Operator.objects.get(username=FIRST_OPERATOR)
    assert made.password is not None
    assert made.agent_key is not None
    assert operator.check_password(made.password)
    assert (operator.role, operator.must_change_password) == ("admin", True)
    assert hash_key(made.agent_key) in read_principals()
    assert {result.status for result in made.examples} == {"published"}
    assert not [finding for result in made.examples for finding in result.findings]
    assert len(made.examples) == 7


def test_the_first_start_names_the_introduction_for_new_users_and_a_later_one_leaves_it() -> None:
    start()
    assert first_run.get_first_run() == "introduction"
    first_run.set_first_run(capability_id="", by=OLGA)
    start()
    assert first_run.get_first_run() == ""


def test_without_the_examples_nothing_is_named_for_new_users() -> None:
    start(examples=None)
    assert first_run.get_first_run() == ""


def test_a_second_start_changes_nothing() -> None:
    start()
    publication.retire(capability_id="weights", by=OLGA)
    assert start() == InitialCredentials(None, None, ())
    assert Capability.objects.get(capability_id="weights").status == "retired"


@pytest.mark.both_databases
def test_deleted_examples_never_return() -> None:
    start()
    first_run.set_first_run(capability_id="", by=OLGA)
    with tampering():
        Release.objects.all().delete()
    Capability.objects.update(status="draft", published_revision=None)
    Draft.objects.all().delete()
    with tampering():
        Revision.objects.all().delete()
    Capability.objects.all().delete()
    assert start().examples == ()
    assert not Capability.objects.exists()


def test_what_cannot_be_shown_is_not_stored() -> None:
    def fail(_: InitialCredentials) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        create_initial_data(examples=ROOT / "examples", tell=fail)
    assert not Operator.objects.exists()
    assert not AgentKey.objects.exists()
    assert not Capability.objects.exists()
    assert start().password is not None


def test_examples_can_be_left_out_and_published_later() -> None:
    assert start(examples=None).examples == ()
    assert not Capability.objects.exists()
    assert AgentKey.objects.count() == 1
    assert len(start().examples) == 7


@pytest.mark.both_databases
def test_the_first_operator_is_waited_for_until_the_password_is_changed() -> None:
    assert not is_waiting_for_first_sign_in()
    start(examples=None)
    assert is_waiting_for_first_sign_in()
    operators.set_password(username=FIRST_OPERATOR, password="correct horse battery", by=OLGA)
    assert not is_waiting_for_first_sign_in()
