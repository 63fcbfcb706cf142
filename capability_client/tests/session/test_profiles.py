"""Users between two conversations."""

from __future__ import annotations

from pathlib import Path

import pytest

from capability_client import FileProfiles, Session, User, remember
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.test_session import ALL


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


def test_a_user_whose_profile_is_damaged_is_introduced_and_the_file_is_kept(tmp_path: Path) -> None:
    profiles = FileProfiles(tmp_path)
    profiles.write(User(user_id="u1", name="Ada"))
    next(tmp_path.iterdir()).write_text('{"name": "A", "role": "admin"}', "utf-8")
    source = FakeRegistry([build_bundle("introduction")], first_run="introduction")
    assert Session(source, environment=ALL, user=profiles.read("u1")).start().kind == "introduced"
    assert [path.suffix for path in tmp_path.iterdir()] == [".damaged"]


@pytest.mark.parametrize("key", ["name", "user/name"])
def test_a_user_whose_name_is_remembered_is_known(tmp_path: Path, key: str) -> None:
    profiles = FileProfiles(tmp_path)
    assert not profiles.read("u1").is_known
    user = remember(profiles, "u1", {key: "Ada", "unit": "kg"})
    assert user.is_known
    assert profiles.read("u1").name == "Ada"
    assert remember(profiles, "u1", {"unit": "lb"}).name == "Ada"


def test_a_profile_without_an_id_is_refused(tmp_path: Path) -> None:
    profiles = FileProfiles(tmp_path)
    with pytest.raises(ValueError, match="needs a user_id"):
        profiles.write(User(name="Ada"))
