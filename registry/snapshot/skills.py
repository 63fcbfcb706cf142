"""Published bundles as Agent Skills: files, digests and archives, made on first use and kept in a bounded cache.

They depend on the revision alone, which never changes: the same bytes in every process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from django.db import DatabaseError, InterfaceError

from registry import outages
from registry.agent_skills.giving import skill_files
from registry.agent_skills.names import skill_name_of
from registry.bundles import Bundle
from registry.errors import RegistryUnavailable, SkillMalformed
from registry.imports.archives import write_zip
from registry.models import Revision
from registry.queries import bundle_of
from registry.snapshot.bodies import BodyCache, Rendered
from registry.snapshot.content import Entry, Snapshot
from registry.soundness import require_sound

BYTES_MAX: Final = 32 * 1024 * 1024
_REVISIONS_A_READ: Final = 100
# The whole skill as one artifact, beside its files by their paths, of which none has this character.
ZIP: Final = "*"


@dataclass(frozen=True, slots=True)
class SkillFile:
    """One file of a skill; `path` is below its folder."""

    path: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class SkillFacts:
    """What an index says of a skill.

    `artifact` is what a client fetches, SKILL.md where that is all of it, else `ZIP`; `digest` is that of its bytes.
    """

    capability_id: str
    name: str
    description: str
    revision: int
    artifact: str
    digest: str
    files: tuple[SkillFile, ...]


ARTIFACTS: Final = BodyCache(BYTES_MAX)
# By history and revision: a hundred bytes each, so that an index never makes an artifact twice.
_FACTS: Final[dict[tuple[str, int], SkillFacts]] = {}


def forget() -> None:
    """Begin again, as in a new process."""
    ARTIFACTS.forget()
    _FACTS.clear()


def skill_facts(snapshot: Snapshot, entries: Iterable[Entry]) -> list[SkillFacts]:
    """What there is to say of each; a bundle that is malformed is left out, and noted as an incident.

    Raises `RegistryUnavailable`.
    """
    wanted = list(entries)
    keys = [(snapshot.history, entry.revision_id) for entry in wanted]
    missing = [key[1] for key in keys if key not in _FACTS]
    if len(_FACTS) > 2 * len(snapshot.entries) + 1000:
        _FACTS.clear()
        missing = [key[1] for key in keys]
    for start in range(0, len(missing), _REVISIONS_A_READ):
        _read_facts(snapshot.history, missing[start : start + _REVISIONS_A_READ])
    return [_FACTS[key] for key in keys if key in _FACTS]


def _read_facts(history: str, revision_ids: list[int]) -> None:
    try:
        for revision in Revision.objects.select_related("capability").filter(pk__in=revision_ids):
            try:
                _FACTS[history, revision.pk] = _facts(revision)
            except SkillMalformed:
                continue
    except (DatabaseError, InterfaceError) as error:
        raise RegistryUnavailable(outages.notice(error).words) from error


def _facts(revision: Revision) -> SkillFacts:
    bundle = _sound_bundle(revision)
    files = skill_files(bundle, for_agents=True)
    artifact = "SKILL.md" if len(files) == 1 else ZIP
    contents = [(path, text.encode("utf-8")) for path, text in files.items()]
    capability_id = revision.capability.capability_id
    return SkillFacts(
        capability_id=capability_id,
        name=skill_name_of(capability_id),
        description=bundle.capability["description"],
        revision=revision.number,
        artifact=artifact,
        digest=_digest(_bytes(files, artifact)),
        files=tuple(SkillFile(path, _digest(content), len(content)) for path, content in contents),
    )


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _sound_bundle(revision: Revision) -> Bundle:
    require_sound(revision)
    return bundle_of(revision)


def _bytes(files: dict[str, str], artifact: str) -> bytes:
    if artifact != ZIP:
        return files[artifact].encode("utf-8")
    return write_zip({name: text.encode("utf-8") for name, text in files.items()}, compress=False)


def load_artifact(snapshot: Snapshot, revision_id: int, artifact: str) -> Rendered:
    """One file of a skill by its path, or `ZIP`. Raises `SkillMalformed`, `RegistryUnavailable`, KeyError."""
    key: Any = (snapshot.history, revision_id, artifact)
    return ARTIFACTS.get(key, lambda: _render(revision_id, artifact))


def _render(revision_id: int, artifact: str) -> Rendered:
    try:
        revision = Revision.objects.select_related("capability").get(pk=revision_id)
        return Rendered(_bytes(skill_files(_sound_bundle(revision), for_agents=True), artifact))
    except (DatabaseError, InterfaceError) as error:
        raise RegistryUnavailable(outages.notice(error).words) from error
