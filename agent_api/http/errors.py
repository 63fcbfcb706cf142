"""One handler and one shape for every refusal: `{"error": {"code", "message", ...}}`, schemas/api/error.schema.json."""

from __future__ import annotations

import logging
from typing import Any, Final

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from capability_rules.errors import RegistryError
from registry.common import database_errors, log_context
from registry.common.errors import OUT_OF_MEMORY, Unauthenticated
from registry.common.rate_limits import RateLimited

logger = logging.getLogger(__name__)

STATUS_CODES: Final[dict[str, int]] = {
    "INVALID_REQUEST": 400,
    "SOURCE_UNREADABLE": 400,
    "REPLACEMENT_INVALID": 400,
    "UNAUTHENTICATED": 401,
    "FORBIDDEN": 403,
    "OWN_REVIEW": 403,
    "NOT_FOUND": 404,
    "CAPABILITY_NOT_FOUND": 404,
    "REVISION_NOT_FOUND": 404,
    "FILE_NOT_FOUND": 404,
    "DRAFT_NOT_FOUND": 404,
    "PROPOSAL_NOT_FOUND": 404,
    "INSTALL_CODE_NOT_FOUND": 404,
    "SIGNATURE_NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "DRAFT_CONFLICT": 409,
    "STATUS_CONFLICT": 409,
    "NAME_TAKEN": 409,
    "REVIEW_CONFLICT": 409,
    "TOO_MANY_PROPOSALS": 409,
    "TOO_MANY_UPLOADS": 409,
    "PAYLOAD_TOO_LARGE": 413,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "SKILL_MALFORMED": 422,
    "IDEMPOTENCY_KEY_REUSED": 422,
    "BUNDLE_REFUSED": 422,
    "CAPABILITY_QUARANTINED": 423,
    "RATE_LIMITED": 429,
    "INTERNAL_ERROR": 500,
    "REGISTRY_UNAVAILABLE": 503,
    "CHECK_UNFINISHED": 503,
}


def error_envelope(code: str, message: str, **extra: Any) -> dict[str, Any]:
    """The body of every refusal."""
    return {"error": {"code": code, "message": message, **extra}}


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:  # noqa: ARG001 (DRF's signature)
    """What DRF calls for whatever a view raises; nothing leaves without the envelope."""
    set_rollback()
    code, message, extra, headers = _to_error(error)
    response = Response(error_envelope(code, message, **extra), status=STATUS_CODES[code], headers=headers)
    response["Cache-Control"] = "no-store"
    return response


_PLAIN: Final = (
    (exceptions.UnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "Send the body as application/json"),
    (RequestDataTooBig, "PAYLOAD_TOO_LARGE", "The body is too large"),
    (Http404, "NOT_FOUND", "There is nothing at this address"),
    (PermissionDenied, "FORBIDDEN", "This is not allowed"),
    (SuspiciousOperation, "INVALID_REQUEST", "The request is malformed"),
)
_Explained = tuple[str, str, dict[str, Any], dict[str, str]]


def _to_error(error: Exception) -> _Explained:
    if isinstance(error, RegistryError):
        code = error.code if error.code in STATUS_CODES else "INTERNAL_ERROR"
        return code, error.message, error.extra, _headers(error.code, error)
    if isinstance(error, exceptions.MethodNotAllowed):
        return "METHOD_NOT_ALLOWED", str(error.detail), {}, {}
    if isinstance(error, exceptions.ParseError):
        return "INVALID_REQUEST", f"The body is not JSON: {error.detail}", {}, {}
    for kind, code, words in _PLAIN:
        if isinstance(error, kind):
            return code, words, {}, {}
    if database_errors.is_database_error(error):
        outage = database_errors.record_outage(error)
        logger.warning("a request could not be answered. %s", outage.sentences(error), extra={"outage": outage.state})
        return "REGISTRY_UNAVAILABLE", outage.words, {}, _headers("REGISTRY_UNAVAILABLE", error)
    return _explain_rest(error)


def _explain_rest(error: Exception) -> _Explained:
    if isinstance(error, exceptions.APIException) and error.status_code < 500:
        return "INVALID_REQUEST", str(error.detail), {}, {}
    if isinstance(error, MemoryError):
        logger.error("a request did not fit into memory")
        return "REGISTRY_UNAVAILABLE", OUT_OF_MEMORY, {}, _headers("REGISTRY_UNAVAILABLE", error)
    logger.error("a request failed", exc_info=error)
    request_id = log_context.current_context().get("request_id")
    message = "Something went wrong here. The operator can find the cause in the log"
    if request_id is None:
        return "INTERNAL_ERROR", f"{message}.", {}, {}
    return "INTERNAL_ERROR", f"{message}, by the request_id.", {"request_id": request_id}, {}


def _headers(code: str, error: Exception) -> dict[str, str]:
    if isinstance(error, RateLimited):
        return {"Retry-After": str(error.retry_after_seconds)}
    if isinstance(error, Unauthenticated):
        more = f", {error.challenge}" if error.challenge else ""
        return {"WWW-Authenticate": f'Bearer realm="capability registry"{more}'}
    return {"Retry-After": "5"} if code in ("REGISTRY_UNAVAILABLE", "CHECK_UNFINISHED") else {}


def error_response(code: str, message: str, **extra: Any) -> HttpResponse:
    """A refusal from outside of DRF: an unknown address, a failed request."""
    response = JsonResponse(error_envelope(code, message, **extra), status=STATUS_CODES[code])
    response["Cache-Control"] = "no-store"
    return response


@csrf_exempt
def not_found(request: HttpRequest, path: str = "") -> HttpResponse:  # noqa: ARG001 (a view)
    """Whatever below the API's base is not an endpoint, by any method."""
    return error_response("NOT_FOUND", "There is nothing at this address; see /api/v1/docs")
