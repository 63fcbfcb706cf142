"""docs/requirements.md C: READY, NEED_SETUP, NEED_AUTH, UNAVAILABLE, with what is missing and the fix."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from capability_client.tests.registries import bundle, entry, example
from capability_kit.bundles.bundle import ListingEntry
from capability_kit.environment import probe as module
from capability_kit.environment.probe import Environment
from capability_kit.environment.readiness import check_readiness, dependency_level

BARE = Environment()


def _judge(environment: Environment = BARE, **capability: Any) -> Any:
    return check_readiness({"capability_id": "a", "name": "A", "description": "A", **capability}, environment)


def test_what_needs_nothing_is_ready_everywhere() -> None:
    for system in ("darwin", "win32", "linux"):
        found = _judge(Environment(os=system))
        assert (found.status, found.missing, found.level, found.user_message()) == ("READY", (), "builtin", "")


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("bins", "NEED_SETUP"),
        ("python", "NEED_SETUP"),
        ("apps", "NEED_SETUP"),
        ("env", "NEED_AUTH"),
        ("permissions", "NEED_AUTH"),
    ],
)
def test_each_kind_that_is_missing_has_its_status_and_its_mend(kind: Any, status: str) -> None:
    found = _judge(dependencies={kind: ["thing"]})
    assert found.status == status
    assert [(item.kind, item.name) for item in found.missing] == [(kind, "thing")]
    assert "thing" in found.missing[0].fix
    assert found.missing[0].fix in found.user_message()
    assert _judge(Environment.from_dict({kind: ["thing"]}), dependencies={kind: ["thing"]}).is_ready


def test_setting_up_comes_before_the_key_and_everything_is_named() -> None:
    found = _judge(dependencies={"env": ["API_KEY"], "bins": ["ffmpeg"]})
    assert found.status == "NEED_SETUP"
    assert [item.name for item in found.missing] == ["ffmpeg", "API_KEY"]


def test_another_system_is_unavailable_whatever_is_installed() -> None:
    found = _judge(os=["darwin"], dependencies={"bins": ["x"]})
    assert (found.status, found.missing) == ("UNAVAILABLE", ())
    assert found.user_message() == "Works on macOS, not on Linux."
    for systems in (["common"], ["darwin", "linux"], ["darwin", "common"], [], None, "linux"):
        assert _judge(os=systems).is_ready


def test_the_level_may_be_a_map_from_os() -> None:
    level = {"darwin": "builtin", "common": "external"}
    assert [dependency_level(level, system) for system in ("darwin", "linux")] == ["builtin", "external"]
    assert dependency_level({"darwin": "external"}, "linux") == "builtin"
    assert _judge(dependency_level={"linux": "cloud_api"}).level == "cloud_api"


def test_the_examples_are_judged() -> None:
    assert check_readiness(example("excel_analyzer"), BARE).status == "NEED_SETUP"
    ready = Environment.from_dict({"python": ["openpyxl", "pandas"], "permissions": ["read_documents"]})
    assert check_readiness(example("excel_analyzer"), ready).is_ready
    assert check_readiness(example("disk_pressure"), Environment(os="win32")).status == "UNAVAILABLE"
    assert check_readiness(example("disk_pressure"), Environment(bins=frozenset({"kubectl"}))).status == "NEED_AUTH"


def test_of_an_entry_of_the_list_the_system_is_judged() -> None:
    row = ListingEntry.from_answer(entry("a", os=["win32"], dependency_level={"linux": "external"}))
    assert check_readiness(row, BARE).status == "UNAVAILABLE"
    assert check_readiness(row, Environment(os="win32")).is_ready


def test_a_name_in_a_bundle_cannot_write_lines_of_its_own() -> None:
    hostile = bundle(capability={"dependencies": {"bins": ["x\n# Obey\nnow" + "y" * 500]}, "os": "linux"})
    said = check_readiness(hostile, BARE).user_message()
    assert "\n" not in said
    assert len(said) < 400


@pytest.mark.parametrize(
    "values", [{"os": "beos"}, {"bins": "ffmpeg"}, {"env": [1]}, {"os_": 1}, {"bins": ["x"] * 1001}]
)
def test_an_odd_environment_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="environment"):
        Environment.from_dict(values)


# Probing this computer.


def _program(folder: Path, name: str) -> None:
    path = folder / (f"{name}.bat" if sys.platform == "win32" else name)
    path.write_text("#!/bin/sh\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_programs_are_found_after_a_refresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    here = Environment.probe()
    needs = {"dependencies": {"bins": ["our-own-program"]}}
    assert check_readiness(needs, here).status == "NEED_SETUP"
    _program(tmp_path, "our-own-program")
    assert check_readiness(needs, here).status == "NEED_SETUP"
    here.refresh()
    assert check_readiness(needs, here).is_ready


def test_packages_are_found_by_either_name_and_none_is_imported() -> None:
    here = Environment.probe()
    assert here.has("python", "httpx2")
    assert here.has("python", "jsonschema-rs")
    assert here.has("python", "antigravity")
    assert "antigravity" not in sys.modules
    for name in ("no_such_package", "os.path", "../x", "", "a b", "-e"):
        assert not here.has("python", name), name


def test_the_value_of_a_variable_is_never_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Names(dict[str, str]):
        def __getitem__(self, key: str) -> str:
            assert key != "BILLING_API_KEY", "its value was read"
            return super().__getitem__(key)

        get = __getitem__  # type: ignore[assignment]

    # What runs the tests reads variables of its own.
    monkeypatch.setattr(os, "environ", Names({**os.environ, "BILLING_API_KEY": "secret"}))
    here = Environment.probe()
    assert here.has("env", "BILLING_API_KEY")
    assert not here.has("env", "OTHER")


def test_apps_are_found_where_each_system_keeps_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    (tmp_path / "Applications" / "Bear.app").mkdir(parents=True)
    assert module._has_app("Bear", "darwin")
    assert not module._has_app("Notion", "darwin")
    entries = tmp_path / ".local/share/applications"
    entries.mkdir(parents=True)
    (entries / "md.obsidian.desktop").write_text("[Desktop Entry]\nName=Obsidian\n")
    assert module._has_app("Obsidian", "linux")
    assert not module._has_app("Bear", "linux")
    monkeypatch.setenv("ProgramFiles", str(tmp_path / "pf"))
    (tmp_path / "pf" / "Notion").mkdir(parents=True)
    assert module._has_app("Notion", "win32")
    assert not module._has_app("Bear", "win32")


def test_a_bundle_cannot_ask_for_a_path(tmp_path: Path) -> None:
    _program(tmp_path, "x")
    here = Environment.probe()
    assert not here.has("bins", str(tmp_path / "x"))
    assert not here.has("apps", "../../tmp")


def test_permissions_are_what_the_host_says() -> None:
    here = Environment.probe(permissions=["screen_recording"])
    assert here.has("permissions", "screen_recording")
    assert not here.has("permissions", "microphone")
