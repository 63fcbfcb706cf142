"""Ids and names that pass for published ones."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.validation.security.detectors.confusables import (
    IdIndex,
    check_identity,
    confusable_similarity,
    find_lookalike,
)


def published(ids: Collection[str]) -> ValidationContext:
    return ValidationContext(capability_ids=ids)


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        ("weight_l0g", "weight_log", "error"),
        ("weight_1og", "weight_log", "error"),
        ("weight5", "weights", "error"),
        ("surnmary", "summary", "error"),
        ("weightlog", "weight_log", "error"),
        ("weight_loog", "weight_log", "warning"),
        ("wieght_log", "weight_log", "warning"),
        ("weigt_log", "weight_log", "warning"),
        ("weight_log", "weight_log", None),
        ("weights", "weight", None),
        ("weights_v2", "weights", None),
        ("weights", "weights_v2", None),
        ("weights", "weights5", "warning"),
        ("weights5", "weights", "warning"),
        ("report_2024", "report_2025", None),
        ("report_v1", "report_v2", None),
        ("meal_log", "weight_log", None),
        ("cat", "car", None),
    ],
)
def test_likeness(own: str, other: str, expected: str | None) -> None:
    assert confusable_similarity(own, other) == expected


@pytest.mark.parametrize(
    "name",
    [
        "Admin",
        "ADMIN",
        "\u0430dmin",
        "\uff41dmin",
        "adm\u0456n",
        "adm1n",
        "admln",
        "ad_min",
        "\U0001d41admin",
        "adrnin",
    ],
)
def test_a_name_of_a_person_that_the_eye_takes_for_another(name: str) -> None:
    assert find_lookalike(name, ["root", "admin"]) == "admin"
    assert find_lookalike("admin", ["root", name]) == name


@pytest.mark.parametrize("name", ["admin", "admins", "admin2", "adm", "administrator", "\u00e1dmin", "dmin", "nimda"])
def test_other_names_of_people_are_their_own(name: str) -> None:
    assert find_lookalike(name, ["root", "admin"]) == ""


def test_short_names_differ_by_case_alone() -> None:
    assert find_lookalike("Ada", ["ada"]) == find_lookalike("\u0430da", ["ada"]) == "ada"
    assert find_lookalike("ad4", ["ada"]) == find_lookalike("ann", ["anm"]) == ""


def test_a_lookalike_is_reported_at_the_id() -> None:
    (problem,) = check_identity(
        {"capability_id": "weight_l0g", "name": "Weight"}, published(["meal_log", "weight_log"])
    )
    assert (problem.code, problem.path, problem.severity) == ("SEC_LOOKALIKE_ID", ("capability_id",), "error")


def test_a_new_revision_is_no_lookalike_of_itself() -> None:
    assert check_identity({"capability_id": "weight_log", "name": "Weight log"}, published(["weight_log"])) == []


@pytest.mark.parametrize(
    "name",
    ["W\u0435ight Log", "We\u200bight Log", "Ｗｅｉｇｈｔ Log", "\U0001d416eig\U0001d421t Log", "P\u0430yP\u0430l"],
)
def test_a_name_that_passes_for_another_is_an_error(name: str) -> None:
    (problem,) = check_identity({"capability_id": "other", "name": name}, published(["weight_log"]))
    assert (problem.code, problem.path, problem.severity) == ("SEC_LOOKALIKE_NAME", ("name",), None)


@pytest.mark.parametrize(
    "name",
    [
        "Weight Log",
        "Вес",
        "体重記録",
        "Gewichts-Übersicht",
        "API-ключи",
        "Ωmega",
        "ثبت\u200cوزن",
        "Family 👨\u200d👩\u200d👧",
        "CO₂ log",
    ],
)
def test_an_honest_name_is_left_alone(name: str) -> None:
    assert check_identity({"capability_id": "other", "name": name}, published(["weight_log"])) == []


def test_the_name_it_reads_like_is_said() -> None:
    (problem,) = check_identity({"capability_id": "x_log", "name": "W\u0435ight Log"}, published(["weight_log"]))
    assert "weight_log" in problem.message


def test_junk_is_passed_over() -> None:
    assert check_identity({}, published([])) == []
    assert check_identity({"capability_id": 3, "name": []}, published(["a"])) == []


_IDS = st.text("ab1l_rnmio0", min_size=1, max_size=9)


@given(st.sets(_IDS, max_size=12), _IDS, st.integers(0, 9), st.sampled_from([*"ab1l_5q"]))
def test_the_index_finds_the_ids_that_one_could_be_taken_for(ids: set[str], own: str, place: int, letter: str) -> None:
    # Ids that are one slip from another are rare among random ones: some are made.
    ids |= {own[:place] + letter + own[place:], own[:place] + letter + own[place + 1 :], own[:place] + own[place + 1 :]}
    index = IdIndex(ids)
    alike = {each for each in ids if confusable_similarity(own, each)}
    assert index.near(own) == alike | (ids & {own})
    index.discard(own)
    assert set(index) == ids - {own}
    assert own not in index.near(own)


def test_the_worst_of_several_look_alikes_is_reported() -> None:
    ids = IdIndex(["weighta", "vveights", "weightz"])
    (finding,) = check_identity({"capability_id": "weights"}, published(ids))
    assert (finding.severity, '"vveights"' in finding.message) == ("error", True)
