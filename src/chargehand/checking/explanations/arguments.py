"""CH201 to CH209: tools, skills, sub-goals, and what they are given."""

from chargehand.checking.explanations.explanation import Explanation, explain

ARGUMENTS: dict[str, Explanation] = {
    "CH201": explain(
        """No tool of this name is known to the application, so the step could not be carried out. Correct the name
        (`chargehand tools` lists all of them), or give the tool to `Chargehand(tools=[…])`.""",
        bad="""
            steps:
              - id: find
                use: search_flight
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
        """,
        good="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
        """,
    ),
    "CH202": explain(
        """The step asks for a skill that no agent of the application advertises, so the run would stop here and wait
        for a specialist who does not exist. Ask for a skill that somebody has, add an agent, or use a tool that does
        the work.""",
        bad="""
            steps:
              - id: near
                ask: geography
                task: Which airports are near Boston?
        """,
        good="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: Boston}
        """,
    ),
    "CH203": explain(
        """No playbook answers this sub-goal, so nobody knows how to plan it. Say it in the words of a playbook
        (`chargehand playbooks` lists them), or write a playbook that answers it.""",
        bad="""
            steps:
              - id: trip
                goal: Bring me to New York by Friday 5 p.m.
        """,
        good="""
            steps:
              - id: trip
                goal: Book me the cheapest flight to New York that arrives before Friday 5 p.m.
        """,
    ),
    "CH204": explain(
        """The tool or sub-goal needs an argument that the step does not give. The call would be refused at run time,
        perhaps after other steps have already had their effects. Add the argument under `with`.""",
        bad="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK}
        """,
        good="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
        """,
    ),
    "CH205": explain(
        """The step gives an argument that the tool or sub-goal does not take. Either the name is misspelt, or you
        hope for something that the tool cannot do and would never have done. Correct the name, or remove the
        argument.""",
        bad="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20, cabin: business}
        """,
        good="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
        """,
    ),
    "CH206": explain(
        """A value that is written in the plan does not fit the schema of its parameter or input: wrong type, wrong
        format, not one of the choices, out of bounds. The tool would refuse it at run time, so better now. Write a
        value that fits.""",
        bad="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: next Friday}
        """,
        good="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
        """,
    ),
    "CH207": explain(
        """The expression is sound, but what it gives is not what the parameter takes, such as a whole search result
        where only its list of flights is wanted. The tool would refuse the value. Refer to the right part, or
        convert it with `int(…)`, `double(…)` or `string(…)`.""",
        bad="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
              - id: pick
                use: cheapest
                with: {flights: {$: find}, arrive_before: "2026-11-20T17:00:00-05:00"}
        """,
        good="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
              - id: pick
                use: cheapest
                with: {flights: {$: find.flights}, arrive_before: "2026-11-20T17:00:00-05:00"}
        """,
    ),
    "CH208": explain(
        """The value may be null or absent, and the parameter does not take that. The step would work on some days and
        fail on others. Guard it with `when`, and it is skipped when there is nothing to work on.""",
        bad="""
            steps:
              - id: mine
                use: find_booking
                with: {flight_id: HS123-BOSJFK-1120, passenger: Kim Ito}
              - id: letter
                use: write_confirmation
                with: {booking: {$: mine}}
        """,
        good="""
            steps:
              - id: mine
                use: find_booking
                with: {flight_id: HS123-BOSJFK-1120, passenger: Kim Ito}
              - id: letter
                use: write_confirmation
                when: mine != null
                with: {booking: {$: mine}}
        """,
    ),
    "CH209": explain(
        """The JSON Schema that stands here is not a valid one, or refers to something outside of itself. Results could
        not be checked against it, so a wrong result would pass for a good one. Correct the schema; its types are
        string, number, integer, boolean, array, object and null.""",
        bad="""
            steps:
              - id: trip
                goal: Book me the cheapest flight to New York that arrives before Friday 5 p.m.
                returns: {type: booking}
        """,
        good="""
            steps:
              - id: trip
                goal: Book me the cheapest flight to New York that arrives before Friday 5 p.m.
                returns: {type: object}
        """,
    ),
}
