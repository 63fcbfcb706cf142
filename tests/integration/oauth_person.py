"""A person with a browser, who signs in at the Studio and allows what they are asked. It needs httpx2 alone: programs
of other environments have it, too."""

from __future__ import annotations

from typing import Any

import httpx2

from tests.unit.studio.forms import form_with


class _Browser(httpx2.Client):
    """Sends forms as `tests.unit.studio.forms` does."""

    def post(self, url: Any, data: Any = None, **more: Any) -> Any:
        return super().post(url, data=data, headers={"Referer": str(self.base_url)}, **more)


class Person:
    """`words` are the page that asked them last."""

    def __init__(self, origin: str, username: str, password: str) -> None:
        self._origin, self._username, self._password = origin, username, password
        self.words = ""

    def allow(self, link: str) -> str:
        """Follow an assistant's link, sign in, and allow; where the browser is led then."""
        with _Browser(base_url=self._origin, timeout=30) as browser:
            page = browser.get(browser.get(link).headers["Location"])
            form = form_with(page, "Sign in")
            signed_in = form.submit(browser, username=self._username, password=self._password)
            page = browser.get(signed_in.headers["Location"])
            self.words = page.text
            back = form_with(page, "Allow access").submit(browser, decision="allow")
        assert back.status_code == 303, back.text[-2000:]
        location: str = back.headers["Location"]
        return location
