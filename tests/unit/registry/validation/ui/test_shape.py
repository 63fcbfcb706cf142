"""Group 1: keys, types, names, versions and sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from registry.validation.problems import Problem
from registry.validation.ui.work import Work

from .conftest import Check, Entry  # noqa: TID252
