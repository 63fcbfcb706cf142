"""docs/webhooks.md: the program that it shows works, and it names every kind of event."""

from __future__ import annotations

import json
import re
from ipaddress import ip_network
from typing import Any

import pytest

from features.webhooks import webhook_store
from features.webhooks.webhook_events import OPT_IN_TYPES, PUBLIC_TYPES
from registry.common.net.webhook_signatures import TEST
from registry.core.jobs import queue
from tests.factories import OLGA, publish
from tests.receivers import Receiver
from tests.servers import ROOT

PAGE = (ROOT / "docs" / "webhooks.md").read_text("utf-8")


def test_the_page_names_every_kind_of_event() -> None:
    table = PAGE.partition("## Events")[2].partition("## Verifying")[0]
    named = re.findall(r"`([a-z_]+\.[a-z_]+)`", "".join(row.split("|")[1] for row in table.splitlines() if "|" in row))
    assert sorted(named) == sorted(PUBLIC_TYPES)
    assert all(f"`{kind}`" in PAGE for kind in (*OPT_IN_TYPES, TEST))


def test_the_schema_describes_every_public_type() -> None:
    schema = json.loads((ROOT / "schemas" / "event.schema.json").read_text("utf-8"))
    assert set(schema["properties"]["type"]["enum"]) == {*PUBLIC_TYPES, TEST}


@pytest.mark.django_db
def test_the_program_that_checks_a_signature(settings: Any) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)
    settings.WEBHOOK_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    receiver = Receiver()
    try:
        _, old = webhook_store.create_webhook(name="chat", url=receiver.url, by=OLGA)
        new = webhook_store.rotate_secret(name="chat", by=OLGA)
        publish()
        assert queue.run_next_job() == "done"
    finally:
        receiver.stop()
    (request,) = receiver.requests
    is_genuine = names["is_genuine"]
    assert is_genuine(old, request.headers, request.body)
    assert is_genuine(new, request.headers, request.body)
    assert not is_genuine(new, request.headers, request.body + b" ")
    assert not is_genuine("whsec_aGVsbG8=", request.headers, request.body)
    late = str(int(request.headers["webhook-timestamp"]) - 301)
    assert not is_genuine(new, {**request.headers, "webhook-timestamp": late}, request.body)
