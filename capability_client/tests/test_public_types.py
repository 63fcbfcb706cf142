"""What type checkers know of the library: no `Any` in its interface, wrong uses refused, both sessions alike."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import capability_client
from capability_client import AsyncRegistry, AsyncSession, Registry, Session
from capability_client.version import __version__
from tests.servers import ROOT

CHECKED = ROOT / "tests" / "typing"
PUBLIC = [name for name in capability_client.__all__ if not name.startswith("_")]


def _has_any(hint: object) -> bool:
    parts = hint if isinstance(hint, list) else typing.get_args(hint)
    return hint is Any or any(map(_has_any, parts))


def _hints(owner: Callable[..., object] | type) -> dict[str, object]:
    """Of a class its fields, of a function its parameters and result."""
    return {name: hint for name, hint in typing.get_type_hints(owner).items() if not name.startswith("_")}


def _functions(kind: type) -> Iterator[tuple[str, Callable[..., object]]]:
    for name, member in vars(kind).items():
        found = getattr(member, "__func__", getattr(member, "fget", member))
        is_written = name == "__init__" and not dataclasses.is_dataclass(kind)
        if inspect.isfunction(found) and (is_written or not name.startswith("_")):
            yield name, found


def _parts(public: object) -> Iterator[tuple[str, object]]:
    """`(where, hint)` of all that the name promises."""
    if inspect.isclass(public):
        for kind in (each for each in public.__mro__ if each.__module__.startswith("capability_")):
            yield from ((f"{kind.__name__}.{name}", hint) for name, hint in _hints(kind).items())
            for name, function in _functions(kind):
                yield from ((f"{kind.__name__}.{name}: {at}", hint) for at, hint in _hints(function).items())
    elif inspect.isfunction(public):
        yield from _hints(public).items()
    else:
        yield "", public


def test_no_part_of_the_public_interface_is_any() -> None:
    found = {
        f"{name} {where}"
        for name in PUBLIC
        for where, hint in _parts(getattr(capability_client, name))
        if _has_any(hint)
    }
    assert found == set()


def test_the_names_of_a_loop_come_from_the_front() -> None:
    loop = {"ApprovalRequired", "CallRefused", "Event", "FileProfiles", "FormRequired", "Limits", "Message", "Model"}
    assert loop | {"ModelCall", "ModelReply", "SkillForm", "ToolCall", "export_messages"} <= set(PUBLIC)
    assert all(getattr(capability_client, name) is not None for name in capability_client.__all__)
    assert dir(capability_client) == sorted(capability_client.__all__)


def test_the_version_is_a_name_of_the_package() -> None:
    assert capability_client.__version__ == __version__
    assert "__version__" in capability_client.__all__


@pytest.mark.slow
def test_each_wrong_use_is_refused_by_mypy(tmp_path: Path) -> None:
    """An error that is not raised leaves its comment unused, which strict mypy refuses."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}", str(CHECKED)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout


def _kinds(kind: type) -> dict[str, tuple[str, list[str]]]:
    """Of each public name: method or property, and its parameters."""
    found: dict[str, tuple[str, list[str]]] = {}
    for name, member in inspect.getmembers(kind):
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            found[name] = ("property", [])
        elif callable(member):
            found[name] = ("method", list(inspect.signature(member).parameters))
    return found


@pytest.mark.parametrize(("blocking", "waiting"), [(Session, AsyncSession), (Registry, AsyncRegistry)])
def test_sync_and_async_have_the_same_names_and_kinds(blocking: type, waiting: type) -> None:
    assert _kinds(blocking) == _kinds(waiting)
