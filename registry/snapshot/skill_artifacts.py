"""Published bundles as Agent Skills: files, digests and archives, made on first use and kept in a bounded cache.

They depend on the revision alone, which never changes: the same bytes in every process.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from capability_kit.bundles.digest import bytes_digest
from capability_kit.bundles.skill_names import skill_name_of
from capability_rules.agent_skills.exporter import export_skill_files
from capability_rules.bundles.archives import write_zip
from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.file_pointer import parse_pointer
from registry.catalog.integrity import require_valid_revision
from registry.common import caches
from registry.common.errors import SkillMalformed
from registry.core.file_contents import FileBytes
from registry.core.queries import load_bundle
from registry.core.storage import require_database
from registry.models import Revision
from registry.snapshot.response_cache import RenderedResponse, ResponseCache
from registry.snapshot.snapshot import Snapshot, SnapshotEntry

BYTES_MAX: Final = 32 * 1024 * 1024
_REVISIONS_A_READ: Final = 100
# The whole skill as one artifact, beside its files by their paths, of which none has this character.
ZIP: Final = "*"


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    """One file of a skill; `path` is below its folder. `media_type` is empty for a text."""

    path: str
    digest: str
    size: int
    media_type: str = ""


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
    files: tuple[ArtifactFile, ...]


ARTIFACTS: Final = ResponseCache(BYTES_MAX)
# By history and revision: a hundred bytes each, so that an index never makes an artifact twice.
_FACTS: Final[dict[tuple[str, int], SkillFacts]] = {}


@caches.register
def clear_cache() -> None:
    """Begin again, as in a new process."""
    ARTIFACTS.forget()
    _FACTS.clear()


def get_skill_facts(snapshot: Snapshot, entries: Iterable[SnapshotEntry]) -> list[SkillFacts]:
    """What there is to say of each; a bundle that is malformed is left out, and noted as an incident.

    Raises `RegistryUnavailable`.
    """
    wanted = list(entries)
    keys = [(snapshot.epoch, entry.revision_id) for entry in wanted]
    missing = [key[1] for key in keys if key not in _FACTS]
    if len(_FACTS) > 2 * len(snapshot.entries) + 1000:
        _FACTS.clear()
        missing = [key[1] for key in keys]
    for start in range(0, len(missing), _REVISIONS_A_READ):
        _read_facts(snapshot.epoch, missing[start : start + _REVISIONS_A_READ])
    return [_FACTS[key] for key in keys if key in _FACTS]


@require_database()
def _read_facts(epoch: str, revision_ids: list[int]) -> None:
    for revision in Revision.objects.select_related("capability").filter(pk__in=revision_ids):
        with suppress(SkillMalformed):
            _FACTS[epoch, revision.pk] = _facts(revision)


def _facts(revision: Revision) -> SkillFacts:
    bundle = _sound_bundle(revision)
    files = export_skill_files(bundle, for_agents=True)
    artifact = "SKILL.md" if len(files) == 1 else ZIP
    capability_id = revision.capability.capability_id
    return SkillFacts(
        capability_id=capability_id,
        name=skill_name_of(capability_id),
        description=bundle.capability["description"],
        revision=revision.number,
        artifact=artifact,
        digest=bytes_digest(_bytes(files, artifact)),
        files=tuple(_describe(path, text) for path, text in files.items()),
    )


def _describe(path: str, text: str) -> ArtifactFile:
    pointer = parse_pointer(text)
    if pointer is not None:
        return ArtifactFile(path, pointer.digest, pointer.size, "" if pointer.is_text else pointer.media_type)
    content = text.encode("utf-8")
    return ArtifactFile(path, bytes_digest(content), len(content))


def _sound_bundle(revision: Revision) -> SkillBundle:
    require_valid_revision(revision)
    return load_bundle(revision)


def _bytes(files: dict[str, str], artifact: str) -> bytes:
    contents = FileBytes(files)
    return contents[artifact] if artifact != ZIP else write_zip(contents, compress=False)


def load_artifact(snapshot: Snapshot, revision_id: int, artifact: str) -> RenderedResponse:
    """One file of a skill by its path, or `ZIP`. Raises `SkillMalformed`, `RegistryUnavailable`, KeyError."""
    key: Any = (snapshot.epoch, revision_id, artifact)
    return ARTIFACTS.get(key, lambda: _render(revision_id, artifact))


@require_database()
def _render(revision_id: int, artifact: str) -> RenderedResponse:
    revision = Revision.objects.select_related("capability").get(pk=revision_id)
    return RenderedResponse(_bytes(export_skill_files(_sound_bundle(revision), for_agents=True), artifact))
