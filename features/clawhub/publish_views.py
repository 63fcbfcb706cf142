"""`clawhub skill publish`: files announced, sent one by one, and made a bundle.

A key with the scope `publish` publishes through the same gate as everyone; one with `propose` submits for review.
"""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import Caller, require_scope
from agent_api.http.parsers import RawParser
from agent_api.integrations.access import base_url
from capability_kit.bundles.skill_names import skill_name_of
from capability_rules.bundles.file_pointer import CONTENT_BYTES_MAX
from capability_rules.errors import InvalidRequest
from features.clawhub import protocol, skill_uploads
from features.clawhub.protocol import build_response, clawhub_endpoint
from features.clawhub.read_views import explore
from features.clawhub.skill_uploads import UploadResult
from registry import snapshot
from registry.access.agent_keys import Scope
from registry.common.errors import Forbidden

NOTE_MAX = 2000
_SCOPES: Final[tuple[Scope, ...]] = ("propose", "publish")


class UploadParser(RawParser):
    """A file of any media type."""

    bytes_max = CONTENT_BYTES_MAX


@clawhub_endpoint("POST")
def upload_url(request: Request) -> Response:
    """`{"uploadUrl", "uploadTicket"}` for `{"path", "size", "sha256"}`; the ticket is good for an hour."""
    caller = _writer(request)
    values = parameters.json_object(request)
    with caller.writing(*_SCOPES):
        upload = skill_uploads.register_file(
            path=parameters.string(values, "path", most=500),
            size=parameters.integer(values, "size", least=0) or 0,
            sha256=parameters.string(values, "sha256", most=64),
            by=caller.actor,
        )
    address = f"{base_url(request)}/clawhub/api/v1/uploads/{upload.upload_id}"
    return build_response({"uploadUrl": address, "uploadTicket": str(upload.upload_id)})


@clawhub_endpoint("POST", parsers=(UploadParser,))
def receive_upload(request: Request, upload_id: UUID) -> Response:
    """The bytes of one file, from the key that has announced them."""
    caller = _writer(request)
    body: Any = request.data
    content = body if isinstance(body, bytes) else b""
    with caller.writing(*_SCOPES):
        stored = skill_uploads.store_file(upload_id=upload_id, content=content, by=caller.actor)
    return build_response({"storageId": str(stored.upload_id)})


@clawhub_endpoint("GET", "POST")
def publish_skill(request: Request, token: str = "") -> HttpResponse:
    """GET: all skills. POST: publish the files that were sent."""
    if request.method != "POST":
        return explore(request, token)
    if token:
        raise Forbidden("Below a share link nothing is published")
    caller = _writer(request)
    values = parameters.json_object(request)
    _require_owner(values, caller)
    _require_no_tags(values)
    may_publish = "publish" in caller.scopes
    with caller.writing("publish" if may_publish else "propose"):
        landed = skill_uploads.finalize_upload(
            slug=parameters.string(values, "slug", most=200),
            upload_ids=_upload_ids(values.get("files")),
            by=caller.actor,
            may_publish=may_publish,
            note=parameters.string(values, "changelog", most=NOTE_MAX),
            display_name=parameters.string(values, "displayName", most=NOTE_MAX).strip(),
            is_visible=caller.is_visible,
        )
    return build_response(_landed(landed))


def _writer(request: Request) -> Caller:
    return require_scope(request, snapshot.current_snapshot(), *_SCOPES)


def _require_owner(values: dict[str, Any], caller: Caller) -> None:
    owner = parameters.string(values, "ownerHandle", most=200).lstrip("@").lower()
    if owner not in ("", protocol.OWNER, protocol.owner_handle(caller)):
        raise Forbidden(f"There is no owner '{owner}' here; leave --owner out")


def _require_no_tags(values: dict[str, Any]) -> None:
    """Readers get the newest version: one that was to be found by another tag alone must not become it unasked."""
    tags = values.get("tags", [])
    if not isinstance(tags, list) or not all(tag == "latest" for tag in tags):
        raise InvalidRequest("The one tag of a version here is 'latest', which the newest has; leave --tags out")


def _upload_ids(files: Any) -> list[UUID]:
    if not isinstance(files, list) or not 1 <= len(files) <= skill_uploads.FILES_MAX:
        raise InvalidRequest(f"files must be an array of 1 to {skill_uploads.FILES_MAX} files that were sent")
    try:
        return [UUID(file["storageId"]) for file in files]
    except (TypeError, KeyError, ValueError, AttributeError):
        raise InvalidRequest("Each of files needs the storageId that its upload answered") from None


def _landed(landed: UploadResult) -> dict[str, Any]:
    """What the client reads, and the findings, for which it has no place."""
    slug = skill_name_of(landed.capability_id)
    body: dict[str, Any] = {"ok": True, "skillId": landed.capability_id, "slug": slug}
    if landed.revision is not None:
        version = protocol.format_version(landed.revision)
        body |= {"versionId": f"{slug}@{version}", "version": version, "status": "published"}
    else:
        body |= {"versionId": f"proposal {landed.proposal_id}", "attemptId": str(landed.proposal_id)}
        body |= {"status": "pending"}
    body["publicationStatus"] = body["status"]
    return body | {"findings": [finding.as_dict() for finding in landed.findings]}
