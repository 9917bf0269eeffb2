"""Patches: what they may change, and the difference between two plans."""

import pytest

from chargehand.domain.patch import apply, difference
from chargehand.domain.plan import Plan
from chargehand.domain.reading import read_patch
from chargehand.errors import PatchRefused

PLAN = Plan.parse(
    """
steps:
  - {id: find, use: search}
  - {id: pick, use: cheapest, with: {flights: {$: find.flights}}}
  - {id: book, use: book, with: {flight_id: {$: pick.id}}}
answer: {$: book}
"""
)


def patched(text: str, settled: tuple[str, ...] = ()) -> Plan:
    patch, diagnostics = read_patch(text)
    assert not diagnostics
    return apply(PLAN, patch, settled)


def test_a_patch_adds_replaces_and_drops_and_counts_the_revision() -> None:
    plan = patched(
        """
add: [{id: near, use: nearby}]
replace: [{id: pick, use: cheapest, with: {flights: {$: near.flights}}}]
drop: [book]
answer: {$: pick}
""",
        settled=("find",),
    )

    assert [step.id for step in plan.steps] == ["find", "pick", "near"]
    assert plan.needs(plan.by_id["pick"]) == {"near"}
    assert plan.answers_from == {"pick"}
    assert plan.revision == 1
    assert PLAN.revision == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("replace: [{id: pik, use: x}]", "replaces step 'pik', which the plan does not have"),
        ("drop: [pik]", "drops step 'pik'"),
        ("replace: [{id: find, use: x}]", "finished or running"),
        ("drop: [find]", "finished or running"),
        ("add: [{id: pick, use: x}]", "already has"),
        ("add: [{id: a, use: x}, {id: a, use: y}]", "two things about step 'a'"),
        ("replace: [{id: pick, use: x}]\ndrop: [pick]", "two things about step 'pick'"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(text: str, said: str) -> None:
    with pytest.raises(PatchRefused) as error:
        patched(text, settled=("find",))

    assert said in error.value.message


def test_a_dropped_step_may_come_back_as_another() -> None:
    assert patched("drop: [book]\nadd: [{id: book, use: other}]").by_id["book"].action != PLAN.by_id["book"].action


def test_the_difference_of_two_plans_leads_from_one_to_the_other() -> None:
    new = patched("add: [{id: near, use: nearby}]\nreplace: [{id: pick, use: best}]\ndrop: [book]\nanswer: 3")

    patch = difference(PLAN, new)

    assert apply(PLAN, patch) == new
    assert not difference(new, new)


def test_a_difference_can_be_read() -> None:
    new = patched(
        "add: [{id: near, use: nearby, with: {airport: {$: find.origin}}}]\n"
        "replace: [{id: pick, use: best}]\ndrop: [book]\nanswer: {$: pick}"
    )

    assert difference(PLAN, new).render() == (
        "+ near\n"
        "    use: nearby\n"
        "    with:\n"
        "      airport: {$: find.origin}\n"
        "~ pick\n"
        "    use: best\n"
        "- book\n"
        "~ answer\n"
        "    {$: pick}\n"
    )
    assert difference(new, new).render() == "no change\n"


def test_a_patch_with_mistakes_names_them() -> None:
    _, diagnostics = read_patch("ad: []\nreplace: [{id: x}]")

    assert [(one.code, one.path) for one in diagnostics] == [("CH005", "ad"), ("CH008", "replace[0]")]
