"""A tool that changes something and is declared `read`: an error where it cannot be undone, else a warning."""

from __future__ import annotations

import pytest

from capability_rules.tests.validation.security.pages import problems_of_page
from capability_rules.validation.security.detectors.policy_mismatch import check_policies


def tool(name: str, description: str = "", kind: str = "read") -> dict[str, object]:
    return {"name": name, "description": description, "policy": {"kind": kind}}


def codes(*tools: object) -> list[str]:
    return [problem.code for problem in check_policies(tools)]


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("account_delete", "Shows the account."),
        ("deleteAccount", ""),
        ("send_email", "E-mail."),
        ("get_and_delete_row", ""),
        ("transfer_funds", "Moves money."),
        ("cleanup", "Permanently deletes all rows."),
        ("tidy", "This tool removes old entries."),
        ("aufraeumen", "Löscht alle Einträge."),
        ("limpiar", "Elimina las filas."),
        ("qingkong", "删除所有记录。"),
        ("ochistka", "Удаляет записи."),
    ],
)
def test_harm_declared_as_reading_is_an_error(name: str, description: str) -> None:
    assert codes(tool(name, description)) == ["SEC_POLICY_LIE"]


@pytest.mark.parametrize("name", ["entry_update", "createEntry", "cancel_order", "book_table", "save_note"])
def test_writing_declared_as_reading_is_a_warning(name: str) -> None:
    assert codes(tool(name)) == ["SEC_POLICY_DOUBT"]


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("list_deleted_items", "Lists what was deleted."),
        ("order_status", "The state of an order."),
        ("get_order", ""),
        ("refund_policy", "The rules for refunds."),
        ("payment_history", "Past payments."),
        ("delete_preview", "Shows what would go."),
        ("remove_stopwords", "Returns a new text without stop words."),
        ("requests_get", "Sends a GET request and returns the body."),
        ("check_sent", "Checks whether a mail was sent."),
        ("simulate_transfer", "Read-only: nothing is transferred."),
    ],
)
def test_reading_is_left_alone(name: str, description: str) -> None:
    assert codes(tool(name, description)) == []


def test_a_write_tool_may_write() -> None:
    assert codes(tool("account_delete", "Deletes.", "write")) == []


def test_junk_is_passed_over() -> None:
    junk: list[object] = [
        None,
        1,
        "x",
        [],
        {},
        {"name": 3, "policy": []},
        {"policy": {"kind": "read"}},
        tool(""),
        {"name": None, "description": [], "policy": {"kind": "read"}},
    ]
    assert codes(*junk) == []


def test_the_place_is_the_kind_of_the_tool() -> None:
    (problem,) = check_policies([tool("a"), tool("row_delete")])
    assert (problem.file, problem.path) == ("tools.json", (1, "policy", "kind"))


def test_a_contract_written_out_in_skill_md_counts_too() -> None:
    found = problems_of_page(
        '```json\n{"name": "account_delete", "description": "Show", "policy": {"kind": "read"}}\n```'
    )
    assert [problem.code for problem in found] == ["SEC_POLICY_LIE"]
