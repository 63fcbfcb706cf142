"""The Studio's addresses."""

from django.urls import path
from django.views.generic import RedirectView

from studio import converters as _converters  # noqa: F401 (makes <capability_id:...> known)
from studio.views import agent_key, capability, draft, gate, history, incident, playground, preview, session

app_name = "studio"

_ONE = "capabilities/<capability_id:capability_id>/"

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="studio:capability_list"), name="home"),
    path("sign-in/", session.sign_in, name="sign_in"),
    path("sign-out/", session.sign_out, name="sign_out"),
    path("password/", session.password, name="password"),
    path("capabilities/", capability.capability_list, name="capability_list"),
    # Beside the capabilities, not among them: `new` is an id that somebody may want.
    path("new-capability/", capability.capability_new, name="capability_new"),
    path(_ONE, capability.capability_show, name="capability_show"),
    path(f"{_ONE}edit/", draft.draft_edit, name="draft_edit"),
    path(f"{_ONE}draft/check/", draft.draft_check, name="draft_check"),
    path(f"{_ONE}draft/save/", draft.draft_save, name="draft_save"),
    path(f"{_ONE}draft/merge/", draft.draft_merge, name="draft_merge"),
    path(f"{_ONE}draft/preview/", preview.draft_preview, name="draft_preview"),
    path(f"{_ONE}draft/action/", preview.draft_action, name="draft_action"),
    path(f"{_ONE}draft/form/", preview.draft_form, name="draft_form"),
    path(f"{_ONE}draft/discard/", draft.draft_discard, name="draft_discard"),
    path(f"{_ONE}draft/restore/", draft.draft_restore, name="draft_restore"),
    path(f"{_ONE}publish/", gate.gate_show, name="gate_show"),
    path(f"{_ONE}history/", history.revision_list, name="revision_list"),
    path(f"{_ONE}history/<int:number>/", history.revision_show, name="revision_show"),
    path(f"{_ONE}history/<int:number>/rollback/", history.rollback, name="rollback"),
    path(f"{_ONE}deprecate/", capability.capability_deprecate, name="capability_deprecate"),
    path(f"{_ONE}retire/", capability.capability_retire, name="capability_retire"),
    path(f"{_ONE}restore/", capability.capability_restore, name="capability_restore"),
    path("keys/", agent_key.agent_key_list, name="agent_key_list"),
    path("keys/revoke/", agent_key.agent_key_revoke, name="agent_key_revoke"),
    path("playground/", playground.playground_show, name="playground_show"),
    path("incidents/", incident.incident_list, name="incident_list"),
]
