"""Pages of evaluations: below a capability and the publishing policy."""

from django.urls import path

from features.evaluations import pages, rule_pages

_HERE = "capabilities/<capability_id:capability_id>/evaluations/"
urlpatterns = [
    path(_HERE, pages.evaluation_list, name="evaluation_list"),
    path(f"{_HERE}new/", pages.evaluation_new, name="evaluation_new"),
    path(f"{_HERE}suggest/", pages.evaluation_suggest, name="evaluation_suggest"),
    path(f"{_HERE}file/", pages.evaluation_file, name="evaluation_file"),
    path(f"{_HERE}start/", pages.evaluation_start, name="evaluation_start"),
    path(f"{_HERE}cases/<int:number>/", pages.evaluation_case, name="evaluation_case"),
    path(f"{_HERE}cases/<int:number>/delete/", pages.evaluation_delete, name="evaluation_delete"),
    path(f"{_HERE}runs/<int:number>/", pages.evaluation_run, name="evaluation_run"),
    path(f"{_HERE}runs/<int:number>/cancel/", pages.evaluation_cancel, name="evaluation_cancel"),
    path(f"{_HERE}runs/<int:number>/results.<str:form>", pages.evaluation_results, name="evaluation_results"),
    path("settings/publishing/evaluations/", rule_pages.evaluation_rule_set, name="evaluation_rule_set"),
    path("settings/publishing/evaluations/drop/", rule_pages.evaluation_rule_drop, name="evaluation_rule_drop"),
]
