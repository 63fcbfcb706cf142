"""The share that passed, by revision."""

from __future__ import annotations

import pytest
from django.utils import timezone

from features.evaluations.models import EvaluationResult, EvaluationRun
from features.evaluations.revision_chart import HEIGHT, WIDTH, build_revision_chart
from registry.core.queries import get_capability
from tests.factories import publish
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db


def _run(digest: str, passed: int, *, model: str = "small", state: str = "done") -> None:
    run = EvaluationRun.objects.create(
        capability=get_capability("alpha"), side="draft", digest=digest, model=model, total=4, created_by="x",
        state=state, finished_at=timezone.now() if state == "done" else None,
    )  # fmt: skip
    for number in range(4):
        failures = [] if number < passed else ["no"]
        EvaluationResult.objects.create(run=run, case="a", case_digest="d", repetition=number, failures=failures)


def _digests() -> list[str]:
    for body in ("One.", "Two.", "Three."):
        publish(body=body)
    return list(get_capability("alpha").revisions.order_by("number").values_list("digest", flat=True))


@pytest.mark.both_databases
def test_the_last_run_of_each_revision_is_drawn_with_its_interval() -> None:
    first, second, third = _digests()
    assert build_revision_chart(get_capability("alpha")) is None
    _run(first, 0)
    _run(first, 1)
    _run(third, 4, model="large")
    _run(second, 4, state="running")
    _run("sha256:of a draft", 4)
    _run(third, 3)
    chart = build_revision_chart(get_capability("alpha"))
    assert chart is not None
    assert chart.model == "small"
    assert [(bar.number, bar.summary.rate.passed) for bar in chart.bars] == [(1, 1), (3, 3)]
    one, other = chart.bars
    assert (one.y, other.y, other.height) == (HEIGHT * 0.75, HEIGHT * 0.25, HEIGHT * 0.75)
    assert one.high < one.y < one.low
    assert 0 < one.x < one.x + one.width < other.x < other.x + other.width < WIDTH


def test_the_page_has_it_as_a_picture_and_as_a_table(signed_in: SignIn) -> None:
    first, *_others = _digests()
    client = signed_in("viewer")
    assert "Passed by revision" not in client.get("/capabilities/alpha/evaluations/").content.decode()
    _run(first, 2)
    shown = " ".join(client.get("/capabilities/alpha/evaluations/").content.decode().split())
    assert "Revision 1: 2 of 4, 95 %: 15 to 85 %" in shown
    assert "15 to 85 % </td>" in shown
