"""What axe finds on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page


def find_violations(page: Page, **options: Any) -> list[tuple[str, str, str]]:
    """Of each rule that is broken its id, and the first places with what is wrong there."""
    from axe_playwright_python.sync_playwright import Axe

    # What passes is not described: on a page of many nodes that takes most of the time.
    options["resultTypes"] = ["violations"]
    found: list[dict[str, Any]] = Axe().run(page, options=options).response["violations"]
    return [(rule["id"], node["html"][:200], node["failureSummary"]) for rule in found for node in rule["nodes"][:3]]
