"""The agent API behind its real server: what only a socket shows."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
import zstandard

from capability_kit.bundles.digest import digest_of_load
from tests.factories import bundle, zip_of
from tests.servers import Studio
from tests.shapes import assert_error, assert_shape

pytestmark = pytest.mark.slow
LIST, LOAD = "/api/v1/capability_registry_list", "/api/v1/capability_skill_load?capability_id=weights"


@pytest.fixture
def client(live_studio: Studio) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=live_studio.url, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def key(live_studio: Studio) -> dict[str, str]:
    """A key that may publish."""
    key = live_studio.manage("agent_key", "create", "pipeline", "--scopes", "read,publish").stdout.strip()
    return {"Authorization": f"Bearer {key}"}


def _raw(studio: Studio, request: bytes) -> tuple[str, dict[str, str], bytes]:
    """Status line, headers and body of a request as it goes over the wire; the connection is closed after it."""
    parts = urlsplit(studio.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=10) as connection:
        connection.sendall(request)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    return status, {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}, body


def _ask(studio: Studio, first_line: str, *headers: str, body: bytes = b"") -> tuple[str, dict[str, str], bytes]:
    host = urlsplit(studio.url).netloc
    lines = [first_line, f"Host: {host}", "Connection: close", *headers]
    return _raw(studio, "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)


def test_list_and_load(client: httpx2.Client) -> None:
    document = client.get(LIST).json()
    assert_shape(document, "registry_list")
    ids = [entry["capability_id"] for entry in document["capabilities"]]
    assert ids == sorted(ids)
    for entry in document["capabilities"]:
        loaded = client.get("/api/v1/capability_skill_load", params={"capability_id": entry["capability_id"]}).json()
        assert_shape(loaded, "skill_load")
        assert entry["digest"] == loaded["digest"] == digest_of_load(loaded)


@pytest.mark.parametrize("path", [LIST, LOAD])
def test_forms_and_conditional_requests(live_studio: Studio, path: str) -> None:
    _, plain_headers, plain = _ask(live_studio, f"GET {path} HTTP/1.1")
    for coding, decode in (("gzip", gzip.decompress), ("zstd", zstandard.ZstdDecompressor().decompress)):
        status, headers, body = _ask(live_studio, f"GET {path} HTTP/1.1", f"Accept-Encoding: {coding}")
        assert status == "HTTP/1.1 200 OK"
        assert headers["content-encoding"] == coding
        assert decode(body) == plain
        assert int(headers["content-length"]) == len(body)
        status, again, body = _ask(live_studio, f"GET {path} HTTP/1.1", f"If-None-Match: {headers['etag']}")
        assert (status, body) == ("HTTP/1.1 304 Not Modified", b"")
        assert again["etag"] == plain_headers["etag"]


@pytest.mark.parametrize("path", [LIST, LOAD, "/api/v1/schema", "/api/v1/docs"])
def test_head_has_no_body_and_the_length_of_get(live_studio: Studio, path: str) -> None:
    _, get, body = _ask(live_studio, f"GET {path} HTTP/1.1")
    status, head, nothing = _ask(live_studio, f"HEAD {path} HTTP/1.1")
    assert (status, nothing) == ("HTTP/1.1 200 OK", b"")
    assert int(head.get("content-length", len(body))) == len(body) == int(get["content-length"])
    assert head.get("etag") == get.get("etag")


def test_a_chunked_body_is_read(live_studio: Studio, client: httpx2.Client) -> None:
    """A client that streams says no length."""

    def chunks() -> Iterator[bytes]:
        yield b'{"capability_id":'
        yield b' "weights"}'

    response = client.post(
        "/api/v1/capability_skill_load", content=chunks(), headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 200, response.text
    assert response.json()["capability_id"] == "weights"


def test_a_body_over_the_limit_is_refused(client: httpx2.Client, key: dict[str, str]) -> None:
    body = b"[" + b" " * (7 * 2**20) + b"]"
    headers = {"Content-Type": "application/json", **key}
    response = client.post("/api/v1/operator/bundle_publish", content=body, headers=headers)
    assert response.status_code == 413
    assert_error(response.json(), "PAYLOAD_TOO_LARGE")

    def endless() -> Iterator[bytes]:
        for _ in range(8):
            yield b" " * 2**20

    response = client.post("/api/v1/operator/bundle_publish", content=endless(), headers=headers)
    assert response.status_code == 413
    assert_error(response.json(), "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
def test_a_method_that_is_lacking(live_studio: Studio, method: str) -> None:
    status, headers, body = _ask(live_studio, f"{method} {LIST} HTTP/1.1")
    assert status.startswith("HTTP/1.1 405")
    assert {word.strip() for word in headers["allow"].split(",")} == {"GET", "HEAD"}
    assert_error(json.loads(body), "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize(
    "path",
    ["/api/v1/%00", "/api/v1/%ff%fe", "/api/v1/x%0d%0ay", "/api/", "/api/v1/..%2f..%2fetc", "/api/v1/" + "x" * 3000],
    ids=lambda path: path[:20],
)
def test_an_odd_address_is_told_in_the_envelope(live_studio: Studio, path: str) -> None:
    for method in ("GET", "POST"):
        status, _, body = _ask(live_studio, f"{method} {path} HTTP/1.1", "Content-Length: 0")
        assert status.startswith("HTTP/1.1 404")
        assert_error(json.loads(body), "NOT_FOUND")


@pytest.mark.parametrize(
    "query",
    [
        "capability_id=%00",
        "capability_id=%ff",
        "capability_id=a&capability_id=b",
        "capability_id",
        "%",
        "&&&",
        "capability_id=" + "x" * 3000,
        "a[]=1",
        "capability_id=weights;x",
    ],
    ids=lambda query: query[:20],
)
def test_an_odd_query_is_no_failure(live_studio: Studio, query: str) -> None:
    status, _, body = _ask(live_studio, f"GET /api/v1/capability_skill_load?{query} HTTP/1.1")
    assert status.split()[1] in ("400", "404")
    assert_shape(json.loads(body), "error")


def test_odd_header_bytes_are_no_failure(live_studio: Studio) -> None:
    for header in (
        "Authorization: Bearer \xe9\xff",
        "If-None-Match: \xe9",
        "Accept-Encoding: \xff;q=\xe9",
        "Cookie: \xff=\x80",
    ):
        status, _, _ = _ask(live_studio, f"GET {LIST} HTTP/1.1", header)
        assert status.split()[1] in ("200", "400", "401")


def test_a_host_that_is_not_ours_is_refused(live_studio: Studio) -> None:
    port = urlsplit(live_studio.url).port
    for path in (LIST, LOAD):
        request = f"GET {path} HTTP/1.1\r\nHost: evil.example:{port}\r\nConnection: close\r\n\r\n"
        status, _, _ = _raw(live_studio, request.encode())
        assert status.split()[1] == "400"


def test_publish_over_http(client: httpx2.Client, key: dict[str, str]) -> None:
    files = bundle("over_http")
    body = {"bundles": [{"path": "x", "files": files}]}
    (row,) = client.post("/api/v1/operator/bundle_publish", json=body, headers=key).json()["results"]
    assert row["status"] == "published"
    headers = {"Content-Type": "application/zip", **key}
    response = client.post("/api/v1/operator/bundle_publish", content=zip_of(files), headers=headers)
    assert response.json()["results"][0]["status"] == "unchanged"
    exported = client.get("/api/v1/operator/bundle_export?capability_id=over_http", headers=key)
    assert exported.headers["Content-Type"] == "application/octet-stream"


@pytest.mark.slow
def test_a_cursor_is_pinned_while_another_process_publishes(
    live_studio: Studio, client: httpx2.Client, tmp_path: Any
) -> None:
    first = client.get(LIST, params={"limit": 2}).json()
    expected = [entry["capability_id"] for entry in client.get(LIST).json()["capabilities"]]
    folder = tmp_path / "aaa"
    folder.mkdir()
    for name, text in bundle("aaa").items():
        (folder / name).write_text(text)
    live_studio.manage("bundle", "publish", str(folder))
    ids, page = [entry["capability_id"] for entry in first["capabilities"]], first
    while page["next_cursor"]:
        page = client.get(LIST, params={"limit": 2, "cursor": page["next_cursor"]}).json()
        assert page["registry_revision"] == first["registry_revision"]
        ids += [entry["capability_id"] for entry in page["capabilities"]]
    assert ids == expected
