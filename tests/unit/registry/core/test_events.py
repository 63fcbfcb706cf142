"""One table of the audit log's verbs: the schema of events, and what the code records, agree with it."""

from __future__ import annotations

import re

import pytest
from django.db import transaction

from registry.core import audit
from registry.core.events import EVENTS
from tests.factories import OLGA
from tests.servers import ROOT

_VERB = re.compile(r"""verb(?:: str)?=["']([a-z_]+\.[a-z_]+)["']""")


def test_every_verb_that_is_written_out_has_a_row() -> None:
    sources = [
        path.read_text("utf-8") for name in ("registry", "studio", "agent_api") for path in (ROOT / name).rglob("*.py")
    ]
    written = {verb for source in sources for verb in _VERB.findall(source)}
    assert len(written) > 30
    assert written <= set(EVENTS)


@pytest.mark.django_db
def test_a_verb_without_a_row_is_refused() -> None:
    with transaction.atomic(), pytest.raises(ValueError, match=r"'capability\.vanish' has no row"):
        audit.record(by=OLGA, verb="capability.vanish", subject="alpha")
