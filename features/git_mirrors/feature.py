"""Git mirrors: what the product has of them beside the push."""

from typing import Final

from django.utils.translation import gettext_lazy

from registry.common.event_type import EventType
from registry.core.jobs.celery_dispatch import IMPORTS
from registry.feature import Feature, SectionTab

_VERBS: Final = ("add", "consent", "continue", "push", "remove", "start", "withdraw")
# After each of them other files may belong there.
CHANGES: Final = (
    *(f"capability.{verb}" for verb in ("deprecate", "publish", "quarantine", "restore", "retire", "rollback")),
    *("capability.set_owner", "capability.visibility", "credential.end", "credential.replace", "set.save"),
)

FEATURE: Final = Feature(
    name="git_mirrors",
    requires=("credentials", "sets"),
    events=(
        EventType("git_mirror.failing", public="git_mirror.failing", subject="git_mirror"),
        EventType("git_mirror.recovered", public="git_mirror.recovered", subject="git_mirror"),
        *(EventType(f"git_mirror.{verb}") for verb in _VERBS),
    ),
    job_handlers={
        "git_mirror.push": "features.git_mirrors.mirror_push.push_job",
        "git_mirror.check": "features.git_mirrors.push_queue.check_all",
    },
    job_observers={"git_mirror.push": "features.git_mirrors.mirror_push.on_job_state_change"},
    job_queues={"git_mirror.push": IMPORTS},
    daily_jobs=("git_mirror.check",),
    audit_observers=dict.fromkeys(CHANGES, ("features.git_mirrors.push_queue.on_change",)),
    pages="features.git_mirrors.urls",
    operator_api={"git_mirror_list": "features.git_mirrors.api.git_mirror_list"},
    section_tabs=(
        SectionTab(
            "studio:operator_list",
            gettext_lazy("Git mirrors"),
            "studio:git_mirror_list",
            after="studio:credential_list",
            right="administer",
            around=("studio:git_mirror",),
        ),
    ),
    panels={
        "capability.overview": "features.git_mirrors.panels.draw_mirrors",
        "gate.destinations": "features.git_mirrors.panels.draw_destinations",
    },
    dangerous_actions="features.git_mirrors.dangerous_actions.ACTIONS",
    rights=("features.git_mirrors.rights.RIGHTS",),
    rows_kept={"git_mirrors_gitmirror": "git mirrors"},
)
