"""`chargehand demo`: a plan is made, a broken one is refused, and the mended one accepted."""

from chargehand.cli.pictures import show_planned, show_steps
from chargehand.cli.reports import report
from chargehand.cli.screen import bold, dim, say
from chargehand.demo import travel
from chargehand.domain.plan import Plan

GOAL = "Book me the cheapest flight that arrives before 5 p.m. Friday"

BROKEN = """\
steps:
  - id: find
    use: search_flights
    with: {origin: BOS, destination: JFK, day: 2026-11-20}
  - id: pick
    use: cheapest
    with:
      flights: {$: "find.flights.filter(f, f.prce < 500)"}
      arrive_before: "2026-11-20T17:00:00-05:00"
  - id: book
    use: book_flight
    with: {flight_id: {$: pik.id}, passanger: Robin Hale}
    expect: [output.flight_id == pick.id]
answer: {$: book.reference}
"""
MENDS = (("f.prce < 500", "f.price < 500.0"), ("pik.id", "pick.id"), ("passanger", "passenger"))


def mended() -> str:
    """The broken plan with its mistakes put right."""
    text = BROKEN
    for wrong, right in MENDS:
        text = text.replace(wrong, right)
    return text


def tour() -> None:
    """Shows, in the travel world, what the checker does for a plan."""
    desk = travel.desk()
    say(bold("1. A goal becomes a plan, from a playbook and without a model"))
    say(dim("It is Monday 16 November 2026, 9 a.m., in Boston.\n"))
    for line in show_planned(desk.explain(GOAL), desk):
        say(line)

    say(f"\n{bold('2. A broken plan is refused before anything can happen')}")
    say(dim("Three slips, as a hurried person or a model makes them.\n"))
    for line in report(desk.check(BROKEN), "trip.yaml", BROKEN):
        say(line)

    say(f"\n{bold('3. Mended, it is accepted')}\n")
    text = mended()
    for line in report(desk.check(text), "trip.yaml", text):
        say(line)
    for line in show_steps(Plan.parse(text), desk):
        say(line)

    say(f"\n{bold('Next')}")
    say("  chargehand tools --app chargehand.demo.travel:desk        what plans may use here")
    say("  chargehand playbooks --app chargehand.demo.support:desk   another world: a support desk")
    say("  chargehand explain CH303                                  what a code means")
