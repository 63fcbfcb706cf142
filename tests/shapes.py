"""Is an answer shaped as `schemas/api/` says, and does the API description know it?"""

from __future__ import annotations

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from capability_rules.schema_loader import SCHEMAS_DIR, read_schema


@cache
def _registry() -> Any:
    """Every schema by its `$id`, so that nothing is fetched."""
    names = [file.relative_to(SCHEMAS_DIR).as_posix() for file in SCHEMAS_DIR.rglob("*.schema.json")]
    documents = [read_schema(name.removesuffix(".schema.json")) for name in names]
    return Registry().with_resources([(document["$id"], Resource.from_contents(document)) for document in documents])


@cache
def _validator(name: str) -> Any:
    return Draft202012Validator(read_schema(name), registry=_registry())


def assert_shape(document: Any, name: str) -> None:
    """Hold a document against `schemas/api/NAME.schema.json`."""
    faults = [f"{error.json_path}: {error.message}" for error in _validator(f"api/{name}").iter_errors(document)]
    assert not faults, faults


def assert_event(document: Any) -> None:
    """Hold the body of a webhook delivery against `schemas/event.schema.json`."""
    faults = [f"{error.json_path}: {error.message}" for error in _validator("event").iter_errors(document)]
    assert not faults, faults


ERROR_SHAPES = {
    "CAPABILITY_NOT_FOUND": "capability_not_found",
    "SKILL_MALFORMED": "skill_malformed",
    "DRAFT_CONFLICT": "draft_conflict",
}


def assert_error(document: Any, code: str) -> dict[str, Any]:
    """The envelope of a refusal, and nothing beside it; answers what is inside."""
    assert set(document) == {"error"}
    error: dict[str, Any] = document["error"]
    assert error["code"] == code, error
    assert error["message"]
    assert "Traceback" not in str(document)
    assert_shape(document, "error")
    if code in ERROR_SHAPES:
        assert_shape(document, ERROR_SHAPES[code])
    return error


@cache
def _declared() -> dict[tuple[str, str], dict[str, Any]]:
    from agent_api.openapi.document import build_document

    paths = build_document()["paths"]
    return {(path, method): operation for path, found in paths.items() for method, operation in found.items()}


def assert_declared(path: str, method: str, status: int, content_type: str) -> None:
    """Hold an answer against the OpenAPI document; what is not an operation there is passed over."""
    operation = _declared().get((path, "get" if method == "HEAD" else method.lower()))
    if operation is None or status == 500:
        return
    responses = operation["responses"]
    assert str(status) in responses, f"{method} {path} answered {status}, which its description does not know"
    declared = responses[str(status)].get("content", {})
    media_type = content_type.partition(";")[0]
    if method != "HEAD":
        assert (media_type in declared) if declared else not media_type, (path, status, media_type, list(declared))
