"""The entry of the sidebar."""

from typing import Final

from django.utils.translation import gettext_lazy

from studio.pages.navigation import RESOURCES, NavItem, NavSection

SECTIONS: Final = (
    NavSection(
        RESOURCES,
        gettext_lazy("Connect"),
        "link",
        (NavItem(gettext_lazy("Connect"), "studio:connect_show", "2", around=("studio:connect",)),),
    ),
)
