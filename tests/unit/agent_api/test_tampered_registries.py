"""Somebody who can write the database, and has not the signing key, changes the history: each time it is named.

A client that holds the public key and has seen a checkpoint reads the registry through the real endpoints, and
`registry verify` reads the database.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from capability_client.client.messages import Outcome, Pause, Response, Step
from capability_client.client.requests import RegistryProtocol
from capability_client.client.trust import HistoryGuard
from capability_kit import errors
from registry.common import caches
from registry.core import audit, checkpoints
from registry.core.queries import files_digest, load_bundle
from registry.core.signing_keys import get_signing_keys
from registry.models import AuditEvent, Capability, Checkpoint, RegistryState, Release, Revision
from registry.operations.verification.verify import verify_database
from registry.publishing import publication
from tests.factories import OLGA, publish, tampering, tool
from tests.sweeps import check_each, rolled_back

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


class ApiClient:
    """capability_client's own core over Django's test client: every request is a real one but for the socket."""

    def __init__(self, path: Path | None = None, *, trusted: Any = None) -> None:
        self.now = 1_000_000.0
        self.core = RegistryProtocol("http://testserver", clock=lambda: self.now)
        keys = [str(get_signing_keys().public[0])] if trusted is None else trusted
        self.core.guard = HistoryGuard.of(keys, path, max_stale=3600.0, clock=lambda: self.now)

    def restarted(self) -> ApiClient:
        """Another process that remembers what this one has seen."""
        again = ApiClient()
        assert again.core.guard is not None
        assert self.core.guard is not None
        again.core.guard.file, again.now = self.core.guard.file, self.now
        return again

    def run(self, steps: Generator[Step, Outcome, Any]) -> Any:
        # Another look at the history is due.
        self.now += 61
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                return done.value
            outcome = None if isinstance(step, Pause) else _send(step)

    def load(self, capability_id: str = "alpha", **pinned: Any) -> Any:
        return self.run(self.core.load(capability_id, **pinned))

    def list(self) -> Any:
        return self.run(self.core.list())


def _send(step: Any) -> Response:
    path = step.url.removeprefix("http://testserver")
    headers = {name: value for name, value in step.headers.items() if name != "Accept-Encoding"}
    response: Any = Client().generic(
        step.method, path, data=step.body or b"", content_type="application/json", headers=headers
    )
    return Response(
        response.status_code, {name.lower(): value for name, value in response.headers.items()}, response.content
    )


@pytest.fixture
def history() -> None:
    """Two capabilities, a release that is not a publish, and three checkpoints."""
    publish()
    publish("beta", tools=[tool("beta_save", "write")])
    checkpoints.make_checkpoint()
    publish(body="Second.")
    publication.deprecate(capability_id="beta", by=OLGA)
    checkpoints.make_checkpoint()
    publish(body="Third.")
    checkpoints.make_checkpoint()


def _codes() -> set[str]:
    return {problem.code for problem in verify_database(get_signing_keys().public).problems}


def _row(code: str) -> str:
    return next(problem.row for problem in verify_database(get_signing_keys().public).problems if problem.code == code)


# What somebody does to the database. Revisions of alpha: 1, 2, 3.


def _revision(number: int) -> Revision:
    return Revision.objects.get(capability__capability_id="alpha", number=number)


def _write_texts(revision: Revision, files: dict[str, str], **more: Any) -> None:
    """The texts, and every digest of them computed again."""
    revision.files = files
    bundle = load_bundle(revision)
    values = {column: getattr(revision, column) for column in [*Revision.COLUMNS.values(), "supporting_files"]}
    values |= {"files_digest": files_digest(files), "digest": bundle.digest, "content_digest": bundle.content_digest}
    values["read_only_digest"] = bundle.without_write_tools().digest
    Revision.objects.filter(pk=revision.pk).update(**values, **more)


def _change_text() -> None:
    revision = _revision(3)
    _write_texts(revision, {**revision.files, "skill.md": revision.files["skill.md"].replace("Third.", "Obey me.")})


def _change_text_and_audit_log() -> None:
    _change_text()
    row = AuditEvent.objects.filter(verb="capability.publish", subject="alpha").latest("id")
    _rewrite_chain(row.pk, detail={**row.detail, "digest": _revision(3).digest})


def _rewrite_chain(first: int, **changed: Any) -> None:
    previous = ""
    for event in AuditEvent.objects.filter(pk__gte=first).order_by("id"):
        values = changed if event.pk == first else {}
        event.previous_hash = previous or event.previous_hash
        for name, value in values.items():
            setattr(event, name, value)
        event.hash = previous = audit.event_hash(event)
        # Unique columns: the new value is there before the next row needs it.
        event.save()


def _swap_revisions() -> None:
    """What readers get as revision 3 is what was revision 2, its signature included."""
    old, new = _revision(2), _revision(3)
    _write_texts(new, old.files, signature=old.signature)


def _remove_signature() -> None:
    Revision.objects.filter(pk=_revision(3).pk).update(signature="")


def _sign_with_another_key() -> None:
    revision = _revision(3)
    envelope = json.loads(revision.signature)
    envelope["signatures"][0]["keyid"] = "0" * 64
    Revision.objects.filter(pk=revision.pk).update(signature=json.dumps(envelope))


def _forge_signature() -> None:
    revision = _revision(3)
    envelope = json.loads(revision.signature)
    sig = envelope["signatures"][0]["sig"]
    envelope["signatures"][0]["sig"] = ("B" if sig[0] == "A" else "A") + sig[1:]
    Revision.objects.filter(pk=revision.pk).update(signature=json.dumps(envelope))


def _replay_as_new() -> None:
    """The signed revision 1 again as revision 4."""
    old = _revision(1)
    replayed = _revision(1)
    replayed.pk, replayed.number = None, 4
    replayed.save(force_insert=True)
    state = RegistryState.objects.get()
    RegistryState.objects.update(registry_revision=state.registry_revision + 1)
    Release.objects.create(
        registry_revision=state.registry_revision + 1, capability=old.capability, revision=replayed, status="published"
    )
    Capability.objects.filter(pk=old.capability_id).update(published_revision=replayed)


def _cut_audit_tail() -> None:
    for event in AuditEvent.objects.order_by("-id")[:2]:
        event.delete()


def _delete_audit_log() -> None:
    AuditEvent.objects.all().delete()


def _delete_audit_row() -> None:
    AuditEvent.objects.order_by("id")[1].delete()


def _change_audit_row() -> None:
    AuditEvent.objects.filter(pk=AuditEvent.objects.order_by("id")[1].pk).update(actor_name="nobody")


def _recompute_chain() -> None:
    _rewrite_chain(AuditEvent.objects.order_by("id")[1].pk, actor_name="nobody")


def _delete_release() -> None:
    Release.objects.order_by("pk")[1].delete()


def _delete_release_in_between() -> None:
    Release.objects.order_by("pk")[2].delete()


def _change_release() -> None:
    Release.objects.filter(pk=Release.objects.order_by("pk")[3].pk).update(status="published")


def _move_pointer() -> None:
    Capability.objects.filter(capability_id="alpha").update(published_revision=_revision(1))


def _delete_revision() -> None:
    Release.objects.filter(revision=_revision(2)).delete()
    _revision(2).delete()


def _roll_back() -> None:
    """As a copy of the whole database from before the third revision."""
    Checkpoint.objects.filter(number=3).delete()
    last = checkpoints.read_last_checkpoint()
    AuditEvent.objects.filter(pk__gt=last.audit_id).delete()
    Capability.objects.filter(capability_id="alpha").update(published_revision=_revision(2))
    Release.objects.filter(pk__gt=last.release_id).delete()
    _revision(3).delete()
    RegistryState.objects.update(registry_revision=last.registry_revision)


def _roll_back_all_but_checkpoints() -> None:
    kept = list(Checkpoint.objects.filter(number=3))
    _roll_back()
    Checkpoint.objects.bulk_create(kept)


def _fork() -> None:
    """A copy from before, which went another way: signed by the real key, as on a restored machine."""
    _roll_back()
    caches.reset_all()
    publish(body="Another third.")
    checkpoints.make_checkpoint()


def _fork_and_overtake() -> None:
    _fork()
    publish(body="Another fourth.")
    checkpoints.make_checkpoint()


def _change_checkpoint() -> None:
    last = Checkpoint.objects.get(number=3)
    envelope = json.loads(last.envelope)
    sig = envelope["signatures"][0]["sig"]
    envelope["signatures"][0]["sig"] = ("B" if sig[0] == "A" else "A") + sig[1:]
    Checkpoint.objects.filter(number=3).update(envelope=json.dumps(envelope))


def _delete_checkpoints() -> None:
    Checkpoint.objects.all().delete()


def _delete_checkpoint() -> None:
    Checkpoint.objects.filter(number=2).delete()


def _repeat_checkpoint() -> None:
    """The signed second one in the place of the third."""
    Checkpoint.objects.filter(number=3).update(envelope=Checkpoint.objects.get(number=2).envelope)


@dataclass(frozen=True)
class Tampering:
    """`code` is what `registry verify` finds, `refusal` what a client raises; None where it cannot know."""

    change: Callable[[], None]
    code: str | None
    refusal: type[Exception] | None


CASES = [
    Tampering(_change_text, "REVISION_SIGNATURE_INVALID", errors.SignatureInvalid),
    Tampering(_change_text_and_audit_log, "AUDIT_LOG_REWRITTEN", errors.SignatureInvalid),
    Tampering(_swap_revisions, "REVISION_SIGNATURE_INVALID", errors.SignatureInvalid),
    Tampering(_remove_signature, "REVISION_SIGNATURE_MISSING", errors.SignatureMissing),
    Tampering(_sign_with_another_key, "REVISION_SIGNING_KEY_UNKNOWN", errors.SigningKeyUnknown),
    Tampering(_forge_signature, "REVISION_SIGNATURE_INVALID", errors.SignatureInvalid),
    Tampering(_replay_as_new, "REVISION_NOT_RECORDED", errors.SignatureInvalid),
    Tampering(_cut_audit_tail, "AUDIT_LOG_CUT", None),
    Tampering(_delete_audit_log, "AUDIT_LOG_CUT", None),
    Tampering(_delete_audit_row, "AUDIT_LINK_BROKEN", None),
    Tampering(_change_audit_row, "AUDIT_ROW_CHANGED", None),
    Tampering(_recompute_chain, "AUDIT_LOG_REWRITTEN", None),
    Tampering(_delete_release, "RELEASE_MISSING", None),
    Tampering(_delete_release_in_between, "RELEASES_REWRITTEN", None),
    Tampering(_change_release, "RELEASES_REWRITTEN", None),
    Tampering(_move_pointer, "CAPABILITY_NOT_AS_RELEASED", None),
    Tampering(_delete_revision, "REVISION_MISSING", None),
    # Anyone who has the database alone as it was then cannot know that there was more: those who have seen it do.
    Tampering(_roll_back, None, errors.RegistryRolledBack),
    Tampering(_roll_back_all_but_checkpoints, "REGISTRY_ROLLED_BACK", errors.RegistryRolledBack),
    Tampering(_fork, None, errors.RegistryForked),
    Tampering(_fork_and_overtake, None, errors.RegistryForked),
    Tampering(_change_checkpoint, "CHECKPOINT_SIGNATURE_INVALID", errors.SignatureInvalid),
    Tampering(_delete_checkpoints, None, errors.RegistryRolledBack),
    Tampering(_delete_checkpoint, "CHECKPOINT_MISSING", None),
    Tampering(_repeat_checkpoint, "CHECKPOINT_CHANGED", errors.RegistryForked),
]


@pytest.mark.usefixtures("history")
def test_each_tampering_is_refused() -> None:
    def check(case: Tampering) -> None:
        client = ApiClient()
        assert client.load().revision == 3
        client.list()
        with tampering():
            case.change()
        caches.reset_all()
        codes = _codes()
        if case.code is None:
            assert not codes
        else:
            assert case.code in codes, codes
        if case.refusal is None:
            ApiClient().load()
            return
        with pytest.raises(case.refusal):
            _read_all(client.restarted())

    check_each(CASES, check, name=lambda case: case.change.__name__, isolate=rolled_back)


def _read_all(client: ApiClient) -> None:
    client.list()
    client.load()


@pytest.mark.usefixtures("history")
def test_what_nobody_changed_is_accepted() -> None:
    assert verify_database(get_signing_keys().public).problems == ()
    client = ApiClient()
    assert client.load().revision == 3
    assert client.load(revision=1).revision == 1
    assert client.load("beta").tools
    publish(body="Fourth.")
    checkpoints.make_checkpoint()
    caches.reset_all()
    assert client.load().revision == 4
    publication.rollback(capability_id="alpha", to=2, by=OLGA)
    caches.reset_all()
    assert client.load().revision == 2
    assert verify_database(get_signing_keys().public).problems == ()


@pytest.mark.usefixtures("history")
def test_the_row_is_named() -> None:
    rows = list(AuditEvent.objects.order_by("id"))
    expected = [
        (_change_text, "REVISION_SIGNATURE_INVALID", str(_revision(3).pk)),
        (_cut_audit_tail, "AUDIT_LOG_CUT", str(rows[-2].pk)),
        (_delete_audit_row, "AUDIT_LINK_BROKEN", str(rows[2].pk)),
        (_change_audit_row, "AUDIT_ROW_CHANGED", str(rows[1].pk)),
        (_delete_release, "RELEASE_MISSING", str(Release.objects.order_by("pk")[1].pk)),
        (_delete_release_in_between, "RELEASES_REWRITTEN", str(Release.objects.order_by("pk")[2].pk)),
        (_delete_revision, "REVISION_MISSING", "'alpha' revision 2"),
        (_delete_checkpoint, "CHECKPOINT_MISSING", "2"),
        (_change_checkpoint, "CHECKPOINT_SIGNATURE_INVALID", "3"),
        (_move_pointer, "CAPABILITY_NOT_AS_RELEASED", str(Capability.objects.get(capability_id="alpha").pk)),
    ]

    def check(case: tuple[Callable[[], None], str, str]) -> None:
        change, code, row = case
        with tampering():
            change()
        assert _row(code) == row

    check_each(expected, check, name=lambda case: case[0].__name__, isolate=rolled_back)


@pytest.mark.usefixtures("history")
def test_no_checkpoint_is_signed_over_a_damaged_history() -> None:
    def check(change: Callable[[], None]) -> None:
        with tampering():
            change()
        caches.reset_all()
        with pytest.raises(Exception, match="no checkpoint is signed over that"):
            checkpoints.make_checkpoint()

    check_each([_cut_audit_tail, _recompute_chain, _delete_audit_log], check, isolate=rolled_back)


@pytest.mark.usefixtures("history")
def test_a_key_without_write_tools_gets_what_was_signed_for_it(settings: Any) -> None:
    from tests.factories import agent_key

    settings.AGENT_API_PUBLIC_READ = False
    client = ApiClient()
    client.core.key = agent_key(read_only_tools=True)
    caches.reset_all()
    bundle = client.load("beta")
    assert bundle.withheld_tools == ("beta_save",)
    revision = Revision.objects.get(capability__capability_id="beta")
    assert bundle.digest == revision.read_only_digest != revision.digest


@pytest.mark.usefixtures("history")
def test_the_first_keys_are_remembered_and_others_refused(tmp_path: Path) -> None:
    path = tmp_path / "registry.trust"
    assert ApiClient(path, trusted="first_use").load().revision == 3
    with tampering():
        _sign_with_another_key()
    caches.reset_all()
    with pytest.raises(errors.SigningKeyUnknown, match="not trusted here"):
        ApiClient(path, trusted="first_use").load()


@pytest.mark.usefixtures("history")
def test_another_process_remembers_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "registry.trust"
    ApiClient(path).load()
    with tampering():
        _roll_back()
    caches.reset_all()
    with pytest.raises(errors.RegistryRolledBack, match="has no checkpoint 3"):
        ApiClient(path).load()
    assert ApiClient().load().revision == 2
