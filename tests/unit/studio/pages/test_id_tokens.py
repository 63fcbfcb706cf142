"""ID tokens: taken with the signature of a published key, and for this client alone."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from registry.common import caches
from studio.pages import id_tokens
from studio.pages.id_tokens import IdTokenInvalid, Keys, iterate_keys, verify_id_token
from tests.hostile_provider import make_key
from tests.sweeps import check_each

ISSUER, CLIENT = "https://login.example.com", "studio"
PRIVATE, PUBLIC = make_key()
FOREIGN, _ = make_key()


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    caches.reset_all()
    yield
    caches.reset_all()


def _claims(**changed: Any) -> dict[str, Any]:
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": CLIENT, "sub": "ada", "iat": now, "exp": now + 300, **changed}
    return {name: value for name, value in claims.items() if value is not None}


def _sign(claims: dict[str, Any], key: Any = PRIVATE, algorithm: str = "RS256", **header: Any) -> str:
    # Not by `jwt.encode`, which refuses to sign claims of another type.
    return jwt.api_jws.encode(json.dumps(claims).encode(), key, algorithm, {"kid": "first", **header})


def _verify(token: str, *key_sets: Keys) -> dict[str, Any]:
    return verify_id_token(token, key_sets or [[PUBLIC]], issuer=ISSUER, client_id=CLIENT)


def _by_hand(header: dict[str, Any], secret: bytes) -> str:
    """As HS256 has it; PyJWT itself refuses to sign with a public key."""
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, _claims())]
    signature = hmac.new(secret, b".".join(parts), hashlib.sha256).digest()
    return b".".join([*parts, base64.urlsafe_b64encode(signature).rstrip(b"=")]).decode()


def test_a_token_of_a_published_key_is_taken() -> None:
    assert _verify(_sign(_claims()))["sub"] == "ada"
    # Without the key's name in either, the key is the one that verifies.
    nameless = {name: value for name, value in PUBLIC.items() if name not in ("kid", "alg", "use")}
    for algorithm in ("RS256", "RS512", "PS256"):
        assert _verify(jwt.encode(_claims(), PRIVATE, algorithm), [nameless])["sub"] == "ada"


def test_a_token_that_no_published_key_has_signed_is_refused() -> None:
    pem = PRIVATE.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    jwk = json.dumps(PUBLIC).encode()
    right = _sign(_claims())
    head, body, signature = right.split(".")
    tokens = {
        "alg none": _sign(_claims(), None, "none"),
        "alg None": _by_hand({"alg": "None", "kid": "first"}, b""),
        "no alg": _by_hand({"kid": "first"}, b""),
        "alg of another type": _by_hand({"alg": ["RS256"], "kid": "first"}, b""),
        "HS256 with the PEM": _by_hand({"alg": "HS256", "kid": "first"}, pem),
        "HS256 with the JWK": _by_hand({"alg": "HS256", "kid": "first"}, jwk),
        "a foreign key": _sign(_claims(), FOREIGN),
        "a foreign key with its own key beside": _sign(_claims(), FOREIGN, jwk=PUBLIC),
        "a foreign key without a name": jwt.encode(_claims(), FOREIGN, "RS256"),
        "another key's name": _sign(_claims(), kid="second"),
        "an algorithm that the key is not for": _sign(_claims(), algorithm="PS256"),
        "no signature": f"{head}.{body}.",
        "another body": f"{head}.{_sign(_claims(sub='eve'), FOREIGN).split('.')[1]}.{signature}",
        "two parts": f"{head}.{body}",
        "nothing": "",
    }

    def check(name: str) -> None:
        with pytest.raises(IdTokenInvalid):
            _verify(tokens[name])

    check_each(list(tokens), check)


def test_keys_for_something_else_verify_nothing() -> None:
    token = _sign(_claims())
    for key in (
        {**PUBLIC, "use": "enc"},
        {**PUBLIC, "alg": "PS256"},
        {**PUBLIC, "kty": "oct", "k": "AA"},
        {"kid": "first"},
    ):
        with pytest.raises(IdTokenInvalid, match="none of the provider's keys"):
            _verify(token, [key])
        assert _verify(token, [key, PUBLIC])["sub"] == "ada"


def test_the_claims_of_another_client_issuer_or_time_are_refused() -> None:
    now = int(time.time())
    wrong: list[dict[str, Any]] = [
        {name: value}
        for name, values in (
            ("iss", ["https://elsewhere.example.com", None, 7, [ISSUER]]),
            ("aud", ["somebody", ["somebody"], [], None, 7, {CLIENT: True}, [CLIENT, "somebody"]]),
            ("exp", [now - 3600, None, "soon", []]),
            ("iat", [now + 3600, None, "now"]),
            ("nbf", [now + 3600]),
            ("sub", [None, 7, []]),
            ("azp", ["somebody", 7, [CLIENT]]),
        )
        for value in values
    ]

    def check(number: int) -> None:
        with pytest.raises(IdTokenInvalid):
            _verify(_sign(_claims(**wrong[number])))

    check_each(list(range(len(wrong))), check)


def test_several_audiences_name_the_one_that_asked() -> None:
    assert _verify(_sign(_claims(aud=[CLIENT, "somebody"], azp=CLIENT)))["azp"] == CLIENT
    assert _verify(_sign(_claims(aud=[CLIENT])))["aud"] == [CLIENT]


def test_clocks_may_differ_by_a_minute() -> None:
    now = int(time.time())
    assert _verify(_sign(_claims(exp=now - 30, iat=now + 30)))


def test_keys_are_read_once_and_once_more_for_an_unknown_one(monkeypatch: pytest.MonkeyPatch) -> None:
    published, reads = [PUBLIC], []

    def read(url: str) -> dict[str, Any]:
        reads.append(url)
        return {"keys": list(published)}

    def verify(token: str) -> dict[str, Any]:
        return verify_id_token(token, iterate_keys("https://k", read), issuer=ISSUER, client_id=CLIENT)

    for _ in range(3):
        verify(_sign(_claims()))
    assert len(reads) == 1
    private, public = make_key("second")
    published[:] = [public]
    for _ in range(3):
        verify(_sign(_claims(), private, kid="second"))
    assert len(reads) == 2
    # The same name for another key, as after a reset.
    private, public = make_key("second")
    published[:] = [public]
    assert verify(_sign(_claims(), private, kid="second"))
    with pytest.raises(IdTokenInvalid):
        verify(_sign(_claims(), FOREIGN))
    assert len(reads) == 4
    # A key that was withdrawn is kept for no longer than an hour.
    monkeypatch.setattr(id_tokens, "KEYS_SECONDS", 0.0)
    assert verify(_sign(_claims(), private, kid="second"))
    assert len(reads) == 5


@pytest.mark.parametrize("document", [None, [], {}, {"keys": None}, {"keys": {}}, {"keys": "x"}])
def test_a_document_without_keys_is_refused(document: Any) -> None:
    with pytest.raises(IdTokenInvalid, match="no list 'keys'"):
        list(iterate_keys("https://k", lambda _: document))
    assert list(iterate_keys("https://k", lambda _: {"keys": [7, None, PUBLIC]})) == [[PUBLIC]]
