"""Sign what was published before revisions were signed."""

from __future__ import annotations

from typing import Final

from registry.common.actors import Actor
from registry.common.errors import HistoryDamaged
from registry.core import audit, checkpoints
from registry.core.queries import load_bundle
from registry.core.signatures import sign_revision
from registry.core.signing_keys import get_signing_keys
from registry.core.transactions import write_transaction
from registry.models import Revision
from registry.operations.verification.verify import verify_database

VERB: Final = "registry.sign"
_REVISIONS_A_TRANSACTION: Final = 200
# What signing does away with, or what has nothing to do with the content of revisions.
_ACCEPTED: Final = frozenset({"REVISION_SIGNATURE_MISSING", "TRIGGER_MISSING"})


def sign_unsigned_revisions(*, by: Actor) -> int:
    """Sign every revision without a signature, and make a checkpoint; returns how many were signed.

    Raises `HistoryDamaged` where the history has another problem: what was changed is never signed.
    """
    problems = verify_database(get_signing_keys().public).problems
    others = [problem for problem in problems if problem.code not in _ACCEPTED]
    if others:
        words = f"Nothing was signed: {others[0].message} ({len(others)} problems in all)"
        raise HistoryDamaged(f"{words}. Run: python3 run.py manage registry verify")
    signed = 0
    while count := _sign_some(by):
        signed += count
    checkpoints.make_checkpoint()
    return signed


def _sign_some(by: Actor) -> int:
    with write_transaction():
        unsigned = Revision.objects.filter(signature="").select_related("capability").order_by("pk")
        found = list(unsigned[:_REVISIONS_A_TRANSACTION])
        for revision in found:
            if not revision.read_only_digest:
                revision.read_only_digest = load_bundle(revision).without_write_tools().digest
            revision.signature = sign_revision(revision)
            revision.save(update_fields=["read_only_digest", "signature"])
        if found:
            audit.record(by=by, verb=VERB, subject="registry", detail={"revisions": len(found)})
    return len(found)
