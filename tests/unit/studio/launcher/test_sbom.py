"""The bill of materials has every pin of the lock with its hashes, and is the same each time."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from studio.launcher.console import Refusal
from studio.launcher.sbom import build_sbom, write_sbom
from tests.servers import ROOT


def test_each_locked_package_is_in_it_with_its_hashes() -> None:
    for name in ("requirements.lock", "requirements-test.lock"):
        lock = (ROOT / name).read_text("utf-8")
        document = json.loads(write_sbom(ROOT, [name]))
        pins = re.findall(r"^([\w.-]+)(?:\[[a-z,]+\])?==([^\s;]+)", lock, re.MULTILINE)
        assert len(pins) > 40
        assert [(one["name"], one["version"]) for one in document["components"]] == pins
        hashes = [one["content"] for component in document["components"] for one in component["hashes"]]
        assert hashes == re.findall(r"sha256:([0-9a-f]{64})", lock)
        assert all(component["hashes"] for component in document["components"])


def test_a_pin_for_some_systems_has_its_condition() -> None:
    lock = 'one_two==1.0 ; sys_platform == "win32" \\\n    --hash=sha256:' + "a" * 64 + "\n"
    (component,) = build_sbom(lock, name="x", version="1")["components"]
    assert component["purl"] == "pkg:pypi/one-two@1.0"
    assert component["properties"] == [{"name": "python:marker", "value": 'sys_platform == "win32"'}]


def test_it_is_the_same_each_time_and_another_for_another_lock() -> None:
    first, again = (build_sbom("a==1\n", name="x", version="1") for _ in range(2))
    assert first == again
    assert build_sbom("a==2\n", name="x", version="1")["serialNumber"] != first["serialNumber"]


def test_a_lock_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"other\.lock does not exist"):
        write_sbom(tmp_path, ["other.lock"])
