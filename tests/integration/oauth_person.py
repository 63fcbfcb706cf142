"""A person with a browser, who signs in where an assistant leads them and allows what they are asked. It needs httpx2
alone: programs of other environments have it, too."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

import httpx2

from tests.unit.studio.forms import form_with, forms_in


class _Browser(httpx2.Client):
    """Sends forms as `tests.unit.studio.forms` does."""

    def post(self, url: Any, data: Any = None, **more: Any) -> Any:
        return super().post(url, data=data, headers={"Referer": str(self.base_url)}, **more)


class Person:
    """`words` are the page that asked them last."""

    def __init__(self, origin: str, username: str, password: str) -> None:
        self._origin, self._username, self._password = origin, username, password
        self.words = ""
        self._said = {"login": username, "password": password}

    def allow(self, link: str) -> str:
        """Follow an assistant's link, sign in, and allow; where the browser is led then."""
        return self._allow_here(link) if link.startswith(f"{self._origin}/") else self._allow_elsewhere(link)

    def _allow_elsewhere(self, link: str) -> str:
        """At another authorization server: whatever its pages ask, until they lead to another host."""
        origin = urljoin(link, "/")
        with httpx2.Client(timeout=30) as browser:
            page = browser.get(link)
            while True:
                if page.is_redirect:
                    link = urljoin(str(page.url), page.headers["Location"])
                    if not link.startswith(origin):
                        return link
                    page = browser.get(link)
                else:
                    self.words = page.text
                    form = next((form for form in forms_in(page) if form.buttons), None)
                    assert form is not None, page.text
                    said = {name: value for name, value in self._said.items() if name in form.values}
                    page = browser.post(urljoin(str(page.url), form.action), data=form.values | said)

    def _allow_here(self, link: str) -> str:
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
