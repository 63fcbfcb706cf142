"""schemas/vectors/: each case is what the Python library makes of it, so that other languages can hold to them."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.schema_loader import SCHEMAS_DIR
from tests.servers import ROOT
from tests.unit.vectors import FOLDER, KINDS, read_vectors

CASES = [(kind, case) for kind in KINDS for case in read_vectors(kind)["cases"]]


@pytest.mark.parametrize(("kind", "case"), CASES, ids=[f"{kind}: {case['name']}" for kind, case in CASES])
def test_a_vector_is_what_the_library_makes(kind: str, case: dict[str, Any]) -> None:
    assert KINDS[kind](case["input"]) == case["expected"], "run: python -m tests.unit.vectors"


def test_every_file_is_named_in_the_readme_and_has_cases_of_its_own() -> None:
    readme = (SCHEMAS_DIR / "README.md").read_text("utf-8")
    assert {path.stem for path in FOLDER.iterdir()} == set(KINDS)
    for kind in KINDS:
        document = read_vectors(kind)
        names = [case["name"] for case in document["cases"]]
        assert len(names) == len(set(names)) >= 4
        assert set(document) == {"about", "cases"}
        assert f"| `{kind}.json` |" in readme
    assert FOLDER.is_relative_to(ROOT)
