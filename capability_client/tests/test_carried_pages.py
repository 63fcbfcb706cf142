"""The pages that the wheel carries: whole, each found by `docs`, and no link leads out of them."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest

from capability_client.cli import commands
from capability_client.cli.commands import list_pages
from tests.servers import ROOT

CLIENT = ROOT / "capability_client"
PAGES = {name: Path(os.path.normpath(path)) for name, path in list_pages().items()}
_LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")


def _prose(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", _prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", PAGES)
def test_no_link_of_a_carried_page_leads_out_of_the_wheel(name: str) -> None:
    faults = []
    for link in _LINK.findall(_prose(PAGES[name])):
        path, _, anchor = link.partition("#")
        # By its text: in the repository the pages are links, which lead to their neighbors there.
        target = Path(os.path.normpath(PAGES[name].parent / path)) if path else PAGES[name]
        if target not in PAGES.values() or (anchor and anchor not in _anchors(target)):
            faults.append(link)
    assert faults == []


@pytest.mark.parametrize("package", ["capability_client", "capability_kit", "capability_rules"])
def test_the_page_of_a_package_at_an_index_has_no_link_into_the_repository(package: str) -> None:
    assert _LINK.findall((ROOT / package / "README.md").read_text("utf-8")) == []


def test_every_page_is_data_of_the_package() -> None:
    told = tomllib.loads((CLIENT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    carried = {path for pattern in told["capability_client"] for path in CLIENT.glob(pattern)}
    assert {path for path in carried if path.suffix == ".md"} == set(PAGES.values())


def test_a_page_of_a_folder_is_printed_by_its_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["docs", "agent-tutorial/first-agent"]) == 0
    assert capsys.readouterr().out.startswith("# A first agent\n")
