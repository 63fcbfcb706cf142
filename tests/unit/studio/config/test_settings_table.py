"""What is written about settings elsewhere is what the table says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from studio.config.environment import SETTINGS, Setting
from tests.servers import ROOT


def default_text(setting: Setting) -> str:
    if setting.default_text or setting.default in (None, (), ""):
        return setting.default_text or "none"
    return "off" if setting.default is False else f"`{setting.default}`"


def test_the_page_has_the_table() -> None:
    rows = [f"| `{row.variable}` | {default_text(row)} | {row.purpose} |" for row in SETTINGS.values()]
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    assert re.findall(r"^\| `.*", page, re.MULTILINE) == rows


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda setting: setting.variable)
def test_the_default_in_the_page_is_the_value_that_holds(setting: Setting) -> None:
    match = re.fullmatch("`([^`]*)`", default_text(setting))
    if match and not isinstance(setting.default, Path):
        assert setting.parse(match[1]) == setting.default


def test_the_example_of_the_containers_repeats_defaults() -> None:
    """Of the product's settings; those that differ in containers are named."""
    text = (ROOT / ".env.example").read_text("utf-8").partition("# --- the product")[2].partition("# ---")[0]
    rows = {row.variable: default_text(row) for row in SETTINGS.values()}
    values = dict(re.findall(r"^#([A-Z_]+)=(.*)$", text, re.MULTILINE))
    assert values.keys() <= rows.keys()
    differ = {name for name, value in values.items() if value and f"`{value}`" != rows[name]}
    assert differ == {"AGENT_API_PUBLIC_READ", "LOG_FORMAT"}
