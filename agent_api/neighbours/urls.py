"""Addresses that other clients expect, at the root and below a share link."""

from django.urls import path, re_path

from agent_api.neighbours import discovery, finding
from agent_api.neighbours.clawhub.urls import urlpatterns as clawhub_urlpatterns
from agent_api.neighbours.git_hooks import source_hook
from agent_api.neighbours.mcp.views import mcp
from agent_api.neighbours.mirroring import mirror_golden

_SHARED = r"^(?:share/(?P<token>[A-Za-z0-9_-]{20,100})/)?"
_SKILLS = _SHARED + r"\.well-known/agent-skills/"

urlpatterns = [
    path("mcp", mcp, name="mcp"),
    re_path(r"^hooks/sources/(?P<number>[0-9]{1,9})\Z", source_hook, name="source_hook"),
    path("mirror/golden", mirror_golden, name="mirror_golden"),
    re_path(_SKILLS + r"index\.json\Z", discovery.skills_index, name="skills_index"),
    re_path(
        _SKILLS + r"(?P<name>[a-z0-9-]{1,64})/(?P<revision>[0-9]{1,9})/(?P<file>SKILL\.md|(?P=name)\.zip)\Z",
        discovery.skill_artifact,
        name="skill_artifact",
    ),
    re_path(_SHARED + r"api/search\Z", finding.skills_search, name="skills_search"),
    *clawhub_urlpatterns,
]
