"""Who calls `/mcp`: anyone who may read, and a member by an assistant."""

from __future__ import annotations

from django.utils.module_loading import import_string
from rest_framework.request import Request

from agent_api.http.authentication import Caller
from agent_api.integrations.access import ReaderContext, authorize_reader
from registry import snapshot
from registry.common.errors import Unauthenticated
from registry.feature import installed_features


def authorize_assistant(request: Request, token: str) -> ReaderContext:
    """As `authorize_reader`, and by a member's access token. A 401 says where to get one."""
    if token:
        return authorize_reader(request, token)
    features = [feature for feature in installed_features() if feature.token_callers]
    try:
        for feature in features:
            caller: Caller | None = import_string(feature.token_callers)(request)
            if caller is not None:
                return ReaderContext(caller, snapshot.current_snapshot())
        return authorize_reader(request, token)
    except Unauthenticated as error:
        error.challenge = ", ".join(filter(None, (import_string(one.challenge)(request) for one in features)))
        raise
