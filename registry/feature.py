"""What a feature adds to the registry, the Studio and the API.

A feature is a Django app in `features/`; its module `feature.py` has one `FEATURE`. The setting `FEATURES` is the list
of the leaves that are installed; a part is always installed, and a publish calls it by its name. Functions, views and
URLconfs are dotted paths that are imported on first use, so that a feature costs a process nothing before it is used.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from django.apps import apps
from django.conf import settings
from django.db.models import Model
from django.utils.functional import Promise
from django.utils.module_loading import import_string

from registry.common.event_type import EventType
from registry.common.installation import PARTS, list_leaf_names

if TYPE_CHECKING:
    from registry.core.jobs.celery_dispatch import CeleryQueue


# Of `Feature.audit_observers`.
EVERY_VERB: Final = "*"


@dataclass(frozen=True, slots=True)
class SectionTab:
    """A page as a tab of the section of the sidebar that begins with the page `section`: after the page `after`, or as
    the last one. All three are names of URLs, such as `studio:review_list`; the rest is as in `NavItem`."""

    section: str
    label: str | Promise
    url_name: str
    after: str = ""
    shortcut: str = ""
    right: Literal["read", "edit", "publish", "administer"] = "read"
    around: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """What one leaf or part declares. A leaf is what no publish and no load needs, but what an admin has asked for.

    Functions, views and mappings are named by dotted paths.
    """

    name: str
    # Leaves without which nothing starts.
    requires: tuple[str, ...] = ()
    events: tuple[EventType, ...] = ()
    # Functions `(PublishQuestion) -> Iterable[UnmetCondition]` (`registry/publishing/release_rules.py`): what blocks a
    # publish beside valid texts, where a row of `rows_kept` says so.
    publish_conditions: tuple[str, ...] = ()
    # By the kind of job; queues of Celery that are not the default one.
    job_handlers: Mapping[str, str] = field(default_factory=dict)
    job_observers: Mapping[str, str] = field(default_factory=dict)
    job_queues: Mapping[str, CeleryQueue] = field(default_factory=dict)
    daily_jobs: tuple[str, ...] = ()
    # Functions that get a row of the audit log, by its verb or `EVERY_VERB`.
    audit_observers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Functions that get what `events.IMPORTED` is called with.
    import_observers: tuple[str, ...] = ()
    # `(source, name, by) -> (source, GitLogin | None)`: what an import from git signs in with.
    import_login: str = ""
    # `(url) -> str`: what a model whose address is from a page is asked with.
    model_key: str = ""
    # `(**options) -> BaseEmailBackend | None`: what e-mails are sent through.
    mail_connection: str = ""
    # `(capability) -> {path: text}`: what an export has beside the bundle.
    export_files: str = ""
    # `(capability_id, files) -> list[Finding]`: what is known of texts beside their own checks.
    findings: str = ""
    # Those of `findings` and of conditions.
    finding_codes: tuple[str, ...] = ()
    # `(capability_id) -> list[str]`: the addresses from which releases of a capability come.
    origins: str = ""
    # `(snapshot, set_id) -> frozenset[str]`: what a link of a set shows.
    set_members: str = ""
    # `() -> Iterable[(key, capability_id, registry_revision)]`: what keys see beside what is listed.
    opened: str = ""
    # `(snapshot, token) -> Principal | None`: who reads below `/share/TOKEN`.
    shared_readers: str = ""
    # `(request) -> Caller | None`: who calls `/mcp` by a token.
    token_callers: str = ""
    # `(request) -> str`: what the 401 of `/mcp` says beside the realm.
    challenge: str = ""
    # A mapping of the tools of `/mcp` by name as `features.mcp.tools.FeatureTool`s.
    mcp_tools: str = ""
    # URLconfs: inside of the namespace `studio`, and at the root.
    pages: str = ""
    addresses: str = ""
    # Views by the operationId.
    agent_api: Mapping[str, str] = field(default_factory=dict)
    operator_api: Mapping[str, str] = field(default_factory=dict)
    # Pages in sections of the core; sections of its own; rows of tabs that a capability has, by url name.
    section_tabs: tuple[SectionTab, ...] = ()
    navigation: str = ""
    capability_tabs: str = ""
    # A mapping as `studio.pages.dangerous_actions` has one.
    dangerous_actions: str = ""
    # `RightsTable`s.
    rights: tuple[str, ...] = ()
    # Functions `(request, context) -> SafeString`, by the place on a page of the core.
    panels: Mapping[str, str] = field(default_factory=dict)
    # Fields, or one of a model (`Webhook.url`), that Django's admin does not show.
    secret_fields: tuple[str, ...] = ()
    # By table, which rows must not be left without this feature, as the end of the sentence "There are ...".
    rows_kept: Mapping[str, str] = field(default_factory=dict)
    # Functions `(columns) -> Model` by the name of a table that older backups have, in the order of a restore.
    former_tables: Mapping[str, str] = field(default_factory=dict)


def find_feature(name: str) -> Feature:
    """The feature in the folder of this name, whether it is installed or not."""
    feature: Feature = import_string(f"features.{name}.feature.FEATURE")
    return feature


def installed_feature_names() -> tuple[str, ...]:
    """The parts, then the leaves of the setting `FEATURES`, in its order; each is the label of a Django app."""
    return (*PARTS, *settings.FEATURES)


@cache
def installed_features() -> tuple[Feature, ...]:
    """What the installed features declare, in the order of their names in `installed_feature_names`."""
    return tuple(find_feature(name) for name in installed_feature_names())


def list_missing_requirements(leaves: Collection[str]) -> list[str]:
    """A sentence with the fix for each leaf that one of these requires and that is not among them."""
    return [
        f"FEATURES has '{name}' and is without '{needed}', which it needs. "
        f"Fix: add {needed} to FEATURES, or leave {name} out"
        for name in leaves
        for needed in find_feature(name).requires
        if needed not in leaves
    ]


def former_tables() -> dict[str, str]:
    """By the names of tables that older backups have, what makes a row of a present table of each of their rows."""
    return dict(ChainMap(*(dict(feature.former_tables) for feature in installed_features())))


def absent_features() -> list[Feature]:
    """The leaves that this version has and the setting `FEATURES` has not."""
    return [find_feature(name) for name in list_leaf_names() if name not in settings.FEATURES]


def list_registry_models() -> list[type[Model]]:
    """The models of the core, and of the installed features after them."""
    apps_of = ("registry", *installed_feature_names())
    return [model for label in apps_of for model in apps.get_app_config(label).get_models()]
