"""Plugins of a set for one reader: made on first use, kept in a bounded cache, signed by the registry's key."""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import asdict, dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import orjson
import rfc8785

from capability_rules.bundles.archives import write_zip
from features.sets import plugin_forms
from features.sets.plugin_forms import PluginSource, SkillFiles, SkillLoss
from features.sets.set_reader import ResolvedSet
from registry.common import caches
from registry.common.errors import SkillMalformed, StatusConflict
from registry.core.signatures import seal
from registry.snapshot import Snapshot
from registry.snapshot.response_cache import RenderedResponse, ResponseCache
from registry.snapshot.skill_artifacts import ZIP, load_artifact

PLUGIN_TYPE: Final = "application/vnd.capability-studio.plugin+json"
BYTES_MAX: Final = 32 * 1024 * 1024
_PLUGINS: Final = ResponseCache(2 * BYTES_MAX)


@dataclass(frozen=True, slots=True)
class PluginAddress:
    """Where the reader is: below which address it found the registry, and whether it sends a key."""

    base_url: str
    needs_key: bool


@dataclass(frozen=True, slots=True)
class Plugin:
    """One form of a set; `url` names the version, so that the bytes at an address stay the same."""

    form: str
    url: str
    rendered: RenderedResponse

    @property
    def sha256(self) -> str:
        """The hex digest of the zip."""
        return hashlib.sha256(self.rendered.identity).hexdigest()


@caches.register
def clear_cache() -> None:
    """Begin again, as in a new process."""
    _PLUGINS.forget()


def load_plugin(snapshot: Snapshot, found: ResolvedSet, form: str, address: PluginAddress) -> Plugin:
    """The zip of a form. Raises KeyError for an unknown form, `StatusConflict` where it is too large,
    `RegistryUnavailable`."""

    def make() -> RenderedResponse:
        files = plugin_forms.build_plugin(read_source(snapshot, found, address), form)
        _require_size(found.set_id, sum(map(len, files.values())))
        return RenderedResponse(write_zip(files, compress=False))

    url = f"{address.base_url}/sets/{found.set_id}/{found.version}/{form}.zip"
    return Plugin(form, url, _PLUGINS.get(_key(snapshot, found, form, address), make))


def _key(snapshot: Snapshot, found: ResolvedSet, form: str, address: PluginAddress) -> tuple[object, ...]:
    """All that the bytes depend on: readers of one version may see other members."""
    members = tuple(each.revision_id for each in found.members)
    return snapshot.epoch, form, address, found.set_id, found.version, found.team, members


def _require_size(set_id: str, size: int) -> None:
    if size > BYTES_MAX:
        found, most = (round(each / 1024 / 1024) for each in (size, BYTES_MAX))
        raise StatusConflict(f"The set '{set_id}' has {found} MiB of files; a plugin has at most {most} MiB")


def read_source(snapshot: Snapshot, found: ResolvedSet, address: PluginAddress) -> PluginSource:
    """What the plugins of a set are made of; a member whose stored bundle is damaged is left out."""
    skills: list[SkillFiles] = []
    size = 0
    for member in found.members:
        try:
            files = load_skill_files(snapshot, member.revision_id)
        except SkillMalformed:
            continue
        size += sum(map(len, files.values()))
        _require_size(found.set_id, size)
        skills.append(SkillFiles(member.entry.capability_id, member.revision, files))
    author = found.team or urlsplit(address.base_url).hostname or "capability-studio"
    return PluginSource(found.document, found.version, author, address.base_url, address.needs_key, skills)


def load_skill_files(snapshot: Snapshot, revision_id: int) -> dict[str, bytes]:
    """A revision as an Agent Skill, by path below its folder. Raises `SkillMalformed`, `RegistryUnavailable`."""
    archive = load_artifact(snapshot, revision_id, ZIP).identity
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        return {info.filename: members.read(info) for info in members.infolist()}


def sign_plugin(found: ResolvedSet, plugin: Plugin) -> str:
    """A DSSE envelope as JSON over what the zip is. Raises `SigningKeyUnusable`."""
    statement: Any = {
        "set_id": found.set_id,
        "version": found.version,
        "form": plugin.form,
        "sha256": plugin.sha256,
        "size": len(plugin.rendered.identity),
        "members": [
            {"capability_id": each.entry.capability_id, "revision": each.revision, "digest": each.digest}
            for each in found.members
        ],
    }
    return seal(PLUGIN_TYPE, rfc8785.dumps(statement))


def describe_plugins(snapshot: Snapshot, found: ResolvedSet, address: PluginAddress) -> dict[str, Any]:
    """`{"plugins": [...], "losses": [...], "server": BOOL}` of `set_load`, kept as a plugin is."""
    kept = _PLUGINS.get(
        _key(snapshot, found, "", address),
        lambda: RenderedResponse(orjson.dumps(_describe(snapshot, found, address))),
    )
    described: dict[str, Any] = orjson.loads(kept.identity)
    return described


def _describe(snapshot: Snapshot, found: ResolvedSet, address: PluginAddress) -> dict[str, Any]:
    source = read_source(snapshot, found, address)
    plugins = [load_plugin(snapshot, found, form, address) for form in plugin_forms.FORMS]
    return {
        "plugins": [
            {
                "form": plugin.form,
                "url": plugin.url,
                "sha256": plugin.sha256,
                "size": len(plugin.rendered.identity),
                "envelope": sign_plugin(found, plugin),
            }
            for plugin in plugins
        ],
        "losses": [_describe_loss(loss) for loss in plugin_forms.list_losses(source)],
        "server": plugin_forms.has_server(source),
    }


def _describe_loss(loss: SkillLoss) -> dict[str, Any]:
    return asdict(loss) | {"renamed": loss.renamed or None}
