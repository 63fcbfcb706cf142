"""The agent's contract: every path is also the operationId (docs/contract.md 4)."""

from django.urls import path
from django.utils.module_loading import import_string

from agent_api.openapi import document, reference
from agent_api.v1 import history, views, writes
from registry.feature import installed_features

urlpatterns = [
    path("capability_registry_list", views.capability_registry_list, name="capability_registry_list"),
    path("capability_skill_load", views.capability_skill_load, name="capability_skill_load"),
    path("capability_skill_reload", views.capability_skill_reload, name="capability_skill_reload"),
    path("capability_file_content", views.capability_file_content, name="capability_file_content"),
    path("capability_file_load", views.capability_file_load, name="capability_file_load"),
    path("capability_match", views.capability_match, name="capability_match"),
    path("capability_search", views.capability_search, name="capability_search"),
    path("prompt_render", views.prompt_render, name="prompt_render"),
    path("capability_feedback", writes.capability_feedback, name="capability_feedback"),
    path("capability_propose", writes.capability_propose, name="capability_propose"),
    path("capability_proposal", writes.capability_proposal, name="capability_proposal"),
    path("capability_signature", history.capability_signature, name="capability_signature"),
    path("registry_checkpoints", history.registry_checkpoints, name="registry_checkpoints"),
    path("schema", document.schema, name="schema"),
    path("docs", reference.docs, name="docs"),
    *(
        path(name, import_string(view), name=name)
        for feature in installed_features()
        for name, view in feature.agent_api.items()
    ),
]
