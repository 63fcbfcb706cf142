"""The entry of the sidebar."""

from typing import Final

from django.utils.translation import gettext_lazy

from studio.pages.navigation import ADMIN, NavItem, NavSection

SECTIONS: Final = (
    NavSection(
        ADMIN,
        gettext_lazy("Sources"),
        "folder-git-2",
        (NavItem(gettext_lazy("Sources"), "studio:source_list", "d", around=("studio:source",)),),
    ),
)
