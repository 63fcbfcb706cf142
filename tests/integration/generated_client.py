"""`generated_client.py FOLDER KIND URL KEY`: read list, load and both errors with a client made from our document."""

from __future__ import annotations

import json
import sys
from typing import Any


def openapi_python_client(url: str, key: str) -> dict[str, Any]:
    """The package `studio_client`, made by openapi-python-client."""
    from studio_client import AuthenticatedClient
    from studio_client.api.agents import capability_registry_list, capability_skill_load
    from studio_client.models import CapabilityNotFoundError, SkillMalformedError

    client = AuthenticatedClient(base_url=url, token=key)
    listing = capability_registry_list.sync(client=client)
    loaded = capability_skill_load.sync(client=client, capability_id="weights")
    missing = capability_skill_load.sync(client=client, capability_id="nobody")
    damaged = capability_skill_load.sync(client=client, capability_id="meals")
    assert isinstance(missing, CapabilityNotFoundError)
    assert isinstance(damaged, SkillMalformedError)
    return {
        "listed": [each.capability_id for each in listing.capabilities],
        "tools": len(loaded.tools),
        "digest": loaded.digest,
        "missing": missing.error.code,
        "offered": missing.error.available_capabilities,
        "damaged": damaged.error.code,
    }


def openapi_generator(url: str, key: str) -> dict[str, Any]:
    """The package `openapi_client`, made by OpenAPI Generator."""
    import openapi_client
    from openapi_client.exceptions import ApiException

    settings = openapi_client.Configuration(host=url, access_token=key)
    with openapi_client.ApiClient(settings) as client:
        agents = openapi_client.AgentsApi(client)
        loaded = agents.capability_skill_load("weights")
        errors = []
        for name in ("nobody", "meals"):
            try:
                agents.capability_skill_load(name)
            except ApiException as error:
                errors.append(json.loads(error.body)["error"])
        return {
            "listed": [each.capability_id for each in agents.capability_registry_list().capabilities],
            "tools": len(loaded.tools),
            "digest": loaded.digest,
            "missing": errors[0]["code"],
            "offered": errors[0]["available_capabilities"],
            "damaged": errors[1]["code"],
        }


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    print(json.dumps(globals()[sys.argv[2]](*sys.argv[3:5])))
