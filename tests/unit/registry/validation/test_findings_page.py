from pathlib import Path

import pytest

from registry.validation.codes import all_codes
from registry.validation.findings_page import findings_page

PAGE = Path(__file__).parents[4] / "docs" / "findings.md"


def test_the_committed_page_is_what_the_tables_say() -> None:
    assert PAGE.read_text("utf-8") == findings_page(), "run: python3 run.py manage findings_page"


@pytest.mark.parametrize("code", sorted(all_codes()))
def test_every_code_has_its_section_with_cause_example_and_mend(code: str) -> None:
    section = PAGE.read_text("utf-8").split(f"### {code}\n")[1].split("\n#")[0]
    row = all_codes()[code]
    assert row.cause in section
    assert f"- Example: {row.example}" in section
    assert f"- Mend: {row.mend}" in section
    assert all(len(text.strip()) > 3 for text in (row.cause, row.mend))
