"""Calls and what they return, in words."""

from __future__ import annotations

from capability_client.session.own_tools import FORM, LOAD
from registry.authoring.call_words import ShownCall, describe_message, describe_result, describe_values

NAMES = {"visits": "Piano tuning visits", "VisitForm.v1": "Book a visit"}


def test_values_within_others_have_the_names_around_them() -> None:
    given = {"entries": [{"weight_kg": 84.2, "is_new": True}], "tags": ["a", "b"], "note": "", "none": None}
    assert describe_values(given) == (
        ("Entries 1 weight kg", "84.2"),
        ("Entries 1 is new", "yes"),
        ("Tags", "a, b"),
    )


def test_a_result_is_json_or_a_text_and_says_whether_it_is_an_error() -> None:
    assert describe_result('{"error": {"code": "NOT_FOUND"}}') == ((("Error code", "NOT_FOUND"),), True)
    assert describe_result("no slot") == ((("", "no slot"),), False)


def test_calls_that_open_something_name_it() -> None:
    calls = [
        (LOAD, {"capability_id": "visits"}),
        (LOAD, {"capability_id": "away"}),
        (FORM, {"schema_id": "VisitForm.v1", "data": {"street": "Harbor Lane"}}),
        ("visits__visit_book", {"street": "Harbor Lane"}),
        ("odd", "no object"),
    ]
    assert describe_message("agent", "", calls, NAMES).calls == (
        ShownCall("load", "Piano tuning visits", ()),
        ShownCall("load", "away", ()),
        ShownCall("form", "Book a visit", (("Street", "Harbor Lane"),)),
        ShownCall("", "Book visit", (("Street", "Harbor Lane"),)),
        ShownCall("", "Odd", (("", "no object"),)),
    )
