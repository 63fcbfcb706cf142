"""Whatever is sent, nothing is ever a 500, and every answer is JSON of ours."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote_from_bytes

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_api.openapi.document import build_document
from tests.factories import agent_key, bundle, publish, zip_of
from tests.shapes import assert_shape
from tests.sweeps import check_each, rolled_back

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

FUZZ = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
NAMES = [
    "capability_registry_list",
    "capability_skill_load",
    "capability_skill_reload",
    "capability_feedback",
    "capability_install",
    "capability_propose",
    "capability_proposal",
]
OPERATIONS = [
    "bundle_validate",
    "bundle_publish",
    "bundle_import",
    "bundle_rollback",
    "capability_deprecate",
    "capability_retire",
    "capability_restore",
    "draft_save",
    "draft_publish",
]
PARAMETERS = [
    "capability_id",
    "digest",
    "revision",
    "group",
    "os",
    "limit",
    "cursor",
    "fields",
    "updated_since_revision",
    "x",
]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture
def key() -> str:
    """A key that may do everything, so that nothing is refused at the door."""
    publish()
    return agent_key("read", "publish", "feedback", "propose")


def _call(method: str, path: str, key: str, **options: Any) -> Any:
    headers = {"Authorization": f"Bearer {key}"} | options.pop("headers", {})
    response = Client(enforce_csrf_checks=True, raise_request_exception=False).generic(
        method, path, headers=headers, **options
    )
    assert response.status_code < 500, (response.status_code, response.content[:500])
    if response.status_code >= 400 and method != "HEAD":
        assert_shape(json.loads(response.content), "error")
    return response


@FUZZ
@given(path=st.binary(max_size=60), method=st.sampled_from(["GET", "POST", "HEAD", "DELETE"]))
def test_any_path(key: str, path: bytes, method: str) -> None:
    _call(method, "/api/v1/" + quote_from_bytes(path, safe="/"), key)


@FUZZ
@given(
    name=st.sampled_from(NAMES[:2]),
    pairs=st.lists(st.tuples(st.sampled_from(PARAMETERS), st.binary(max_size=30)), max_size=5),
)
def test_any_query(key: str, name: str, pairs: list[tuple[str, bytes]]) -> None:
    query = "&".join(f"{parameter}={quote_from_bytes(value)}" for parameter, value in pairs)
    _call("GET", f"/api/v1/{name}?{query}", key)


@FUZZ
@given(name=st.sampled_from(NAMES[:2]), query=st.binary(max_size=80))
def test_any_query_string(key: str, name: str, query: bytes) -> None:
    _call("GET", f"/api/v1/{name}", key, QUERY_STRING=query.decode("latin-1"))


@FUZZ
@given(name=st.sampled_from(NAMES[1:] + [f"operator/{name}" for name in OPERATIONS]), body=st.binary(max_size=200))
def test_any_bytes_as_a_body(key: str, name: str, body: bytes) -> None:
    _call("POST", f"/api/v1/{name}", key, data=body, content_type="application/json")


@FUZZ
@given(
    name=st.sampled_from(NAMES[1:] + [f"operator/{name}" for name in OPERATIONS]),
    body=st.dictionaries(
        st.sampled_from(
            [
                "capability_id",
                "files",
                "based_on",
                "to",
                "draft_version",
                "bundles",
                "note",
                "acknowledge",
                "replaced_by",
                "digest",
                "revision",
                "dry_run",
            ]
        ),
        JSON_VALUES | st.just("alpha"),
        max_size=6,
    ),
)
def test_any_json_as_a_body(key: str, name: str, body: dict[str, Any]) -> None:
    _call("POST", f"/api/v1/{name}", key, data=json.dumps(body).encode(), content_type="application/json")


@FUZZ
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "Accept",
                "Accept-Encoding",
                "Authorization",
                "Content-Type",
                "If-None-Match",
                "Origin",
                "Range",
                "If-Range",
                "Cookie",
                "Idempotency-Key",
                "X-HTTP-Method-Override",
                "Accept-Language",
                "Access-Control-Request-Method",
            ]
        ),
        st.text(st.characters(max_codepoint=255), max_size=60),
        max_size=4,
    )
)
def test_any_headers(key: str, headers: dict[str, str]) -> None:
    for name in NAMES[:2]:
        _call("GET", f"/api/v1/{name}?capability_id=alpha", key, headers=headers)


@FUZZ
@given(st.binary(max_size=300))
def test_any_bytes_as_a_zip(key: str, data: bytes) -> None:
    _call("POST", "/api/v1/operator/bundle_validate", key, data=data, content_type="application/zip")


@pytest.mark.parametrize(
    "body",
    [
        b'{"capability_id": "alpha", "outcome": "used", "outcome": "confirmed_failure"}',
        b'{"capability_id": "alpha", "outcome": "used", "x": [{"a": 1, "\\u0061": 2}]}',
    ],
)
def test_a_key_that_appears_twice_is_refused(client: Client, body: bytes) -> None:
    """The last one was taken, whatever a proxy or a log before made of the first."""
    publish()
    bearer = {"Authorization": f"Bearer {agent_key()}"}
    answer = client.post("/api/v1/capability_feedback", body, content_type="application/json", headers=bearer)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_REQUEST")
    assert "twice" in answer.json()["error"]["message"]


def test_a_body_of_very_many_levels_is_refused(client: Client) -> None:
    body = b'{"x": ' * 1000 + b"1" + b"}" * 1000
    bearer = {"Authorization": f"Bearer {agent_key()}"}
    answer = client.post("/api/v1/capability_feedback", body, content_type="application/json", headers=bearer)
    assert answer.status_code == 400


def test_a_key_that_no_schema_has_is_named_in_a_warning(key: str) -> None:
    """`{"capability_id": "alpha", "visibility": "listed"}` must not look as if it had set the visibility, and a newer
    client must not be refused."""
    bodies = {
        (path, operation["operationId"])
        for path, operations in build_document()["paths"].items()
        for operation in operations.values()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    }
    assert len(bodies) > 12

    def check(operation: str) -> None:
        path = next(path for path, name in bodies if name == operation)
        plain = _call("POST", path, key, data="{}", content_type="application/json")
        answer = _call("POST", path, key, data='{"qzxjunk\\"\\n": 1}', content_type="application/json")
        assert (answer.status_code, answer.json()) == (plain.status_code, plain.json())
        assert answer["Warning"] == '299 - "Unknown keys of the body were passed over: qzxjunk??"'
        assert "Warning" not in plain

    check_each(sorted(name for _, name in bodies), check, isolate=rolled_back)


def test_the_nearest_known_key_of_a_body_is_named(key: str) -> None:
    body = '{"capability_id": "alpha", "revison": 2, "zzz": 1}'
    answer = _call("POST", "/api/v1/capability_skill_load", key, data=body, content_type="application/json")
    words = "Unknown keys of the body were passed over: revison (did you mean revision?), zzz"
    assert answer["Warning"] == f'299 - "{words}"'


def test_a_key_of_the_query_that_no_operation_has_is_named_in_a_warning(key: str) -> None:
    """`?capability_id=alpha&revison=2` must not look as if it had pinned a revision."""
    operations = {
        (method.upper(), path, operation["operationId"]): [
            each["name"] for each in operation.get("parameters", []) if each["in"] == "query"
        ]
        for path, methods in build_document()["paths"].items()
        for method, operation in methods.items()
    }
    assert len(operations) > 30

    def check(operation: str) -> None:
        method, path, names = next((m, p, names) for (m, p, name), names in operations.items() if name == operation)
        known = "&".join(f"{name}=1" for name in names)
        body = {"data": "{}", "content_type": "application/json"} if method == "POST" else {}
        for one in {method, "HEAD" if method == "GET" else method}:
            plain = _call(one, f"{path}?{known}", key, **body)
            answer = _call(one, f"{path}?{known}&zzz%22%0A=1", key, **body)
            assert answer.status_code == plain.status_code
            assert '299 - "Unknown keys of the query were passed over: zzz??"' in answer["Warning"]
            assert "of the query" not in plain.get("Warning", "")

    check_each(sorted(name for _, _, name in operations), check, isolate=rolled_back)


def test_the_nearest_known_key_of_a_query_is_named(key: str) -> None:
    answer = _call("GET", "/api/v1/capability_skill_load?capability_id=alpha&revison=2", key)
    assert (answer.status_code, answer.json()["revision"]) == (200, 1)
    assert answer["Warning"] == '299 - "Unknown keys of the query were passed over: revison (did you mean revision?)"'
    etag = {"If-None-Match": answer["ETag"]}
    again = _call("GET", "/api/v1/capability_skill_load?capability_id=alpha&revison=2", key, headers=etag)
    assert (again.status_code, again["Warning"]) == (304, answer["Warning"])


def test_options_beside_a_zip_are_known_keys_of_the_query(key: str) -> None:
    path = "/api/v1/operator/bundle_publish?dry_run=true&acknowlege=POLICY_LOOSENED"
    answer = _call("POST", path, key, data=zip_of(bundle()), content_type="application/zip")
    words = "Unknown keys of the query were passed over: acknowlege (did you mean acknowledge?)"
    assert (answer.status_code, answer["Warning"]) == (200, f'299 - "{words}"')


def test_a_query_of_too_many_keys_undoes_no_write(key: str) -> None:
    query = "&".join(f"k{number}=1" for number in range(1100))
    body = '{"capability_id": "alpha", "outcome": "used"}'
    path = f"/api/v1/capability_feedback?{query}"
    assert _call("POST", path, key, data=body, content_type="application/json").status_code == 200
