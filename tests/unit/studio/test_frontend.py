"""The committed scripts are made from the sources beside them, and say whose work they hold."""

from __future__ import annotations

import hashlib
import json
import re

import pytest

from tests.servers import ROOT

FRONTEND = ROOT / "frontend"
BUILT = ROOT / "studio" / "static" / "studio" / "vendor"


def _sources() -> str:
    names = ["build.mjs", "package.json", "package-lock.json"]
    names += [
        str(path.relative_to(FRONTEND)) for part in ("editor", "surface") for path in (FRONTEND / part).glob("*.js")
    ]
    stamp = hashlib.sha256()
    for name in sorted(names):
        stamp.update(name.encode() + b"\0" + (FRONTEND / name).read_bytes() + b"\0")
    return stamp.hexdigest()


@pytest.mark.parametrize("name", ["editor.js", "a2ui-surface.js"])
def test_a_committed_script_is_of_these_sources(name: str) -> None:
    first = (BUILT / name).read_text("utf-8").split("\n", 1)[0]
    assert f"sha256:{_sources()};" in first, "run `npm ci && npm run build` in frontend/ and commit what it makes"


def test_the_lock_names_no_host_and_pins_what_is_used() -> None:
    lock = json.loads((FRONTEND / "package-lock.json").read_text("utf-8"))
    assert not [name for name, one in lock["packages"].items() if "resolved" in one]
    wanted = json.loads((FRONTEND / "package.json").read_text("utf-8"))
    versions = {**wanted["dependencies"], **wanted["devDependencies"]}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions.values())


def test_the_notices_name_what_the_scripts_hold() -> None:
    notices = (BUILT / "NOTICES.txt").read_text("utf-8")
    for name in ("@codemirror/view", "@lezer/markdown", "@a2ui/lit", "@a2ui/web_core", "lit", "zod", "date-fns"):
        assert f"\n{name} " in notices
