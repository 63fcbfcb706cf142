"""Install a skill into a local folder: from a folder, a git address, an install code or a registry."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from capability_client.client.local_registry import LocalSkills, SkillUnreadable, read_folder
from capability_client.client.registry import Registry
from capability_kit.bundles.bundle import is_capability_id
from capability_kit.bundles.supporting_files import is_path, read_files

INSTALL_CODE: Final = re.compile(r"SKILL-[A-Z0-9]{4}-[A-Z0-9]{4}-[A-Z0-9]{4}")
_GIT: Final = re.compile(r"(?:https|ssh|file)://\S+|git@[\w.-]+:\S+")
_GIT_SECONDS: Final = 120
FOLDERS_MAX: Final = 500


class InstallRefused(ValueError):
    """The given source cannot be installed; the message says why and what can."""


def install(source: str, into: LocalSkills, registry: Registry | None) -> list[str]:
    """Install what `source` names; returns the ids. Raises `InstallRefused` or a `RegistryError`."""
    source = source.strip()
    if INSTALL_CODE.fullmatch(source.upper()):
        installed = _needed(registry).install(source.upper())
        return [_from_registry(installed["capability_id"], into, _needed(registry))]
    if _GIT.fullmatch(source):
        return _from_git(source, into)
    folder = Path(source).expanduser()
    if folder.is_dir():
        return _from_folder(folder, into, origin=str(folder.resolve()))
    name = source.replace("-", "_")
    if is_capability_id(name):
        return [_from_registry(name, into, _needed(registry))]
    raise InstallRefused(
        f"'{source[:80]}' is not a folder, a git address (https://...), an install code (SKILL-XXXX-XXXX-XXXX) or a "
        "capability_id"
    )


def _needed(registry: Registry | None) -> Registry:
    if registry is None:
        raise InstallRefused("Say which registry: --url ADDRESS, or CAPABILITY_STUDIO_URL")
    return registry


def _from_registry(capability_id: str, into: LocalSkills, registry: Registry) -> str:
    bundle = registry.load(capability_id)
    named = [one for one in bundle.files if is_path(one.path)]
    files = {
        one.path: registry.content(bundle, one.path) if one.type else registry.file(bundle, one.path) for one in named
    }
    into.install(bundle, origin=registry.url, files=files)
    return capability_id


def _from_folder(folder: Path, into: LocalSkills, *, origin: str) -> list[str]:
    """One skill, or a folder of them. A bad one among several is refused with its cause before any is written."""
    try:
        bundles = [(read_folder(each), read_files(each)) for each in _skill_folders(folder)]
    except SkillUnreadable as error:
        raise InstallRefused(f"Nothing was installed: {error.message}") from None
    if not bundles:
        raise InstallRefused(f"There is no skill in {folder.name}: no SKILL.md and no capability.json")
    for bundle, files in bundles:
        into.install(bundle, origin=origin, files=files)
    return [bundle.capability_id for bundle, _ in bundles]


def _skill_folders(folder: Path) -> Iterator[Path]:
    """The folder itself, or those one or two levels below it that contain a skill."""
    if _is_skill(folder):
        yield folder
        return
    below = [each for pattern in ("*", "*/*") for each in sorted(folder.glob(pattern))][:FOLDERS_MAX]
    yield from (each for each in below if each.is_dir() and not each.is_symlink() and _is_skill(each))


def _is_skill(folder: Path) -> bool:
    return (folder / "SKILL.md").is_file() or (folder / "capability.json").is_file()


def _from_git(address: str, into: LocalSkills) -> list[str]:
    """A shallow clone without hooks and submodules, thrown away afterwards."""
    with tempfile.TemporaryDirectory(prefix="skill-") as scratch:
        target = Path(scratch) / "clone"
        flags = ["-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "protocol.ext.allow=never"]
        command = ["git", *flags, "clone", "--quiet", "--depth", "1", "--no-tags", "--", address, str(target)]
        env = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "https:ssh:file"}
        try:
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=_GIT_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InstallRefused(f"git could not clone it: {error}") from None
        if done.returncode != 0:
            raise InstallRefused(f"git could not clone it: {done.stderr.strip()[-300:]}")
        return _from_folder(target, into, origin=address)
