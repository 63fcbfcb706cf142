"""Run by `manage.py shell`: every page with the features that FEATURES has."""

from __future__ import annotations

import json

from django.conf import settings
from django.core.management import call_command
from django.test import Client

from registry.models import Operator
from tests.unit.studio.page_sweep import furnish, list_addresses, read_page

# Another host than that of a test client is refused.
settings.ALLOWED_HOSTS.append("testserver")
call_command("check", databases=["default"])
call_command("makemigrations", check=True, dry_run=True, verbosity=0)
furnish()
client = Client()
client.force_login(Operator.objects.create(username="the-admin", role="admin", is_superuser=True, is_staff=True))
pages = [address for address in list_addresses() if read_page(client, address)]
loaded = client.post(
    "/api/v1/capability_skill_load", json.dumps({"capability_id": "alpha"}), content_type="application/json"
)
called = client.post("/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}), content_type="application/json")
offered = b"/mcp" in client.get("/capabilities/alpha/").content
mcp = {"mcp": called.status_code, "offered": offered}
print(json.dumps(mcp | {"features": settings.FEATURES, "pages": pages, "load": loaded.status_code}))
