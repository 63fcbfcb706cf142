"""Who may open the pages of git mirrors, and what their forms do."""

from features.credentials import credential_store
from features.credentials.models import Credential
from features.git_mirrors import mirror_store
from features.git_mirrors.models import GitMirror
from registry.common.actors import Actor
from registry.core.transactions import write_transaction
from tests.feature_pages import FeaturePages


def furnish() -> None:
    """A mirror that is not started."""
    by = Actor("command_line", "root")
    row = Credential.objects.filter(name="alpha").first()
    if row is None:
        row = credential_store.create_credential(name="alpha", hosts=["git.example"], secret="hush", by=by)
    with write_transaction():
        mirror = GitMirror.objects.create(
            url="https://git.example/skills", branch="main", credential=row, form="skills", created_by=str(by)
        )
        mirror_store.record(mirror, "git_mirror.add", by, {"form": mirror.form, "set_id": ""})


PAGES = FeaturePages(
    roles={
        "git_mirror_create": ("admin", "admin"),
        "git_mirror_preview": ("admin", "admin"),
        "git_mirror_start": ("admin", "admin"),
        "git_mirror_push": ("admin", "admin"),
        "git_mirror_continue": ("admin", "admin"),
        "git_mirror_consent": ("publisher", "publisher"),
        "git_mirror_withdraw": ("publisher", "publisher"),
        "git_mirror_remove": ("admin", "admin"),
    },
    confirmed={"git_mirror_remove": dict},
    harmless={
        "git_mirror_create": "adds a mirror that pushes nothing",
        "git_mirror_preview": "reads the branch",
        "git_mirror_start": "shows what it will push before",
        "git_mirror_push": "queues a push",
        "git_mirror_continue": "the commit of the others stays",
        "git_mirror_consent": "it can be withdrawn",
        "git_mirror_withdraw": "it can be given again",
    },
    ordinary=frozenset(
        {"git_mirror_preview", "git_mirror_remove", "git_mirror_push", "git_mirror_consent", "git_mirror_withdraw"}
    ),
    numbered={"git_mirror": GitMirror},
    furnish=furnish,
)
