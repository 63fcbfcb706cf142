"""DSSE envelopes: what is signed, by whom, and what is refused."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from capability_client.client.registry import Registry
from capability_kit.errors import SignatureInvalid, SignatureMissing, SigningKeyUnknown
from capability_kit.signatures.dsse import (
    PublicKey,
    VerificationUnavailable,
    encode_pae,
    open_envelope,
    parse_key_list,
    parse_public_key,
)
from tests.sweeps import check_each

TYPE = "application/vnd.test+json"
PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = PublicKey(PRIVATE.public_key().public_bytes_raw())
OTHER = PublicKey(Ed25519PrivateKey.generate().public_key().public_bytes_raw())


def _b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _envelope(payload: bytes = b'{"a":1}', **changed: Any) -> dict[str, Any]:
    sig = _b64(PRIVATE.sign(encode_pae(TYPE, payload)))
    signatures = [{"keyid": PUBLIC.keyid, "sig": sig}]
    return {"payloadType": TYPE, "payload": _b64(payload), "signatures": signatures, **changed}


def test_the_encoding_is_that_of_the_specification() -> None:
    # The example of the DSSE protocol.
    assert encode_pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_what_a_trusted_key_signed_is_opened() -> None:
    assert open_envelope(_envelope(), payload_type=TYPE, trusted=[OTHER, PUBLIC]) == {"a": 1}


def test_one_good_signature_among_several_is_enough() -> None:
    signatures = [{"keyid": OTHER.keyid, "sig": _b64(b"x" * 64)}, *_envelope()["signatures"]]
    assert open_envelope(_envelope(signatures=signatures), payload_type=TYPE, trusted=[OTHER, PUBLIC]) == {"a": 1}


def test_anything_else_is_refused() -> None:
    good = _envelope()
    sig = good["signatures"][0]["sig"]
    cases: list[tuple[Any, type[Exception]]] = [
        (None, SignatureMissing),
        ([], SignatureMissing),
        ({**good, "signatures": []}, SignatureMissing),
        ({**good, "payloadType": "application/json"}, SignatureInvalid),
        ({**good, "payload": _b64(b'{"a":2}')}, SignatureInvalid),
        ({**good, "payload": "!"}, SignatureInvalid),
        ({**good, "payload": None}, SignatureInvalid),
        ({**good, "signatures": [{"keyid": PUBLIC.keyid, "sig": _b64(b"x" * 64)}]}, SignatureInvalid),
        ({**good, "signatures": [{"keyid": PUBLIC.keyid, "sig": _b64(b"x")}]}, SignatureInvalid),
        ({**good, "signatures": [{"keyid": PUBLIC.keyid}]}, SignatureInvalid),
        ({**good, "signatures": ["x"]}, SignatureInvalid),
        ({**good, "signatures": good["signatures"] * 17}, SignatureInvalid),
        ({**good, "signatures": [{"keyid": OTHER.keyid, "sig": sig}]}, SigningKeyUnknown),
        ({**good, "signatures": [{"sig": sig}]}, SigningKeyUnknown),
        (_envelope(b"[]"), SignatureInvalid),
        (_envelope(b"{"), SignatureInvalid),
    ]

    def check(case: tuple[Any, type[Exception]]) -> None:
        with pytest.raises(case[1]):
            open_envelope(case[0], payload_type=TYPE, trusted=[PUBLIC])

    check_each(cases, check)


def test_keys_are_written_and_read() -> None:
    assert parse_public_key(f" {PUBLIC}\n") == PUBLIC
    document = {"keys": [{"algorithm": "ed25519", "public_key": str(PUBLIC)}, {"algorithm": "other"}]}
    assert parse_key_list(document) == (PUBLIC,)

    def check(text: str) -> None:
        with pytest.raises(ValueError, match="is not a public key"):
            parse_public_key(text)

    check_each(["", "x", "ed25519:", "ed25519:AAAA", str(PUBLIC)[:-4], str(PUBLIC).replace("ed25519", "rsa")], check)
    with pytest.raises(ValueError, match="expected"):
        parse_key_list(json.loads("[]"))


def test_trusted_keys_without_the_package_are_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(VerificationUnavailable, match=r"pip install 'capability-client\[verify\]'"):
        Registry("http://127.0.0.1:1", trusted_keys=[str(PUBLIC)])
    Registry("http://127.0.0.1:1").close()
