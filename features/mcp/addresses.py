"""What clients find at the root, and below a share link."""

from django.urls import re_path

from features.mcp.views import mcp

urlpatterns = [re_path(r"^(?:share/(?P<token>[A-Za-z0-9_-]{20,100})/)?mcp/?\Z", mcp, name="mcp")]
