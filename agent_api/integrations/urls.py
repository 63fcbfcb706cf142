"""Addresses that other clients expect, at the root and below a share link."""

from django.urls import re_path

from agent_api.integrations import agent_skills_discovery, skill_search
from agent_api.integrations.access import AT_ROOT_OR_SHARED

_SKILLS = AT_ROOT_OR_SHARED + r"\.well-known/agent-skills/"

urlpatterns = [
    re_path(_SKILLS + r"index\.json\Z", agent_skills_discovery.skills_index, name="skills_index"),
    re_path(
        _SKILLS + r"(?P<name>[a-z0-9-]{1,64})/(?P<revision>[0-9]{1,9})/(?P<file>SKILL\.md|(?P=name)\.zip)\Z",
        agent_skills_discovery.skill_artifact,
        name="skill_artifact",
    ),
    re_path(AT_ROOT_OR_SHARED + r"api/search\Z", skill_search.skills_search, name="skills_search"),
]
