"""The playbooks of both worlds: loaded without a word of complaint, and walked with the real tools."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.demo.plan_walk import SKIPPED, StepFailed, pursue, use

from chargehand.demo import support, travel
from chargehand.demo.support.world import World as SupportWorld
from chargehand.demo.travel.world import World as TravelWorld
from chargehand.runtime import Chargehand

pytestmark = pytest.mark.slow

FLIGHT = "Book me the cheapest flight that arrives before 5 p.m. Friday"


@pytest.mark.parametrize("desk", [travel.desk, support.desk])
def test_every_playbook_is_accepted_without_warnings(desk: Callable[[], Chargehand]) -> None:
    for playbook in desk().playbooks:
        text = Path(playbook.source).read_text(encoding="utf-8")
        assert desk().check_playbook(text, playbook.source) == []


@pytest.mark.parametrize("desk", [travel.desk, support.desk])
def test_every_tool_says_what_it_does_and_who_learns_of_it(desk: Callable[[], Chargehand]) -> None:
    for tool in desk().catalog.tools.values():
        assert tool.description.endswith("."), tool.name
        assert tool.timeout is not None, tool.name
        assert tool.egress is not None, tool.name


# --- travel -----------------------------------------------------------------------------------------------------------


def test_friday_is_resolved_in_boston() -> None:
    plan = travel.desk().plan(FLIGHT)

    assert [step.id for step in plan.steps] == ["find", "pick", "book", "letter"]
    assert plan.inputs["deadline"].value == "2026-11-20T17:00:00-05:00"
    assert (plan.inputs["origin"].value, plan.inputs["destination"].value) == ("BOS", "JFK")


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("Book me the cheapest flight to SFO that arrives before Friday 5 p.m.", ("BOS", "SFO", "Robin Hale")),
        (
            "Book me the cheapest flight from Miami to Denver that arrives before noon tomorrow",
            ("Miami", "Denver", "Robin Hale"),
        ),
        (
            "book Kim Ito the cheapest flight from ORD to LAX that arrives before 2026-11-18 20:00.",
            ("ORD", "LAX", "Kim Ito"),
        ),
    ],
)
def test_the_route_and_the_traveller_can_be_named(goal: str, expected: tuple[str, str, str]) -> None:
    inputs = travel.desk().plan(goal).inputs

    assert tuple(inputs[name].value for name in ("origin", "destination", "passenger")) == expected


def test_the_flight_is_found_at_a_nearby_airport_after_one_revision(tmp_path: Path) -> None:
    walk = pursue(travel.desk(tmp_path / "world"), FLIGHT)

    assert walk.plan.revision == 1
    assert walk.reasons == ["No flight of this route fits, so nearby airports are searched as well."]
    [booking] = TravelWorld(tmp_path / "world").bookings_of("PJ241-BOSLGA-1120", "Robin Hale")
    assert walk.answer == {"booking": booking.model_dump(mode="json"), "letter": walk.outputs["letter"]}


def test_the_flight_to_paris_leaves_the_day_before_after_two_revisions(tmp_path: Path) -> None:
    goal = "Book Kim Ito the cheapest flight from Boston to Paris that arrives before 5 p.m. Friday"

    walk = pursue(travel.desk(tmp_path / "world"), goal, {"language": "fr"})

    assert walk.plan.revision == 2
    assert len(TravelWorld(tmp_path / "world").bookings_of("MM857-BOSCDG-1119", "Kim Ito")) == 1
    assert walk.outputs["letter"]["subject"].startswith("Votre vol pour Paris")


def test_a_route_with_a_free_flight_needs_no_revision() -> None:
    walk = pursue(travel.desk(), "Book me the cheapest flight from BOS to LGA that arrives before 5 p.m. Friday")

    assert walk.plan.revision == 0


def test_when_nothing_fits_nothing_is_booked(tmp_path: Path) -> None:
    goal = "Book me the cheapest flight from Boston to Paris that arrives before 1 a.m. on 16 November 2026"
    before = TravelWorld(tmp_path / "world").dump()

    with pytest.raises(StepFailed, match="pick"):
        pursue(travel.desk(tmp_path / "world"), goal)

    assert TravelWorld(tmp_path / "world").dump() == before


# --- the support desk -------------------------------------------------------------------------------------------------


def test_every_message_is_answered_in_its_language(tmp_path: Path) -> None:
    desk, world = support.desk(tmp_path / "world"), SupportWorld(tmp_path / "world")
    for message in world.messages():
        walk = pursue(desk, f"Answer message {message.id}")

        kind, ticket = walk.outputs["kind"], walk.outputs["ticket"]
        assert (ticket is SKIPPED) is (kind == "product")
        customer = world.customer(message.sender)
        assert f"in message {message.id}" in world.notes_of(customer.id)[0].text
        assert walk.answer["to"] == customer.email
        assert walk.answer["reply"]["language"] == customer.language


def test_a_silent_carrier_disturbs_nobody() -> None:
    desk = support.desk()
    walks = [pursue(desk, f"Answer message M{number}") for number in (1, 2, 3, 13, 14, 15, 25, 26, 27)]

    told = [walk.outputs["parcels"] is not SKIPPED for walk in walks]
    assert any(told)
    assert not all(told)


def test_an_answer_is_drafted_by_a_sub_goal_and_then_sent(tmp_path: Path) -> None:
    walk = pursue(support.desk(tmp_path / "world"), "Reply to message M3")

    world = SupportWorld(tmp_path / "world")
    [sent] = world.sent()
    assert sent.to == world.message("M3").sender
    assert sent.subject == "Ihr Paket"
    assert walk.answer == {"mail_id": "E1", "to": sent.to, "subject": sent.subject}


def test_a_refund_comes_with_its_ticket_and_note(tmp_path: Path) -> None:
    walk = pursue(support.desk(tmp_path / "world"), "Refund 20 euros for order A1003")

    world = SupportWorld(tmp_path / "world")
    order = world.order("A1003")
    assert order.refunded == 20.0
    assert world.ticket(walk.answer["ticket"]).customer_id == order.customer_id
    assert world.notes_of(order.customer_id)[0].text.startswith("Refund of 20 euros, ticket T41.")


def test_a_refund_of_more_than_the_order_writes_nothing(tmp_path: Path) -> None:
    desk, world = support.desk(tmp_path / "world"), SupportWorld(tmp_path / "world")
    before = world.dump()

    with pytest.raises(StepFailed, match="bought"):
        pursue(desk, "Refund 5000 euros for order A1003")

    assert world.dump() == before


def test_orders_are_listed_with_what_they_cost_together() -> None:
    desk = support.desk()
    walk = pursue(desk, "Which orders does anna.albers@example.de have?")

    found = use(desk, "orders_of", customer_id="C102")
    assert walk.answer["customer"] == "Anna Albers"
    assert walk.answer["orders"] == found
