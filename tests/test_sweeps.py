import pytest

from registry.models import SkillGroup
from tests.sweeps import check_each, rolled_back


def test_every_cell_is_checked_and_each_that_fails_is_named() -> None:
    def check(cell: str) -> None:
        assert cell != "b", "an assertion"
        if cell == "c":
            raise LookupError("an error")
        if cell == "d":
            with pytest.raises(LookupError):
                pass

    with pytest.raises(AssertionError) as caught:
        check_each("abcde", check)
    assert "3 of 5 fail:\n'b': AssertionError: an assertion" in str(caught.value)
    assert "\n'c': LookupError: an error" in str(caught.value)
    assert "\n'd': Failed: DID NOT RAISE" in str(caught.value)
    check_each("ae", check)


def test_a_sweep_without_a_cell_fails() -> None:
    with pytest.raises(AssertionError, match="nothing to check"):
        check_each([], print)


@pytest.mark.django_db
def test_what_a_cell_writes_is_gone_before_the_next() -> None:
    def check(cell: int) -> None:
        assert SkillGroup.objects.count() == 0
        SkillGroup.objects.create(group_id=f"group_{cell}", name="Group")
        assert cell < 2, "an assertion"

    with pytest.raises(AssertionError, match=r"1 of 3 fail:\n2: AssertionError"):
        check_each(range(3), check, isolate=rolled_back)
    assert SkillGroup.objects.count() == 0
