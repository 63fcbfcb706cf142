"""`POST /hooks/sources/NUMBER`: push webhooks of a source's git host or registry (docs/gitops.md)."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http.endpoint import endpoint
from agent_api.http.parsers import RawParser
from features.sources import push_webhooks
from features.sources.push_webhooks import PushDelivery
from registry.common import rate_limits
from registry.common.errors import Forbidden


class PushParser(RawParser):
    """A push as it came: the signature is over the bytes."""

    bytes_max = push_webhooks.BODY_BYTES_MAX


@endpoint("POST", parsers=(PushParser,))
def source_hook(request: Request, number: str) -> Response:
    """Queue a sync of the source. A wrong signature is counted as a guess, by address."""
    try:
        heard = push_webhooks.receive_push(source_id=int(number), delivery=_delivery(request))
    except Forbidden:
        rate_limits.consume("guess", rate_limits.guess_subject("source hook", request.META.get("REMOTE_ADDR")))
        raise
    status = 202 if heard.status in ("queued", "waiting") else 200
    body = {"status": heard.status, "message": heard.words}
    return Response(body, status=status, headers={"Cache-Control": "no-store"})


def _delivery(request: Request) -> PushDelivery:
    """The headers of GitHub, of Gitea and Forgejo, which have GitHub's too, of GitLab, and of Standard Webhooks."""
    headers = request.headers
    # DRF does not call a parser for an empty body.
    given: Any = request.data
    signature = headers.get("X-Hub-Signature-256", "").removeprefix("sha256=") or headers.get("X-Gitea-Signature", "")
    signature = signature or headers.get("webhook-signature", "")
    event = headers.get("X-GitHub-Event") or headers.get("X-Gitea-Event") or headers.get("X-Gitlab-Event", "")
    return PushDelivery(
        event=event,
        body=given if isinstance(given, bytes) else b"",
        signature=signature,
        token=headers.get("X-Gitlab-Token", ""),
        event_id=headers.get("webhook-id", ""),
        sent_at=headers.get("webhook-timestamp", ""),
        is_form=(request.content_type or "").startswith("application/x-www-form-urlencoded"),
    )
