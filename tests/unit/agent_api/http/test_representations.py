"""Forms, conditional requests and caching of the two reads."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
import zstandard

from agent_api.http.representations import choose_coding, is_known
from registry.publishing import publication
from registry.snapshot import STORE
from tests.factories import OLGA, bearer, publish, tool
from tests.sweeps import check_each, rolled_back

pytestmark = pytest.mark.django_db

LOAD, LIST = "capability_skill_load?capability_id=alpha", "capability_registry_list"


@pytest.fixture(params=[LIST, LOAD])
def read(request: pytest.FixtureRequest) -> str:
    """The path of a read whose answer is worth compressing."""
    publish(tools=[tool(f"alpha_{number}") for number in range(20)], intent_triggers=[f"t {n}" for n in range(50)])
    name: str = request.param
    return name


def _decoded(response: Any) -> bytes:
    coding = response.headers.get("Content-Encoding", "")
    content: bytes = response.content
    if coding == "gzip":
        return gzip.decompress(content)
    return zstandard.ZstdDecompressor().decompress(content) if coding == "zstd" else content


def test_every_form_holds_the_same_bytes(api: Any, read: str) -> None:
    plain = api.get(read)
    assert "Content-Encoding" not in plain.headers
    for coding in ("gzip", "zstd"):
        response = api.get(read, headers={"Accept-Encoding": coding})
        assert response.headers["Content-Encoding"] == coding
        assert len(response.content) < len(plain.content)
        assert _decoded(response) == plain.content
        assert response.headers["ETag"] != plain.headers["ETag"]


def test_the_form_is_the_best_that_the_client_takes() -> None:
    def check(cell: tuple[str, str]) -> None:
        accept, coding = cell
        assert choose_coding(accept, 10_000) == coding
        assert choose_coding(accept, 100) == ""

    check_each(
        [
            ("", ""),
            ("gzip", "gzip"),
            ("zstd", "zstd"),
            ("gzip, zstd", "zstd"),
            ("GZIP", "gzip"),
            ("gzip;q=0", ""),
            ("gzip;q=0.5, zstd;q=0.4", "gzip"),
            ("gzip; q=1.0 , zstd;q=0", "gzip"),
            ("*", "zstd"),
            ("*;q=0", ""),
            ("gzip, *;q=0", "gzip"),
            ("identity", ""),
            ("identity;q=0.5, gzip;q=0.4", ""),
            ("br", ""),
            ("deflate, br", ""),
            ("gzip, deflate, br, zstd", "zstd"),
            ("gzip;q=x", ""),
            ("gzip;q=nan", ""),
            (",,;;==", ""),
            ("a" * 9000, ""),
        ],
        check,
        isolate=rolled_back,
    )


def _tags(etag: str) -> list[str]:
    bare = etag.strip('"')
    return [
        etag,
        f"W/{etag}",
        f'"{bare}-gzip"',
        f'W/"{bare}-gzip"',
        f'"{bare}-zstd"',
        f'"{bare}--gzip"',
        f'"{bare};br"',
        f'"other", {etag}',
        f'W/"a",W/"{bare}"',
        "*",
        " * ",
    ]


def test_any_form_of_the_entity_tag_is_recognised(api: Any, read: str) -> None:
    etag = api.get(read).headers["ETag"]
    for tag in _tags(etag):
        for accept in ("", "gzip", "zstd"):
            response = api.get(read, headers={"If-None-Match": tag, "Accept-Encoding": accept})
            assert (response.status_code, response.content) == (304, b""), tag
            assert response.headers["ETag"].startswith(etag[:-1])
            assert response.headers["Vary"] == "Authorization, Accept-Encoding"
            assert response.headers["Cache-Control"]
            assert "Content-Type" not in response.headers
            assert "Content-Encoding" not in response.headers


@pytest.mark.parametrize("tag", ['"other"', '""', "", "x", '"', 'W/"', '"\xe9"', "W/*", '"*"'])
def test_another_entity_tag_is_answered(api: Any, read: str, tag: str) -> None:
    assert api.get(read, headers={"If-None-Match": tag}).status_code == 200


def test_a_part_of_the_entity_tag_is_not_it() -> None:
    assert not is_known('"abc"', "abcdef")
    assert not is_known('"abcdefgh"', "abcdef")
    assert is_known('"abcdef-gzip"', "abcdef")


def test_a_strong_entity_tag_moves_with_the_content_alone(api: Any) -> None:
    publish()
    before = {name: api.get(name).headers["ETag"] for name in (LIST, LOAD)}
    bearer("read")
    assert {name: api.get(name).headers["ETag"] for name in (LIST, LOAD)} == before
    publish("beta")
    assert api.get(LOAD).headers["ETag"] == before[LOAD]
    assert api.get(LIST).headers["ETag"] != before[LIST]
    publish(body="Two.")
    assert api.get(LOAD).headers["ETag"] != before[LOAD]
    assert all(not tag.startswith("W/") for tag in before.values())


def test_what_stopped_is_not_answered_from_a_cache(api: Any) -> None:
    publish()
    etag = api.get(LOAD).headers["ETag"]
    publication.retire(capability_id="alpha", by=OLGA)
    api.error(api.get(LOAD, headers={"If-None-Match": etag}), 404, "CAPABILITY_NOT_FOUND")
    api.error(api.get(LOAD, headers={"If-None-Match": "*"}), 404, "CAPABILITY_NOT_FOUND")


def test_caches_are_told_who_may_keep_what(api: Any, read: str) -> None:
    public, private = api.get(read), api.get(read, headers=bearer("read"))
    assert public.headers["Cache-Control"] == "public, max-age=0, must-revalidate"
    assert private.headers["Cache-Control"] == "private, no-cache"
    for response in (public, private):
        assert response.headers["Vary"] == "Authorization, Accept-Encoding"
        assert "immutable" not in response.headers["Cache-Control"]
        assert "Set-Cookie" not in response.headers
        assert "Warning" not in response.headers


def test_head_has_the_headers_of_get(api: Any, read: str) -> None:
    get, head = (api.call(method, read, headers={"Accept-Encoding": "gzip"}) for method in ("GET", "HEAD"))
    assert head.status_code == 200
    assert head.content == b""
    for name in ("ETag", "Content-Type", "Content-Encoding", "Cache-Control", "Vary", "Content-Length"):
        assert head.headers[name] == get.headers[name]
    assert api.call("HEAD", read, headers={"If-None-Match": get.headers["ETag"]}).status_code == 304


def test_a_posted_load_is_never_a_304(api: Any) -> None:
    publish()
    response = api.post("capability_skill_load", {"capability_id": "alpha"}, headers={"If-None-Match": "*"})
    api.ok(response, "skill_load")


def test_a_warm_read_asks_no_database(api: Any, read: str, django_assert_num_queries: Any) -> None:
    key = bearer("read")
    api.get(read, headers=key)
    STORE.is_watched = True
    with django_assert_num_queries(0):
        for headers in ({}, key, {"Accept-Encoding": "gzip"}, {"If-None-Match": "*"}):
            assert api.get(read, headers=headers).status_code in (200, 304)
        api.get("capability_skill_load?capability_id=nobody")
        api.get(f"{LIST}?fields=minimal&os=linux")


def test_a_stale_answer_says_so(api: Any, read: str) -> None:
    api.get(read)
    STORE.is_watched, STORE.failed_at = True, 1.0
    assert api.get(read).headers["Warning"].startswith("110 ")
