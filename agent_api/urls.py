"""Everything below `/api/` and `/schemas/`, `/metrics`, and what other clients expect at the root."""

from django.urls import include, path, re_path

from agent_api.http.errors import not_found
from agent_api.metrics.exposition import metrics
from agent_api.schema_files import schema_file
from agent_api.v1.history import signing_keys
from registry.feature import installed_features

urlpatterns = [
    path("api/v1/", include("agent_api.v1.urls")),
    path("api/v1/operator/", include("agent_api.operator.urls")),
    path("", include("agent_api.integrations.urls")),
    *(path("", include(feature.addresses)) for feature in installed_features() if feature.addresses),
    re_path(r"^api(?:/[\s\S]*)?\Z", not_found),
    path(".well-known/capability-studio-keys.json", signing_keys, name="signing_keys"),
    path("schemas/<path:name>", schema_file, name="schema_file"),
    path("metrics", metrics, name="metrics"),
]
