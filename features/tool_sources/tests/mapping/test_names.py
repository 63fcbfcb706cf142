import re

import pytest

from features.tool_sources.mapping.names import name_tools, snake_case, suggest_name
from features.tool_sources.operation import ApiOperation


def operation(key: str, name: str = "") -> ApiOperation:
    method, _, path = key.partition(" ")
    return ApiOperation(key, name, is_read=True, method=method, path=path)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("listPetsById", "list_pets_by_id"), ("getHTTPStatus", "get_http_status"), ("pets/list-all", "pets_list_all"),
        ("Übergröße", "ubergrosse"), ("查询", ""), ("v2beta", "v2beta"), ("__a__", "a"),
    ],
)  # fmt: skip
def test_name_in_snake_case(text: str, name: str) -> None:
    assert snake_case(text) == name


@pytest.mark.parametrize(
    ("key", "name", "made"),
    [
        ("GET /pets/{petId}/toys", "", "get_pets_by_pet_id_toys"),
        ("GET /pets", "查询", "get_pets"),
        ("GET /pets", "2faEnable", "get_2fa_enable"),
    ],
)
def test_name_of_an_operation(key: str, name: str, made: str) -> None:
    assert suggest_name(operation(key, name)) == made


def test_name_without_an_ascii_letter_has_a_digest() -> None:
    assert re.fullmatch("tool_[0-9a-f]{8}", suggest_name(operation("GET /查", "查")))


def test_long_names_stay_apart() -> None:
    names = name_tools([operation(f"GET /{'very/' * 30}{end}") for end in "ab"]).values()
    assert len(set(names)) == 2
    assert all(len(name) <= 64 for name in names)


def test_names_that_collide_get_the_path_then_a_number() -> None:
    given = [operation("GET /a", "run"), operation("POST /a", "run"), operation("x", "run")]
    assert list(name_tools(given).values()) == ["run", "post_a", "run_2"]


def test_names_that_others_have_are_not_given() -> None:
    assert list(name_tools([operation("GET /a", "run")], taken={"run", "get_a"}).values()) == ["run_2"]
