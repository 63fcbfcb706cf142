"""Evaluations: whether an agent does the right thing with a capability."""

from typing import Final

from django.utils.translation import gettext_lazy

from registry.common.event_type import EventType
from registry.core.jobs.celery_dispatch import CeleryQueue
from registry.feature import Feature

QUEUE: Final = CeleryQueue("studio.evaluations", soft_seconds=1800, hard_seconds=1860)

FEATURE: Final = Feature(
    name="evaluations",
    events=(
        EventType("evaluation.save_case", gettext_lazy("Evaluation case “%(case)s” saved")),
        EventType("evaluation.delete_case", gettext_lazy("Evaluation case “%(case)s” deleted")),
        EventType(
            "evaluation.refuse_file",
            gettext_lazy("The evaluation cases of an import were not taken: %(reason)s"),
            in_timeline=True,
        ),
        EventType("evaluation.start", gettext_lazy("Evaluation started")),
        EventType("evaluation.cancel", gettext_lazy("Evaluation canceled")),
        EventType("evaluation.upload", gettext_lazy("Evaluation results of %(tool)s uploaded"), in_timeline=True),
        EventType("evaluation_rule.set"),
        EventType("evaluation_rule.drop"),
    ),
    finding_codes=("EVALUATION_MISSING", "EVALUATION_FAILED"),
    publish_conditions=("features.evaluations.release_conditions.find_unmet",),
    job_handlers={
        "evaluation.case": "features.evaluations.runs.run_case_job",
        "evaluation.prune": "features.evaluations.runs.prune_transcripts",
    },
    job_observers={"evaluation.case": "features.evaluations.runs.on_job_state_change"},
    job_queues={"evaluation.case": QUEUE},
    daily_jobs=("evaluation.prune",),
    import_observers=("features.evaluations.case_store.on_import", "features.evaluations.uploads.on_import"),
    export_files="features.evaluations.case_store.list_export_files",
    operator_api={"evaluation_results_upload": "features.evaluations.api.evaluation_results_upload"},
    pages="features.evaluations.urls",
    capability_tabs="features.evaluations.navigation.CAPABILITY_TABS",
    dangerous_actions="features.evaluations.dangerous_actions.ACTIONS",
    rights=("features.evaluations.rights.RIGHTS",),
    panels={
        "publishing_policy": "features.evaluations.rule_pages.draw_rules",
        "gate.destinations": "features.evaluations.panels.draw_line",
    },
    rows_kept={"evaluations_evaluationrule": "rules that publishing needs evaluations"},
)
