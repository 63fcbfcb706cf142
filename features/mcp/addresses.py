"""What clients find at the root, and below a share link."""

from django.urls import re_path

from agent_api.integrations.access import AT_ROOT_OR_SHARED
from features.mcp.views import mcp

urlpatterns = [re_path(AT_ROOT_OR_SHARED + r"mcp/?\Z", mcp, name="mcp")]
