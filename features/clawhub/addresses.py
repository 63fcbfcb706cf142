"""What ClawHub's client composes, at the root and below a share link."""

from django.urls import path, re_path

from agent_api.integrations.access import AT_ROOT_OR_SHARED
from features.clawhub import publish_views, read_views

_API = AT_ROOT_OR_SHARED + r"clawhub/api/v1/"
_SKILL = _API + r"skills/(?P<slug>[^/]{1,200})"

urlpatterns = [
    re_path(AT_ROOT_OR_SHARED + r"\.well-known/clawhub\.json\Z", read_views.well_known, name="clawhub_well_known"),
    re_path(_API + r"whoami\Z", read_views.whoami, name="clawhub_whoami"),
    re_path(_API + r"search\Z", read_views.search, name="clawhub_search"),
    re_path(_API + r"download\Z", read_views.download, name="clawhub_download"),
    re_path(_API + r"resolve\Z", read_views.resolve, name="clawhub_resolve"),
    path("clawhub/api/v1/skills/-/upload-url", publish_views.upload_url, name="clawhub_upload_url"),
    path("clawhub/api/v1/uploads/<uuid:upload_id>", publish_views.receive_upload, name="clawhub_upload"),
    re_path(_API + r"skills\Z", publish_views.publish_skill, name="clawhub_skills"),
    re_path(_SKILL + r"\Z", read_views.skill, name="clawhub_skill"),
    re_path(_SKILL + r"/moderation\Z", read_views.moderation, name="clawhub_moderation"),
    re_path(_SKILL + r"/file\Z", read_views.file, name="clawhub_file"),
    re_path(_SKILL + r"/versions\Z", read_views.versions, name="clawhub_versions"),
    re_path(_SKILL + r"/versions/(?P<version>[^/]{1,100})\Z", read_views.version, name="clawhub_version"),
    re_path(r"^clawhub(?:/[\s\S]*)?\Z", read_views.unknown),
]
