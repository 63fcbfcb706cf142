"""An agent's side of the API with the standard library: `python -m docs.agents.plain_http ADDRESS "message" [KEY]`.

Match the message, load what it needs, let the registry write the prompt. Running tools is your program's work: check
the arguments against each tool's args_schema, and ask a person where the policy has requires_approval.
"""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from typing import Any


def post(url: str, body: dict[str, Any], key: str | None = None) -> Any:
    """The response as JSON; an error's too, since its message says what to do."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=20) as response:  # noqa: S310
            return json.load(response)
    except urllib.error.HTTPError as error:
        return json.load(error)


def main(address: str, message: str, key: str | None = None) -> None:
    """One message."""
    api = f"{address}/api/v1"
    needed = post(f"{api}/capability_match", {"message": message}, key)["needed"]
    print("needed:", ", ".join(needed) or "nothing")
    for capability_id in needed:
        bundle = post(f"{api}/capability_skill_load", {"capability_id": capability_id}, key)
        tools = [f"{tool['name']} ({tool['policy']['kind']})" for tool in bundle["tools"]]
        print(f"{capability_id}, revision {bundle['revision']}: {', '.join(tools)}")
    if needed:
        prompt = post(f"{api}/prompt_render", {"capability_ids": needed}, key)
        print(f"prompt: {prompt['characters']:,} characters, begins with {prompt['prompt'].splitlines()[0]!r}")


if __name__ == "__main__":
    main(*sys.argv[1:4])
