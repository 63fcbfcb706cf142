"""Addresses that other clients expect, at the root and below a share link."""

from django.urls import path, re_path

from agent_api.integrations import agent_skills_discovery, skill_search
from agent_api.integrations.clawhub import publish_views, read_views

_SHARED = r"^(?:share/(?P<token>[A-Za-z0-9_-]{20,100})/)?"
_CLAWHUB = _SHARED + r"clawhub/api/v1/"
_CLAWHUB_SKILL = _CLAWHUB + r"skills/(?P<slug>[^/]{1,200})"
_SKILLS = _SHARED + r"\.well-known/agent-skills/"

urlpatterns = [
    re_path(_SKILLS + r"index\.json\Z", agent_skills_discovery.skills_index, name="skills_index"),
    re_path(
        _SKILLS + r"(?P<name>[a-z0-9-]{1,64})/(?P<revision>[0-9]{1,9})/(?P<file>SKILL\.md|(?P=name)\.zip)\Z",
        agent_skills_discovery.skill_artifact,
        name="skill_artifact",
    ),
    re_path(_SHARED + r"api/search\Z", skill_search.skills_search, name="skills_search"),
    # ClawHub's, as its client composes them.
    re_path(_SHARED + r"\.well-known/clawhub\.json\Z", read_views.well_known, name="clawhub_well_known"),
    re_path(_CLAWHUB + r"whoami\Z", read_views.whoami, name="clawhub_whoami"),
    re_path(_CLAWHUB + r"search\Z", read_views.search, name="clawhub_search"),
    re_path(_CLAWHUB + r"download\Z", read_views.download, name="clawhub_download"),
    re_path(_CLAWHUB + r"resolve\Z", read_views.resolve, name="clawhub_resolve"),
    path("clawhub/api/v1/skills/-/upload-url", publish_views.upload_url, name="clawhub_upload_url"),
    path("clawhub/api/v1/uploads/<uuid:upload_id>", publish_views.receive_upload, name="clawhub_upload"),
    re_path(_CLAWHUB + r"skills\Z", publish_views.publish_skill, name="clawhub_skills"),
    re_path(_CLAWHUB_SKILL + r"\Z", read_views.skill, name="clawhub_skill"),
    re_path(_CLAWHUB_SKILL + r"/moderation\Z", read_views.moderation, name="clawhub_moderation"),
    re_path(_CLAWHUB_SKILL + r"/file\Z", read_views.file, name="clawhub_file"),
    re_path(_CLAWHUB_SKILL + r"/versions\Z", read_views.versions, name="clawhub_versions"),
    re_path(_CLAWHUB_SKILL + r"/versions/(?P<version>[^/]{1,100})\Z", read_views.version, name="clawhub_version"),
    re_path(r"^clawhub(?:/[\s\S]*)?\Z", read_views.unknown),
]
