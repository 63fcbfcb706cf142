"""What an identity provider may answer: anything but a right answer is refused in words, and nothing is a 500."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from tests.hostile_provider import HostileProvider, make_key, start_hostile_provider
from tests.servers import Studio, start_studio
from tests.sweeps import check_each

pytestmark = [pytest.mark.system, pytest.mark.slow]
LONG = "x" * 100_000
_ODD = [7, 1.5, True, [], ["a"], {}, {"a": "b"}, "", "a\0b", "\ud83d", LONG, "\u202e"]


@pytest.fixture(scope="module")
def provider() -> Iterator[HostileProvider]:
    with start_hostile_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def studio(provider: HostileProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    studio = start_studio(tmp_path_factory.mktemp("studio"), RATE_LIMITS="off", **provider.settings())
    yield studio
    studio.stop()


@pytest.fixture(autouse=True)
def _right_answers(provider: HostileProvider) -> None:
    provider.reset()


def _sign_in(provider: HostileProvider, studio: Studio, query: str = "") -> httpx2.Response:
    with httpx2.Client(timeout=60) as browser:
        return provider.sign_in(studio.url, browser, query)


def _members(studio: Studio) -> set[str]:
    found = json.loads(studio.manage("operator", "list", "--format", "json").stdout)["operators"]
    return {row["name"] for row in found}


def _is_refused(answer: httpx2.Response) -> None:
    assert answer.status_code in (401, 403), (answer.status_code, answer.text[:300])
    assert "Example Login" in answer.text or "identity provider" in answer.text
    assert "sessionid" not in answer.headers.get("Set-Cookie", "").replace("sessionid=;", "")


def test_the_right_answer_signs_in(provider: HostileProvider, studio: Studio) -> None:
    answer = _sign_in(provider, studio, "?next=/capabilities/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/capabilities/")


def test_a_claim_of_another_type_or_length_is_no_error_of_ours(provider: HostileProvider, studio: Studio) -> None:
    names = ["sub", "preferred_username", "name", "given_name", "email", "groups", "nonce", "auth_time", "iss", "aud"]
    names += ["exp", "iat", "nbf", "azp", "sid", "jti"]
    before = _members(studio)

    def check(cell: tuple[str, int]) -> None:
        name, number = cell
        provider.reset()
        provider.claims = {"sub": "eve-1", "preferred_username": "eve", "groups": [], name: _ODD[number]}
        provider.info = {"sub": provider.all_claims().get("sub"), name: _ODD[number]}
        _is_refused(_sign_in(provider, studio))

    check_each([(name, number) for name in names for number in range(len(_ODD))], check)
    assert _members(studio) == before


def test_an_overlong_subject_is_refused_in_words(provider: HostileProvider, studio: Studio) -> None:
    provider.claims = {"sub": "s" * 192}
    answer = _sign_in(provider, studio)
    assert answer.status_code == 403
    assert "sub" in answer.text
    assert "at most 191 characters" in answer.text


def test_documents_of_another_shape_are_refused(provider: HostileProvider, studio: Studio) -> None:
    shapes: list[Any] = [[], 7, None, "x", {}, b"", b"<html>", b"[" * 100_000, b'{"a": "' + b"x" * 3_000_000 + b'"}']
    discovery = "/.well-known/openid-configuration"
    right = provider.answer(discovery)
    values: list[Any] = [None, 7, [], "x", "file:///etc/passwd"]
    odd = {name: [right | {name: value} for value in values] for name in right}
    tokens: list[Any] = [None, 7, [], {}, "", "x", "a.b.c", LONG]
    key_sets: list[Any] = [None, 7, [], [7], [{}], [{"kty": "RSA"}], {"a": "b"}]
    cells = [(path, shape) for path in (discovery, "/token", "/userinfo", "/jwks") for shape in shapes]
    cells += [(discovery, document) for documents in odd.values() for document in documents]
    cells += [("/token", {"access_token": "a", "id_token": token}) for token in tokens]
    cells += [("/jwks", {"keys": keys}) for keys in key_sets]

    def check(number: int) -> None:
        path, document = cells[number]
        provider.reset()
        with httpx2.Client(timeout=60) as browser:
            asked = browser.get(f"{studio.url}/sign-in/oidc/").headers["Location"]
            given = httpx2.QueryParams(asked.partition("?")[2])
            provider.nonce = given["nonce"]
            # A set of keys that was read before is kept for a while.
            provider.public = {**provider.public, "kid": f"key-{number}"}
            provider.documents = {path: document}
            back = {"code": "c", "state": given["state"]}
            answer = browser.get(f"{studio.url}/sign-in/oidc/callback/", params=back)
            is_optional = path == discovery and isinstance(document, dict) and "authorization_endpoint" in document
            if not (is_optional and answer.status_code == 302):
                _is_refused(answer)
            assert browser.get(f"{studio.url}/sign-in/oidc/").status_code in (302, 401)

    check_each(list(range(len(cells))), check)


def test_the_signature_and_the_claims_of_the_token_are_checked(provider: HostileProvider, studio: Studio) -> None:
    foreign, _ = make_key()
    pem = provider.private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    kid = {"kid": provider.public["kid"]}

    def hmac(claims: dict[str, Any]) -> str:
        # PyJWT itself refuses to use a public key so.
        import base64
        import hashlib
        import hmac as keyed

        def part(value: bytes) -> str:
            return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

        head = part(json.dumps({"alg": "HS256", "typ": "JWT", **kid}).encode())
        signed = f"{head}.{part(json.dumps(claims).encode())}"
        return f"{signed}.{part(keyed.new(pem, signed.encode(), hashlib.sha256).digest())}"

    now = int(time.time())
    cases: dict[str, dict[str, Any]] = {
        "alg none": {"sign": lambda claims: jwt.api_jws.encode(json.dumps(claims).encode(), "", "none", kid)},
        "HS256 with the public key": {"sign": hmac},
        "HS256 with the client secret": {
            "sign": lambda claims: jwt.encode(claims, "a client secret" * 3, "HS256", kid)
        },
        "foreign key": {"sign": lambda claims: jwt.encode(claims, foreign, "RS256", kid)},
        "foreign key, no kid": {"sign": lambda claims: jwt.encode(claims, foreign, "RS256")},
        "another algorithm than the key's": {"sign": lambda claims: jwt.encode(claims, provider.private, "PS256", kid)},
        "another audience": {"claims": {"aud": "somebody"}},
        "two audiences without azp": {"claims": {"aud": ["capability-studio", "somebody"]}},
        "azp of another": {"claims": {"azp": "somebody"}},
        "another issuer": {"claims": {"iss": "https://elsewhere.example.com"}},
        "expired": {"claims": {"exp": now - 3600}},
        "no exp": {"claims": {"exp": None}},
        "issued in the future": {"claims": {"iat": now + 3600}},
        "another nonce": {"claims": {"nonce": "another"}},
        "no subject": {"claims": {"sub": None}},
        "another person in the user info": {"info": {"sub": "somebody"}},
    }

    def check(name: str) -> None:
        provider.reset()
        provider.sign = cases[name].get("sign")
        provider.claims = dict(cases[name].get("claims", {}))
        provider.info = cases[name].get("info")
        _is_refused(_sign_in(provider, studio))

    check_each(list(cases), check)
    provider.reset()
    provider.claims = {"aud": ["capability-studio", "somebody"], "azp": "capability-studio"}
    assert _sign_in(provider, studio).status_code == 302


def test_keys_are_kept_and_a_rotated_one_is_read_once(provider: HostileProvider, studio: Studio) -> None:
    for _ in range(3):
        assert _sign_in(provider, studio).status_code == 302
    assert provider.requests.count("/jwks") <= 1
    provider.private, provider.public = make_key("rotated")
    provider.requests.clear()
    for _ in range(3):
        assert _sign_in(provider, studio).status_code == 302
    assert provider.requests.count("/jwks") == 1
    # The same name for another key.
    provider.private, provider.public = make_key("rotated")
    assert _sign_in(provider, studio).status_code == 302


def test_confirming_needs_the_time_at_which_the_provider_asked(provider: HostileProvider, studio: Studio) -> None:
    now = int(time.time())
    for asked_at, words in ((None, "auth_time"), (now - 3600, "again"), ("now", "auth_time"), (True, "auth_time")):
        provider.reset()
        provider.claims = {"auth_time": asked_at}
        answer = _sign_in(provider, studio, "?again=1&next=/keys/")
        assert (answer.status_code, words in answer.text) == (403, True), (asked_at, answer.text[-900:])
    provider.reset()
    assert _sign_in(provider, studio, "?again=1&next=/keys/").headers["Location"] == "/keys/"
    # Without it a plain sign-in is taken.
    provider.claims = {"auth_time": None}
    assert _sign_in(provider, studio).status_code == 302
