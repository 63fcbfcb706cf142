"""The operator API; every path is also the operationId (docs/contract.md 5)."""

from django.urls import path
from django.utils.module_loading import import_string

from agent_api.operator import views
from registry.feature import installed_features

NAMES = (
    "bundle_validate",
    "bundle_publish",
    "bundle_import",
    "bundle_rollback",
    "bundle_list",
    "bundle_export",
    "bundle_powers",
    "capability_deprecate",
    "capability_retire",
    "capability_quarantine",
    "capability_restore",
    "draft_get",
    "draft_save",
    "draft_publish",
    "scan_results_upload",
)
urlpatterns = [
    *(path(name, getattr(views, name), name=name) for name in NAMES),
    *(
        path(name, import_string(view), name=name)
        for feature in installed_features()
        for name, view in feature.operator_api.items()
    ),
]
