"""CH101 to CH109: ids, names and the order of steps."""

from chargehand.checking.explanations.explanation import Explanation, explain

NAMES: dict[str, Explanation] = {
    "CH101": explain(
        """The id of a step is a name in expressions, so it has to look like one: letters, digits and underscores, a
        letter first, at the most 64 characters. In `near-boston.airports` the dash would be a minus. Rename the
        step.""",
        bad="""
            steps:
              - id: near-boston
                use: nearby_airports
                with: {airport: BOS}
        """,
        good="""
            steps:
              - id: near_boston
                use: nearby_airports
                with: {airport: BOS}
        """,
    ),
    "CH102": explain(
        """This id already means something in expressions: it is a type, a keyword, or one of `inputs`, `output`,
        `item`, `args` and `failure`. A reference to the step would silently read that other thing. Name the step
        after what it does.""",
        bad="""
            steps:
              - id: list
                use: nearby_airports
                with: {airport: BOS}
        """,
        good="""
            steps:
              - id: list_airports
                use: nearby_airports
                with: {airport: BOS}
        """,
    ),
    "CH103": explain(
        """Two steps have the same id. A reference to it could mean either, and the journal keeps one result for an
        id, so one of the two would seem to be done before it began. Give each step a name of its own.""",
        bad="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
              - id: near
                use: nearby_airports
                with: {airport: JFK}
        """,
        good="""
            steps:
              - id: near_origin
                use: nearby_airports
                with: {airport: BOS}
              - id: near_destination
                use: nearby_airports
                with: {airport: JFK}
        """,
    ),
    "CH104": explain(
        """Something refers to a step that the plan does not have; often it is only a misspelling. At run time the
        value would be missing, and the step that needs it could never start. Correct the name, or add the step. (An
        input is written with its full name, as in `inputs.city`.)""",
        bad="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
              - id: pick
                use: cheapest
                with: {flights: {$: fnd.flights}, arrive_before: "2026-11-20T17:00:00-05:00"}
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
    "CH105": explain(
        """Each of these steps waits for the other, directly or through more of them (or a step refers to itself), so
        none could ever start. The message shows the circle; `after`, `maybe` and every expression count. Remove one
        of the references, or split a step in two.""",
        bad="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
                after: [pick]
              - id: pick
                use: cheapest
                with: {flights: {$: find.flights}, arrive_before: "2026-11-20T17:00:00-05:00"}
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
    "CH106": explain(
        """An expression takes an input that the plan does not declare. Nobody would be asked for it, so at run time
        there would be no value. Declare it under `inputs`, or correct its name.""",
        bad="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: {$: inputs.city}}
        """,
        good="""
            inputs: {city: text}
            steps:
              - id: near
                use: nearby_airports
                with: {airport: {$: inputs.city}}
        """,
    ),
    "CH107": explain(
        """Some names are known only in some places: `output` and `args` in `expect`, `item` in a step with `each`,
        `failure` in a playbook's revisions. Here the name stands for nothing, so the expression would fail as soon
        as it ran. Move the expression to where the name is known, or refer to a step instead.""",
        bad="""
            inputs: {city: text}
            steps:
              - id: near
                use: nearby_airports
                with: {airport: {$: item}}
        """,
        good="""
            inputs: {city: text}
            steps:
              - id: near
                use: nearby_airports
                each: "[inputs.city, 'JFK']"
                with: {airport: {$: item}}
        """,
    ),
    "CH108": explain(
        """The answer needs a step that may be skipped: by its `when`, by `if_fails: skip`, or because it refers to
        such a step. Then the run would do its work and have no answer to give. Answer from a step that always runs;
        `maybe: [a]` in such a step turns the skipped `a` into null.""",
        bad="""
            inputs: {early: boolean}
            steps:
              - id: earlier
                use: day_before
                when: inputs.early
                with: {day: 2026-11-20}
            answer: {$: earlier}
        """,
        good="""
            inputs: {early: boolean}
            steps:
              - id: earlier
                use: day_before
                with: {day: 2026-11-20}
            answer: {$: "inputs.early ? earlier : '2026-11-20'"}
        """,
    ),
    "CH109": explain(
        """The step only reads, and neither another step nor the answer uses what it finds. It would cost time, and
        perhaps money, for nothing; often a reference was forgotten. Use its output, or remove the step.""",
        bad="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
            answer: {$: find.flights}
        """,
        good="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
            answer: {flights: {$: find.flights}, airports: {$: near.airports}}
        """,
    ),
}
