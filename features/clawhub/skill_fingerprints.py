"""One hash over the files of a skill, as ClawHub's client computes it over a folder.

Copies that were published are remembered by it: what went in may differ from what goes out in its front matter, and
a second publish of the same folder is reported as already published.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from features.clawhub.models import UploadedSkill
from registry.models import Revision

# The order in which the collation of the Unicode root locale puts ASCII; case counts last, lower case first.
_ORDER: Final = {
    char: at for at, char in enumerate(" _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz")
}


def skill_fingerprint(files: Iterable[tuple[str, str]]) -> str:
    """SHA-256 in hex over lines `path:sha256`, of pairs of a path and the hex digest of its content.

    Paths beyond ASCII may be ordered otherwise than the client orders them: then the copy is not known again.
    """
    ordered = sorted(files, key=lambda pair: _collation_key(pair[0]))
    return hashlib.sha256("\n".join(f"{path}:{digest}" for path, digest in ordered).encode()).hexdigest()


def _collation_key(path: str) -> tuple[list[int], list[bool]]:
    lower = path.lower()
    return [_ORDER.get(char, 1000 + ord(char)) for char in lower], [char.isupper() for char in path]


def record_upload(revision: Revision, hashed: str) -> None:
    """Under the lock of the registry."""
    UploadedSkill.objects.get_or_create(revision=revision, fingerprint=hashed)


def revision_of_upload(capability_id: str, hashed: str) -> int | None:
    """The newest revision that a copy with this fingerprint was published as; None where none was."""
    found = UploadedSkill.objects.filter(revision__capability__capability_id=capability_id, fingerprint=hashed)
    return found.order_by("-revision__number").values_list("revision__number", flat=True).first()
