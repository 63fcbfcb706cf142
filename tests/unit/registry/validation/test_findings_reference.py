from pathlib import Path

from registry.validation.codes import list_codes
from registry.validation.findings_reference import render_findings_page

PAGE = Path(__file__).parents[4] / "docs" / "findings.md"


def test_the_committed_page_is_what_the_tables_say() -> None:
    assert PAGE.read_text("utf-8") == render_findings_page(), "run: python3 run.py manage findings_page"


def test_every_code_has_its_section_with_cause_example_and_fix() -> None:
    page = PAGE.read_text("utf-8")
    for code, row in list_codes().items():
        section = page.split(f"### {code}\n")[1].split("\n#")[0]
        assert row.cause in section, code
        assert f"- Example: {row.example}" in section, code
        assert f"- Fix: {row.fix}" in section, code
