"""The Studio's addresses."""

from django.urls import path

from studio import converters as _converters  # noqa: F401 (makes <capability_id:...> known)
from studio.views import (
    agent_key,
    capability,
    catalogue,
    draft,
    gallery,
    gate,
    help_page,
    history,
    home,
    incident,
    palette,
    playground,
    preview,
    session,
    skill_group,
)

app_name = "studio"

_ONE = "capabilities/<capability_id:capability_id>/"
_GROUP = "skill-groups/<capability_id:group_id>/"

urlpatterns = [
    path("", home.home, name="home"),
    path("tour/leave/", home.tour_leave, name="tour_leave"),
    path("tour/show/", home.tour_show, name="tour_show"),
    path("tour/to/<slug:step>/", home.tour_step, name="tour_step"),
    path("sign-in/", session.sign_in, name="sign_in"),
    path("sign-out/", session.sign_out, name="sign_out"),
    path("password/", session.password, name="password"),
    path("capabilities/", catalogue.capability_list, name="capability_list"),
    path("matrix/", catalogue.capability_matrix, name="capability_matrix"),
    path("bulk/deprecate/", catalogue.bulk_deprecate, name="bulk_deprecate"),
    path("bulk/revalidate/", catalogue.bulk_revalidate, name="bulk_revalidate"),
    path("bulk/export/", catalogue.bulk_export, name="bulk_export"),
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
    path("skill-groups/", skill_group.skill_group_list, name="skill_group_list"),
    path("new-skill-group/", skill_group.skill_group_new, name="skill_group_new"),
    path(_GROUP, skill_group.skill_group_show, name="skill_group_show"),
    path(f"{_GROUP}save/", skill_group.skill_group_save, name="skill_group_save"),
    path(f"{_GROUP}remove/", skill_group.skill_group_remove, name="skill_group_remove"),
    path("help/", help_page.help_show, name="help_show"),
    path("help/findings/", help_page.finding_list, name="finding_list"),
    path("help/findings/<str:code>/", help_page.finding_show, name="finding_show"),
    path("gallery/", gallery.gallery_show, name="gallery_show"),
    path("palette/", palette.palette_find, name="palette_find"),
    path("incidents/", incident.incident_list, name="incident_list"),
]
