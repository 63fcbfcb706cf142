"""Run by `manage.py shell` in a furnished Studio: a page of each template that ADDRESSES does not show."""

from __future__ import annotations

import json

from django.test import Client
from django.test.utils import setup_test_environment

from registry.catalog import drafts
from registry.models import Operator
from tests import feature_pages
from tests.browser.furnished_studio import ADDRESSES
from tests.factories import OLGA, bundle, publish
from tests.unit.studio.page_sweep import list_addresses

files = {**bundle(body="Answer in three."), "references/units.md": "# Units"}
publish()
for based_on in (None, 1):
    drafts.save_draft(capability_id="alpha", files=files, based_on=based_on, by=OLGA)
for pages in feature_pages.ALL:
    pages.furnish()
setup_test_environment()
client = Client()
client.force_login(Operator.objects.get(username="the-admin"))


def find_template(address: str) -> str:
    """The template of a whole page; empty where the address has none."""
    answer = client.get(address)
    is_page = (
        answer.status_code == 200 and answer["Content-Type"].startswith("text/html") and b"<html" in answer.content
    )
    return str(answer.templates[0].name) if is_page else ""


shown = {"", *map(find_template, ADDRESSES.values())}
others = {find_template(address): address for address in list_addresses()}
print(json.dumps({template: address for template, address in others.items() if template not in shown}))
