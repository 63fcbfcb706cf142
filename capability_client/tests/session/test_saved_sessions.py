"""Sessions that earlier versions saved, in `tests/data/sessions`: each was written by the code of its version.

With `SessionOptions(layout=)` "system", or "append" and the secret `s3cret`: weights was loaded and a tool called,
two writes and a question wait, a form is open, disk_pressure was loaded by hand, and meals is disabled.
"""

from __future__ import annotations

import pytest

from capability_client import LocalSkills, Session, SessionFileRefused, SessionOptions
from capability_client.session.options import Layout
from tests.servers import ROOT

SAVED = ROOT / "tests" / "data" / "sessions"
VERSIONS = ("0.2.0", "69368c53")


def _loaded(version: str, layout: Layout, secret: bytes | None) -> Session:
    name = f"{version}-{layout}{'-signed' if secret else ''}.json"
    options = SessionOptions(layout=layout)
    text = (SAVED / name).read_text("utf-8")
    return Session.from_json(text, LocalSkills(ROOT / "examples"), secret=secret, roles=["member"], options=options)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("layout", "secret"), [("system", None), ("append", b"s3cret")])
def test_a_session_of_an_earlier_version_goes_on(version: str, layout: Layout, secret: bytes | None) -> None:
    session = _loaded(version, layout, secret)
    assert (session.session_id, session.number, session.user.name) == (f"s-{layout}", 2, "Alice")
    assert [each.capability_id for each in session.active] == ["weights", "disk_pressure"]
    assert [call.tool for call in session.gate.waiting()].count("weight_entry_save_batch") == 2
    assert session.events[-1].event_id > 5
    assert session.messages[0].text == "I just weighed 187.6 lbs"
    saved = session.approve(session.gate.waiting()[0].call_id, by="alice")
    assert session.run_call(saved.call_id, lambda _call: {"saved": 1}).call.state == "done"
    form = session.open_forms()[0]
    assert form.plain().startswith("Log a weigh-in")
    session.close_form(form.call_id)
    again = Session.from_json(session.to_json(), session.context.source, options=session.options, roles=["member"])
    assert [each.text for each in again.messages] == [each.text for each in session.messages]
    assert "meals" not in again.entries


@pytest.mark.parametrize("version", VERSIONS)
def test_a_session_of_an_earlier_version_needs_its_secret(version: str) -> None:
    with pytest.raises(SessionFileRefused, match="changed or damaged"):
        _loaded_with(version, b"another")


def _loaded_with(version: str, secret: bytes) -> Session:
    text = (SAVED / f"{version}-append-signed.json").read_text("utf-8")
    return Session.from_json(text, LocalSkills(ROOT / "examples"), secret=secret)
