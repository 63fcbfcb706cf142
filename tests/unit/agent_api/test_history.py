"""`capability_signature`, `registry_checkpoints` and the list of public keys."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from django.test import Client

from capability_kit.bundles.bundle import Bundle
from capability_kit.errors import SignatureInvalid
from capability_kit.signatures.dsse import parse_key_list
from capability_kit.signatures.statements import check_bundle, read_checkpoint
from registry.common import caches
from registry.core import checkpoints
from registry.core.signing_keys import get_signing_keys
from registry.models import Revision
from registry.publishing import publication
from tests.factories import OLGA, bearer, bundle, publish, tampering, tool

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
SIGNATURE, CHECKPOINTS = "capability_signature", "registry_checkpoints"


def _keys() -> Any:
    return parse_key_list(Client().get("/.well-known/capability-studio-keys.json").json())


def test_the_keys_are_public(closed: None) -> None:
    response = Client().get("/.well-known/capability-studio-keys.json")
    assert response.status_code == 200
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert parse_key_list(response.json()) == get_signing_keys().public
    assert "PRIVATE" not in response.content.decode()


def test_a_load_response_can_be_verified(api: Any) -> None:
    publication.publish(files=bundle() | {"references/units.md": "# Units\n"}, by=OLGA)
    answer = api.ok(api.get("capability_skill_load", {"capability_id": "alpha"}), "skill_load")
    document = api.ok(api.get(SIGNATURE, {"capability_id": "alpha"}), "revision_signature")
    loaded = Bundle.from_answer(answer)
    check_bundle(loaded, document["envelope"], trusted=_keys())
    for changed in ({"revision": 2}, {"files": [{**answer["files"][0], "digest": "sha256:" + "0" * 64}]}):
        with pytest.raises(SignatureInvalid):
            check_bundle(Bundle.from_answer(answer | changed), document["envelope"], trusted=_keys())


def test_it_follows_the_pins_of_a_load(api: Any) -> None:
    publish()
    publish(body="Another.")
    first = Revision.objects.get(number=1)
    for pins in ({"revision": 1}, {"digest": first.digest}):
        document = api.ok(api.get(SIGNATURE, {"capability_id": "alpha", **pins}), "revision_signature")
        payload = json.loads(base64.b64decode(document["envelope"]["payload"]))
        assert (document["revision"], payload["revision"], payload["digest"]) == (1, 1, first.digest)
    assert api.get(SIGNATURE, {"capability_id": "alpha"}).json()["revision"] == 2
    publication.rollback(capability_id="alpha", to=1, by=OLGA)
    assert api.get(SIGNATURE, {"capability_id": "alpha"}).json()["revision"] == 1


def test_it_is_confirmed_by_its_etag(api: Any) -> None:
    publish()
    checkpoints.make_checkpoint()
    for name, query in ((SIGNATURE, {"capability_id": "alpha"}), (CHECKPOINTS, {})):
        first = api.get(name, query)
        again = api.get(name, query, headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_what_is_not_signed_is_said(api: Any) -> None:
    publish()
    with tampering():
        Revision.objects.update(signature="")
    error = api.error(api.get(SIGNATURE, {"capability_id": "alpha"}), 404, "SIGNATURE_NOT_FOUND")
    assert "registry sign" in error["message"]


def test_what_cannot_be_loaded_has_none(api: Any) -> None:
    publish()
    api.error(api.get(SIGNATURE, {"capability_id": "omega"}), 404, "CAPABILITY_NOT_FOUND")
    api.error(api.get(SIGNATURE, {"capability_id": "alpha", "revision": 9}), 404, "REVISION_NOT_FOUND")
    api.error(api.get(SIGNATURE, {}), 400, "INVALID_REQUEST")
    publication.retire(capability_id="alpha", by=OLGA)
    api.error(api.get(SIGNATURE, {"capability_id": "alpha"}), 404, "CAPABILITY_NOT_FOUND")


def test_who_may_not_read_gets_none(api: Any, closed: None) -> None:
    publish(tools=[tool("alpha_save", "write")], skill_groups=["health"])
    checkpoints.make_checkpoint()
    for name in (SIGNATURE, CHECKPOINTS):
        query = {"capability_id": "alpha"} if name == SIGNATURE else {}
        api.error(api.get(name, query), 401, "UNAUTHENTICATED")
        api.error(api.get(name, query, headers=bearer("feedback")), 403, "FORBIDDEN")
        assert api.get(name, query, headers=bearer("read")).status_code == 200
    limited = bearer("read", groups=["other"])
    api.error(api.get(SIGNATURE, {"capability_id": "alpha"}, headers=limited), 404, "CAPABILITY_NOT_FOUND")


def test_checkpoints_are_paged(api: Any) -> None:
    document = api.ok(api.get(CHECKPOINTS), "registry_checkpoints")
    assert document == {"checkpoints": [], "next_after": None}
    for number in range(3):
        publish(body=f"Number {number}.")
        checkpoints.make_checkpoint()
    caches.reset_all()

    def page(**query: Any) -> tuple[list[int], Any]:
        found = api.ok(api.get(CHECKPOINTS, query), "registry_checkpoints")
        facts = [read_checkpoint(envelope, trusted=_keys()) for envelope in found["checkpoints"]]
        return [each.number for each in facts], found["next_after"]

    assert page() == ([3], None)
    assert page(after=0) == ([1, 2, 3], None)
    assert page(after=0, limit=2) == ([1, 2], 2)
    assert page(after=2, limit=2) == ([3], None)
    assert page(after=3) == ([], None)
    for query in ({"after": -1}, {"after": "x"}, {"limit": 0}, {"limit": 101}):
        api.error(api.get(CHECKPOINTS, query), 400, "INVALID_REQUEST")
