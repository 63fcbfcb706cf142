"""What is written about settings elsewhere is what the table says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from studio.config.environment import SETTINGS, VARIABLES, Setting
from tests.servers import ROOT

# `| variable | default | what it does |`
ROWS = re.findall(
    r"^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$", (ROOT / "docs" / "settings.md").read_text("utf-8"), re.MULTILINE
)
# Of each the page says in words what the default follows.
IN_WORDS = {
    *("STATIC_DIR", "SECRET_KEY", "SIGNING_KEY_FILE", "ALLOWED_HOSTS", "AGENT_API_PUBLIC_READ"),
    *("EXAMPLES", "ACCESS_LOG"),
}


def test_the_page_names_every_setting_in_order() -> None:
    assert tuple(variable for variable, _ in ROWS) == VARIABLES


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda setting: setting.variable)
def test_the_default_in_the_page_is_the_value_that_holds(setting: Setting) -> None:
    text = dict(ROWS)[setting.variable]
    literal = re.fullmatch("`([^`]*)`", text)
    if setting.variable in IN_WORDS:
        assert literal is None
    elif literal:
        value = Path(literal[1]) if isinstance(setting.default, Path) else setting.parse(literal[1])
        assert value == setting.default
    elif isinstance(setting.default, bool):
        assert setting.parse(text) == setting.default
    else:
        assert text == "none"
        assert not setting.default


def test_the_example_of_the_containers_repeats_defaults() -> None:
    """Of the product's settings; those that differ in containers are named."""
    text = (ROOT / ".env.example").read_text("utf-8").partition("# --- the product")[2].partition("# ---")[0]
    rows = dict(ROWS)
    values = dict(re.findall(r"^#([A-Z_]+)=(.*)$", text, re.MULTILINE))
    assert values.keys() <= rows.keys()
    differ = {name for name, value in values.items() if value and f"`{value}`" != rows[name]}
    assert differ == {"AGENT_API_PUBLIC_READ", "LOG_FORMAT"}
