"""Users between two conversations."""

from __future__ import annotations

from pathlib import Path

import pytest

from capability_client.session import FileProfiles, Session, User, remember
from capability_client.testing import FakeRegistry, build_bundle
from tests.unit.capability_client.test_session import ALL


def test_who_was_introduced_is_greeted_the_next_time(tmp_path: Path) -> None:
    profiles = FileProfiles(tmp_path / "profiles")
    source = FakeRegistry([build_bundle("introduction")], first_run="introduction")
    session = Session(source, environment=ALL, user=profiles.read("../../u1"))
    assert session.start().kind == "introduced"
    for _ in range(2):
        session.turn("hello")
        session.record_reply()
    profiles.write(session.profile())
    remember(profiles, "../../u1", {"unit": "kg"})
    assert [path.parent for path in tmp_path.rglob("*.json")] == [tmp_path / "profiles"], (
        "no id leads out of the folder"
    )
    again = Session(source, environment=ALL, user=profiles.read("../../u1"))
    assert again.start().kind == "greeted"
    assert again.user.context == {"unit": "kg"}
    assert profiles.read("another") == User(user_id="another")


def test_a_damaged_profile_and_one_without_an_id_are_refused(tmp_path: Path) -> None:
    profiles = FileProfiles(tmp_path)
    profiles.write(User(user_id="u1"))
    next(tmp_path.iterdir()).write_text('{"name": "A", "role": "admin"}', "utf-8")
    with pytest.raises(ValueError, match="not a profile"):
        profiles.read("u1")
    with pytest.raises(ValueError, match="needs a user_id"):
        profiles.write(User(name="Ada"))
