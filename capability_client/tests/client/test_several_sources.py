"""Several sources in one session."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capability_client import (
    AsyncRegistry,
    AsyncSession,
    CapabilityNotFound,
    LocalSkills,
    Registry,
    Session,
    SeveralSources,
)
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.registries import Given, fake_registry, listing, load_answer
from capability_client.tests.test_session import ALL
from capability_kit.errors import InstallCodeNotFound, RegistryUnreachable, Unavailable
from tests.event_loop import run_async
from tests.json_values import parsed


class Matching(FakeRegistry):
    """A registry that matches."""

    def match(self, message: str) -> dict[str, Any]:
        self.requests.append(("match", {"message": message}))
        row = {"capability_id": "sleep", "score": 0.9, "matched_triggers": []}
        return {"decision": "match", "matches": [row], "needed": ["sleep"]}


def _sources() -> tuple[FakeRegistry, Matching]:
    own = FakeRegistry([build_bundle("weights", skill_doc="# Weights\n\nMine.\n", intent_triggers=["weigh-in"])])
    return own, Matching([build_bundle("weights"), build_bundle("sleep")], first_run="sleep")


def test_the_first_source_that_has_a_capability_has_it() -> None:
    session = Session(SeveralSources(*_sources()), environment=ALL)
    assert list(session.entries) == ["weights", "sleep"]
    assert "Mine." in session.load("weights").skill_doc
    assert session.load("sleep").capability_id == "sleep"
    assert [hint.capability_id for hint in session.turn("I slept badly").hints] == []
    assert session.start().capability_id == ""
    with pytest.raises(CapabilityNotFound) as caught:
        session.load("meals")
    assert caught.value.available_capabilities == ["weights", "sleep"]


class Strict(FakeRegistry):
    """A registry that takes feedback for what it has."""

    def feedback(self, capability_id: str, outcome: str, **_more: Any) -> dict[str, Any]:
        raise CapabilityNotFound(f"There is no '{capability_id}' to be {outcome}")


def test_the_refusal_names_what_was_asked_in_whatever_order() -> None:
    with pytest.raises(CapabilityNotFound) as caught:
        SeveralSources(Strict()).feedback(outcome="used", capability_id="nowhere")  # type: ignore[attr-defined]
    assert caught.value.capability_id == "nowhere"


def test_a_registry_among_them_matches_and_one_that_is_away_is_left_out() -> None:
    own, registry = _sources()
    session = Session(SeveralSources(own, registry), environment=ALL)
    assert [hint.capability_id for hint in session.turn("I slept badly").hints] == ["sleep"]
    registry.is_away = True
    sources = SeveralSources(own, registry)
    assert [entry.capability_id for entry in sources.list()] == ["weights"]
    assert sources.load("weights").capability_id == "weights"
    with pytest.raises(Unavailable):
        sources.load("sleep")
    own.is_away = True
    with pytest.raises(Unavailable):
        sources.list()
    with pytest.raises(ValueError, match="at least one"):
        SeveralSources()


def test_only_what_a_source_can_do_is_offered(tmp_path: Path) -> None:
    """A session asks for it by name: local skills neither match nor take feedback."""
    local, (fake, registry) = LocalSkills(tmp_path), _sources()
    assert [hasattr(SeveralSources(local), name) for name in ("match", "feedback")] == [False, False]
    assert [hasattr(SeveralSources(local, fake), name) for name in ("match", "feedback")] == [False, True]
    assert [hasattr(SeveralSources(local, registry), name) for name in ("match", "feedback")] == [True, True]


def test_a_release_that_was_loaded_stays_although_the_user_adds_one_of_the_same_name() -> None:
    own, registry = FakeRegistry(), _sources()[1]
    session = Session(SeveralSources(own, registry), environment=ALL)
    digest = session.load("sleep").digest
    own.publish(build_bundle("sleep", skill_doc="# Sleep\n\nMine.\n"))
    resumed = Session.from_json(session.to_json(), SeveralSources(own, registry), environment=ALL)
    resumed.bundles.clear()
    assert resumed.load("sleep").digest == digest


# Skills of a folder beside a registry.


def _local(folder: Path, name: str = "dice", trigger: str = "roll the dice") -> LocalSkills:
    (folder / name).mkdir(parents=True, exist_ok=True)
    capability = {"capability_id": name, "name": name, "description": f"About {name}.", "intent_triggers": [trigger]}
    (folder / name / "skill.md").write_text("# It\n\nDo it.\n", "utf-8")
    (folder / name / "capability.json").write_text(json.dumps(capability), "utf-8")
    return LocalSkills(folder)


def _hints(session: Session, message: str) -> list[str]:
    return [hint.capability_id for hint in session.turn(message).hints]


def test_a_local_skill_is_hinted_beside_what_the_registry_matches(tmp_path: Path) -> None:
    session = Session(SeveralSources(_local(tmp_path), _sources()[1]), environment=ALL)
    assert _hints(session, "roll the dice, I slept badly") == ["dice", "sleep"]
    assert _hints(session, "I slept badly") == ["sleep"]
    (hint,) = [hint for hint in session.turn("roll the dice").hints if hint.capability_id == "dice"]
    assert (hint.triggers, hint.score) == (("roll the dice",), 1.0)


def test_a_registry_that_finds_nothing_leaves_the_local_skill_a_match(tmp_path: Path) -> None:
    class Finds(FakeRegistry):
        def match(self, message: str) -> dict[str, Any]:
            near = [{"capability_id": "sleep", "score": 0.3, "below_threshold": True, "matched_triggers": []}]
            return {"decision": "none", "matches": near, "needed": [], "exclusive_groups": ["coaching"]}

    sources: Any = SeveralSources(_local(tmp_path), Finds([build_bundle("sleep")]))
    found = sources.match("roll the dice")
    assert (found["decision"], found["needed"], found["exclusive_groups"]) == ("match", ["dice"], ["coaching"])
    assert [row["capability_id"] for row in found["matches"]] == ["dice"]
    assert sources.match("1 + 1")["decision"] == "none"


def test_what_changes_in_one_of_them_moves_the_revision_of_all(tmp_path: Path) -> None:
    class Moving(Matching):
        def match(self, message: str) -> dict[str, Any]:
            return super().match(message) | {"registry_revision": self.registry_revision}

    registry = Moving([build_bundle("sleep")])
    sources: Any = SeveralSources(_local(tmp_path), registry)
    seen = [sources.list().registry_revision]
    assert sources.match("x")["registry_revision"] == seen[0]
    registry.publish(build_bundle("weights"))
    seen.append(sources.match("x")["registry_revision"])
    assert sources.list().registry_revision == seen[1]
    _local(tmp_path, "cards")
    seen.append(sources.match("x")["registry_revision"])
    assert sources.list().registry_revision == seen[2]
    assert len(set(seen)) == 3

    session = Session(sources, environment=ALL)
    session.load("sleep")
    session.load("dice")
    session.turn("hello")
    registry.requests.clear()
    session.turn("hello")
    assert [name for name, _ in registry.requests] == ["match"], "nothing moved"
    registry.quarantine("sleep")
    session.turn("hello")
    assert [each.capability_id for each in session.active] == ["dice"]


def test_a_source_that_is_away_takes_nothing_away() -> None:
    own, registry = _sources()
    session = Session(SeveralSources(own, registry), environment=ALL)
    session.load("sleep")
    registry.is_away = True
    for _ in range(2):
        session.turn("hello")
    assert [each.capability_id for each in session.active] == ["sleep"]


def test_search_and_install_go_through_to_the_registries(tmp_path: Path) -> None:
    class Full(FakeRegistry):
        def search(self, q: str, *, top_k: int | None = None) -> dict[str, Any]:
            self._request("search")
            score = {"one": 0.4, "other": 0.9, "both": 0.5 + len(self.bundles) / 10}
            rows = [{"capability_id": name, "name": name, "score": score[name]} for name in self.bundles]
            return {"results": rows, "ranking": "hybrid"}

        def install(self, code: str, *, idempotency_key: str | None = None) -> dict[str, Any]:
            if code != f"SKILL-{next(iter(self.bundles))}":
                raise InstallCodeNotFound("No capability has this code")
            return {"capability_id": next(iter(self.bundles)), "name": "It", "digest": "sha256:0"}

    first, second = (
        Full([build_bundle("one"), build_bundle("both")]),
        Full([build_bundle("other"), build_bundle("both")]),
    )
    sources: Any = SeveralSources(_local(tmp_path), first, second)
    found = sources.search("q")
    assert [row["capability_id"] for row in found["results"]] == ["other", "both", "one"]
    assert found["ranking"] == "hybrid"
    assert len(sources.search("q", top_k=1)["results"]) == 1
    assert sources.install("SKILL-other")["capability_id"] == "other"
    with pytest.raises(InstallCodeNotFound):
        sources.install("SKILL-none")
    second.is_away = True
    assert [row["capability_id"] for row in sources.search("q")["results"]] == ["both", "one"]
    session = Session(sources, environment=ALL)
    assert "capability_search" in session.own_tools()
    alone = SeveralSources(_local(tmp_path))
    assert [hasattr(alone, name) for name in ("search", "install")] == [False, False]


def test_a_registry_that_sends_odd_rows_ends_no_turn() -> None:
    class Odd(FakeRegistry):
        answer: Any = None

        def match(self, message: str) -> Any:
            return self.answer

    source = Odd([build_bundle("alpha")])
    for answer in (
        {"decision": "match", "matches": 5, "needed": "alpha"},
        {"decision": "match", "matches": [None, {"capability_id": "alpha", "score": "high"}], "exclusive_groups": 7},
        {"decision": ["match"]},
        {},
    ):
        source.answer = answer
        Session(SeveralSources(source, FakeRegistry()), environment=ALL).turn("hello")


# asyncio


def test_an_async_session_takes_a_folder_beside_an_async_registry(tmp_path: Path) -> None:
    row = {"capability_id": "weights", "name": "Weights", "score": 0.9, "matched_triggers": []}
    match = {"decision": "match", "matches": [row], "needed": ["weights"], "registry_revision": 1}
    answers = {
        "capability_registry_list": Given(document=listing("weights")),
        "capability_match": Given(document=match),
        "capability_skill_load": Given(document=load_answer("weights")),
    }

    async def talk(url: str) -> tuple[Any, ...]:
        async with AsyncRegistry(url) as registry:
            session = AsyncSession(SeveralSources(_local(tmp_path), registry), environment=ALL)
            turn = await session.turn("roll the dice, how heavy am I?")
            bundles = [(await session.load(name)).capability_id for name in ("dice", "weights")]
            await session.turn("and again")
            return [hint.capability_id for hint in turn.hints], bundles, list(await session.entries)

    with fake_registry(**answers) as fake:
        assert run_async(talk(fake.url)) == (["dice", "weights"], ["dice", "weights"], ["dice", "weights"])
        lists = [request for request in fake.asked if request.path.endswith("list")]
        assert len(lists) == 1, "nothing moved"


# Typed programs are refused by mypy already.
UNTYPED: Any = Session


@pytest.mark.parametrize(
    ("make", "fix"),
    [
        (
            lambda folder: UNTYPED(SeveralSources(LocalSkills(folder), AsyncRegistry("http://127.0.0.1:9"))),
            "AsyncSession",
        ),
        (lambda folder: SeveralSources(parsed(str(folder))), "a Registry, an AsyncRegistry or LocalSkills, not str"),
        (lambda folder: SeveralSources(LocalSkills(folder), parsed(None)), "LocalSkills, not NoneType"),
    ],
)
def test_a_wrong_combination_is_a_type_error_that_names_the_fix(
    tmp_path: Path, make: Callable[[Path], Any], fix: str
) -> None:
    with pytest.raises(TypeError, match=fix):
        make(tmp_path)


def test_an_async_session_may_have_a_blocking_registry_among_several_which_runs_in_a_thread(tmp_path: Path) -> None:
    async def talk() -> list[str]:
        with Registry("http://127.0.0.1:9") as registry:
            session = AsyncSession(SeveralSources(_local(tmp_path), registry), environment=ALL)
            return [hint.capability_id for hint in (await session.turn("roll the dice")).hints]

    assert run_async(talk()) == ["dice"]


def test_a_coroutine_of_a_source_that_fails_is_an_error_as_any_other(tmp_path: Path) -> None:
    async def load() -> Any:
        async with AsyncRegistry("http://127.0.0.1:9") as registry:
            sources: Any = SeveralSources(LocalSkills(tmp_path), registry)
            return await sources.load("weights")

    with pytest.raises(RegistryUnreachable):
        run_async(load())
