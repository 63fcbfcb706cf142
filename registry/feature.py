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
    """One leaf of the product, which nothing in a publish or a load needs but what an admin has asked for, or one part.

    `requires` names the leaves that it needs: without one of them nothing starts. `publish_conditions` are functions
    `(PublishQuestion) -> Iterable[UnmetCondition]` (`registry/publishing/release_rules.py`): what blocks a publish
    beside valid texts, where a row of `rows_kept` says so. `audit_observers` get a row of the audit log, by its verb or
    `EVERY_VERB`. By the kind of job: `job_handlers`, `job_observers`, and `job_queues` with the queues of Celery that
    are not the default one. `agent_api` and `operator_api` have views by the operationId. `pages` is a URLconf inside
    of the namespace `studio`, `addresses` one at the root. `section_tabs` stand in sections of the core; `navigation`
    leads to sections of its own, `capability_tabs` to the rows of tabs that a capability has by url name,
    `dangerous_actions` to a mapping as `studio.pages.dangerous_actions` has one, `rights` to `RightsTable`s, `panels`
    to functions `(request, context) -> SafeString` by the place on a page of the core, `import_observers` to functions
    that get what `events.IMPORTED` is called with, `export_files` to a function `(capability) -> {path: text}` of what
    an export has beside the bundle, `findings` to a function `(capability_id, files) -> list[Finding]` of what is known
    of texts beside their own checks, and `origins` to a function `(capability_id) -> list[str]` of the addresses from
    which releases of a capability come. `opened` is a function `() -> Iterable[(key, capability_id,
    registry_revision)]` of what keys see beside what is listed, and `shared_readers` a function `(snapshot, token) ->
    Principal | None` of who reads below `/share/TOKEN`; `set_members` is a function `(snapshot, set_id) ->
    frozenset[str]` of what a link of a set shows. `token_callers` is a function `(request) -> Caller | None` of who
    calls `/mcp` by a token, and `challenge` one `(request) -> str` of what its 401 says beside the realm.
    `mcp_tools` is a mapping of `/mcp`'s tools by name as `features.mcp.tools.FeatureTool`s.
    `finding_codes` are those of `findings` and of conditions. `secret_fields` are names of fields, or of a field of one
    model (`Webhook.url`), that Django's admin does not show. `rows_kept` says, by table, which rows must not be left
    without this feature, as the end of the sentence "There are ...". `former_tables` are functions `(columns) -> Model`
    by the name of a table that older backups have, in the order in which a restore calls them. `import_login` is a
    function `(source, name, by) -> (source, GitLogin | None)` of what an import from git signs in with,
    `model_key` a function `(url) -> str` of what a model whose address is from a page is asked with, and
    `mail_connection` one `(**options) -> BaseEmailBackend | None` of what e-mails are sent through.
    """

    name: str
    requires: tuple[str, ...] = ()
    events: tuple[EventType, ...] = ()
    publish_conditions: tuple[str, ...] = ()
    job_handlers: Mapping[str, str] = field(default_factory=dict)
    job_observers: Mapping[str, str] = field(default_factory=dict)
    job_queues: Mapping[str, CeleryQueue] = field(default_factory=dict)
    daily_jobs: tuple[str, ...] = ()
    audit_observers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    import_observers: tuple[str, ...] = ()
    import_login: str = ""
    model_key: str = ""
    mail_connection: str = ""
    export_files: str = ""
    findings: str = ""
    finding_codes: tuple[str, ...] = ()
    origins: str = ""
    set_members: str = ""
    opened: str = ""
    shared_readers: str = ""
    token_callers: str = ""
    challenge: str = ""
    mcp_tools: str = ""
    pages: str = ""
    addresses: str = ""
    agent_api: Mapping[str, str] = field(default_factory=dict)
    operator_api: Mapping[str, str] = field(default_factory=dict)
    section_tabs: tuple[SectionTab, ...] = ()
    navigation: str = ""
    capability_tabs: str = ""
    dangerous_actions: str = ""
    rights: tuple[str, ...] = ()
    panels: Mapping[str, str] = field(default_factory=dict)
    secret_fields: tuple[str, ...] = ()
    rows_kept: Mapping[str, str] = field(default_factory=dict)
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
