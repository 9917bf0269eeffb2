"""CH001 to CH009: from text to a plan."""

from chargehand.checking.explanations.explanation import Explanation, explain

_DEEP = "[" * 58 + "BOS" + "]" * 58  # two levels more than a plan may have, counted from the plan itself

READING: dict[str, Explanation] = {
    "CH001": explain(
        """The text could not be read at all, so nothing else in it was checked. Most often an expression inside
        `{$: …}` holds brackets, commas or colons, which YAML takes for its own. Put such an expression in quotes.""",
        bad="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
              - id: hold
                use: hold_seat
                with: {flight_id: {$: find.flights[0].id}, passenger: Kim Ito}
        """,
        good="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
              - id: hold
                use: hold_seat
                with: {flight_id: {$: "find.flights[0].id"}, passenger: Kim Ito}
        """,
    ),
    "CH002": explain(
        """The same key stands twice in one mapping. Most programs would silently keep one of the two, and perhaps
        not the one you meant, so Chargehand keeps neither. Remove or rename one of them.""",
        bad="""
            steps:
              - id: find
                use: search_flights
                with:
                  origin: BOS
                  origin: JFK
                  day: 2026-11-20
        """,
        good="""
            steps:
              - id: find
                use: search_flights
                with:
                  origin: BOS
                  destination: JFK
                  day: 2026-11-20
        """,
    ),
    "CH003": explain(
        """The plan has more text, more steps or more nested levels than Chargehand will read. The limits are far
        above what a person can follow, and they keep a runaway plan from using up memory and time. Keep large
        values where a tool can read them, repeat a step with `each`, and divide long work into sub-goals.""",
        bad=f"""
            steps:
              - id: near
                use: nearby_airports
                with: {{airport: {_DEEP}}}
        """,
        good="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
        """,
    ),
    "CH004": explain(
        """A plan is plain data: text, finite numbers, true, false, nothing, lists and maps. Infinity, NaN, numbers
        beyond 64 bits, control characters, YAML tags and aliases have no faithful form in JSON, so they would not
        survive the way to a tool and into the journal. Write a value that does, or leave the field out.""",
        bad="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
                limits: {seconds: .inf}
        """,
        good="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
                limits: {seconds: 30}
        """,
    ),
    "CH005": explain(
        """The plan language does not know this field. If it were ignored, a misspelt `expect` would be a check that
        never happens, and you would not hear of it. Correct the spelling or remove the field; `chargehand schema`
        prints all that there are.""",
        bad="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
                expects: [size(output.airports) > 0]
        """,
        good="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
                expect: [size(output.airports) > 0]
        """,
    ),
    "CH006": explain(
        """A field that every plan or step must have is not there. Without an `id`, for example, no other step could
        refer to this one, and the journal could not say whether it was done. Add the field.""",
        bad="""
            steps:
              - use: nearby_airports
                with: {airport: BOS}
        """,
        good="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
        """,
    ),
    "CH007": explain(
        """The field is known, but what it holds has the wrong form: text where a list belongs, or a word where a
        number belongs. Chargehand does not guess, because a wrong guess would run. Write it in the form that the
        message names.""",
        bad="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
                after: near
        """,
        good="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
                after: [near]
        """,
    ),
    "CH008": explain(
        """A step does exactly one thing: it uses a tool (`use`), asks a specialist (`ask`) or pursues a sub-goal
        (`goal`). This one names none of them, or more than one, or has a field that belongs to another kind, so
        nobody could say what should run. Keep one of the three, and `task` only beside `ask`.""",
        bad="""
            steps:
              - id: near
                with: {airport: BOS}
        """,
        good="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
        """,
    ),
    "CH009": explain(
        """A reference is a mapping with the single key `$` and an expression as its text. With other keys beside it,
        it could be a reference or plain data, and the tool might receive the wrong one of the two. Move everything
        else into the expression.""",
        bad="""
            inputs: {city: text}
            steps:
              - id: near
                use: nearby_airports
                with: {airport: {$: inputs.city, otherwise: BOS}}
        """,
        good="""
            inputs: {city: text}
            steps:
              - id: near
                use: nearby_airports
                with: {airport: {$: "inputs.city != '' ? inputs.city : 'BOS'"}}
        """,
    ),
}
