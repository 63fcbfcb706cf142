from pathlib import Path

from capability_rules.validation.codes import list_codes
from capability_rules.validation.findings_reference import render_findings_page
from tests.sweeps import check_each

PAGE = Path(__file__).parents[3] / "docs" / "findings.md"


def test_the_committed_page_is_what_the_tables_say() -> None:
    assert PAGE.read_text("utf-8") == render_findings_page(), "run: python3 run.py manage findings_page"


def test_every_code_has_its_section_with_cause_example_and_fix() -> None:
    page = PAGE.read_text("utf-8")

    def check(code: str) -> None:
        section = page.split(f"### {code}\n")[1].split("\n#")[0]
        row = list_codes()[code]
        assert row.cause in section
        assert f"- Example: {row.example}" in section
        assert f"- Fix: {row.fix}" in section
        assert all(len(text.strip()) > 3 for text in (row.cause, row.fix))

    check_each(sorted(list_codes()), check)
