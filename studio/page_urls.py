"""The Studio's addresses."""

from django.urls import path
from django.views.generic import RedirectView

from studio import converters as _converters  # noqa: F401 (makes <capability_id:...> known)
from studio.views import (
    agent_key,
    capability,
    draft,
    gate,
    history,
    incident,
    playground,
    registry_settings,
    release,
    review,
    session,
)

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
    path(f"{_ONE}draft/discard/", draft.draft_discard, name="draft_discard"),
    path(f"{_ONE}draft/restore/", draft.draft_restore, name="draft_restore"),
    path(f"{_ONE}publish/", gate.gate_show, name="gate_show"),
    path(f"{_ONE}publish/later/", release.release_schedule, name="release_schedule"),
    path(f"{_ONE}publish/review/", review.review_ask, name="review_ask"),
    path(f"{_ONE}history/", history.revision_list, name="revision_list"),
    path(f"{_ONE}history/compare/", history.revision_compare, name="revision_compare"),
    path(f"{_ONE}history/<int:number>/", history.revision_show, name="revision_show"),
    path(f"{_ONE}history/<int:number>/rollback/", history.rollback, name="rollback"),
    path(f"{_ONE}history/<int:number>/download/", history.revision_download, name="revision_download"),
    path(f"{_ONE}deprecate/", capability.capability_deprecate, name="capability_deprecate"),
    path(f"{_ONE}retire/", capability.capability_retire, name="capability_retire"),
    path(f"{_ONE}restore/", capability.capability_restore, name="capability_restore"),
    path("keys/", agent_key.agent_key_list, name="agent_key_list"),
    path("keys/revoke/", agent_key.agent_key_revoke, name="agent_key_revoke"),
    path("playground/", playground.playground_show, name="playground_show"),
    path("reviews/", review.review_list, name="review_list"),
    path("reviews/<int:number>/", review.review_show, name="review_show"),
    path("reviews/<int:number>/comment/", review.review_comment, name="review_comment"),
    path("reviews/<int:number>/approve/", review.review_approve, name="review_approve"),
    path("reviews/<int:number>/send-back/", review.review_send_back, name="review_send_back"),
    path("reviews/<int:number>/withdraw/", review.review_withdraw, name="review_withdraw"),
    path("releases/", release.release_list, name="release_list"),
    path("releases/change/", release.release_change, name="release_change"),
    path("releases/cancel/", release.release_cancel, name="release_cancel"),
    path("settings/publishing/", registry_settings.release_rule_list, name="release_rule_list"),
    path("settings/publishing/drop/", registry_settings.release_rule_drop, name="release_rule_drop"),
    path("incidents/", incident.incident_list, name="incident_list"),
]
