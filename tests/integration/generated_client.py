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


def datamodel_code_generator(url: str, key: str) -> dict[str, Any]:
    """The module `models`, made by datamodel-code-generator; its requests are sent as they are dumped."""
    import httpx
    import models  # type: ignore[import-not-found]

    files = {"capability.json": "{}", "skill.md": "# One"}
    sent = {
        "capability_match": models.MatchRequest(message="I weighed 80 kg"),
        "capability_skill_load": models.SkillLoadRequest(capability_id="weights"),
        "prompt_render": models.PromptRenderRequest(capability_ids=["weights"], environment={}),
        "capability_feedback": models.FeedbackRequest(capability_id="weights", outcome="used"),
        "operator/bundle_validate": models.BundlesRequest(bundles=[{"files": files}]),
        "operator/bundle_import": models.BundlesRequest(bundles=[{"files": files}], dry_run=True),
    }
    answers, nulls = {}, 0
    with httpx.Client(base_url=f"{url}/api/v1/", headers={"Authorization": f"Bearer {key}"}) as client:
        for name, request in sent.items():
            body = request.model_dump(mode="json")
            nulls += json.dumps(body).count("null")
            answers[name] = client.post(name, json=body).status_code
        listed = client.get("capability_registry_list", params={"limit": 10.0})
        answers["list"] = listed.status_code
    return {"answers": answers, "nulls": nulls}


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    print(json.dumps(globals()[sys.argv[2]](*sys.argv[3:5])))
