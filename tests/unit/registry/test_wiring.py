"""Everything that is registered exists, and every kind of job that is queued has a handler."""

from __future__ import annotations

import ast

import pytest
from django.utils.module_loading import import_string

from registry import wiring
from registry.core import audit
from registry.core.hooks import Hook, HookTable
from registry.core.jobs import queue
from registry.publishing import events
from tests.servers import ROOT
from tests.sweeps import check_each

_HOOKS = (audit.RECORDED, *audit.RECORDED_VERBS.values(), events.SUPERSEDED, events.IMPORTED)
_PATHS = [*wiring.HANDLERS.values(), *wiring.OBSERVERS.values(), *(path for hook in _HOOKS for path in hook.paths)]


def test_a_registered_path_is_a_function() -> None:
    def check(path: str) -> None:
        assert callable(import_string(path))

    check_each(_PATHS, check)


def test_every_kind_of_job_has_a_handler() -> None:
    """Each module that queues jobs names their kind in a constant `KIND` or `..._KIND`."""
    kinds = set()
    for path in (ROOT / "registry").rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            match node:
                case ast.AnnAssign(target=ast.Name(name), value=ast.Constant(kind)) if name.endswith("KIND"):
                    kinds.add(str(kind))
    assert kinds == wiring.HANDLERS.keys()
    assert wiring.OBSERVERS.keys() <= wiring.HANDLERS.keys()


def test_wiring_again_changes_nothing() -> None:
    paths = [list(hook.paths) for hook in _HOOKS]
    handlers = dict(queue.HANDLERS)
    wiring.wire()
    assert ([list(hook.paths) for hook in _HOOKS], dict(queue.HANDLERS)) == (paths, handlers)
    assert all(paths)


def test_functions_are_called_in_their_order() -> None:
    hook, table = Hook(), HookTable()
    hook.register("builtins.print", "builtins.repr", "builtins.print")
    assert hook.paths == ["builtins.print", "builtins.repr"]
    table.update({"a": "builtins.len", "b": len})
    assert table.find("a") is table.find("b") is len
    assert table.find("c") is None


def test_an_error_of_a_function_is_the_callers() -> None:
    hook = Hook()
    hook.register("builtins.int")
    with pytest.raises(ValueError, match="invalid literal"):
        hook("x")
