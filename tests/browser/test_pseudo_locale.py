"""The Studio in a language that is longer, has other letters and is written the other way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from features.listing_budgets.budgets import list_budgets
from registry.feature import installed_feature_names
from tests.browser.conftest import add_operators
from tests.browser.furnished_studio import ADDRESSES
from tests.browser.layout import OVERFLOW
from tests.browser.pseudo_locale import LANGUAGE, write_catalogs
from tests.servers import Studio, start_studio
from tests.sweeps import check_each
from tests.unit.studio.brackets import outside_brackets

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.rare]

# What is wide enough in one direction is in the other.
WIDTHS = {"ltr": (320, 1280), "rtl": (320,)}
# Names of programs, as examples in empty fields.
PLACEHOLDERS = {"ffmpeg", "github", "openpyxl", "pandas", "weights"}
SETTINGS = "tests.browser.pseudo_settings"
# What sticks out beside the page, for the message of a failure.
WIDE = """() => {
    const page = document.documentElement, width = page.clientWidth;
    const clips = one => one && one !== document.body && one !== page
        && (getComputedStyle(one).overflowX !== "visible" || clips(one.parentElement));
    const sticksOut = ({ left, right, width: own }) => own > 1 && (right > width + 1 || left < -1);
    return [...document.querySelectorAll("body *")]
        .filter(one => sticksOut(one.getBoundingClientRect()) && one.checkVisibility() && !clips(one.parentElement))
        .map(one => one.outerHTML.slice(0, 120)).slice(0, 5);
}"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("locale")
    write_catalogs(folder)
    more = {"DJANGO_SETTINGS_MODULE": SETTINGS, "PSEUDO_LOCALE": str(folder)}
    studio = start_studio(tmp_path_factory.mktemp("studio"), None, add_operators, **more)
    yield studio
    studio.stop()


@pytest.fixture(scope="module")
def data(furnished: Studio, other_pages: dict[str, str]) -> set[str]:
    """Each word that somebody of the registry has written, or that is a name in it or of a client."""
    dumped = furnished.manage("dumpdata", "registry", *installed_feature_names()).stdout
    clients = " ".join(str(budget.name) for budget in list_budgets())
    return set(re.findall(r"[^\W\d_]{2,}", f"{dumped} {clients}"))


def test_every_page_is_translated_and_no_page_is_too_wide_in_either_direction(
    furnished: Studio,
    as_role: Callable[[str], Page],
    data: set[str],
    other_pages: dict[str, str],
) -> None:
    page, addresses = as_role("admin"), ADDRESSES | other_pages

    def check(name: str) -> None:
        page.goto(furnished.url + addresses[name])
        assert page.locator("html").get_attribute("lang") == LANGUAGE
        # The editor's forms quote the schemas: test_editor_language.py knows these.
        # The title of a page of the docs is a text of the docs.
        own = (
            set(re.findall(r"[^\W\d_]{2,}", page.locator("h1").first.inner_text()))
            if name.startswith("docs")
            else set()
        )
        known = data | PLACEHOLDERS | own
        untranslated = [] if name.startswith("editor") else outside_brackets(page.content(), known)
        for direction, widths in WIDTHS.items():
            page.evaluate("direction => { document.documentElement.dir = direction; }", direction)
            for width in widths:
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate(OVERFLOW) <= 0, (direction, width, page.evaluate(WIDE))
        assert untranslated == []

    check_each(sorted(addresses), check)
