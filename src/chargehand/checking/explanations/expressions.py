"""CH301 to CH308: expressions."""

from chargehand.checking.explanations.explanation import Explanation, explain

_DEEP = "(" * 41 + "inputs.abroad" + ")" * 41

EXPRESSIONS: dict[str, Explanation] = {
    "CH301": explain(
        """The expression breaks the grammar of CEL, the language of expressions, so nobody can say what it means.
        Often a word is used where CEL has a sign: `&&` for and, `||` for or, `!` for not, `==` for equals. The caret
        shows where reading stopped.""",
        bad="""
            steps:
              - id: pick
                use: cheapest
                with: {flights: [], arrive_before: "2026-11-20T17:00:00-05:00"}
                expect: [output.price < 500.0 and output.seats_left > 0]
        """,
        good="""
            steps:
              - id: pick
                use: cheapest
                with: {flights: [], arrive_before: "2026-11-20T17:00:00-05:00"}
                expect: [output.price < 500.0 && output.seats_left > 0]
        """,
    ),
    "CH302": explain(
        """The expression calls a function that the language does not have. It has only functions that always end and
        touch nothing outside; whatever else is to be done is the work of a tool. Correct the name, or let a step use
        a tool.""",
        bad="""
            inputs: {city: text}
            steps:
              - id: near
                use: nearby_airports
                with: {airport: {$: inputs.city.upper()}}
        """,
        good="""
            inputs: {city: text}
            steps:
              - id: near
                use: nearby_airports
                with: {airport: {$: inputs.city.upperAscii()}}
        """,
    ),
    "CH303": explain(
        """The value has no such field: the tool that makes it promises others in its result. The expression would fail
        when it runs, perhaps after a ticket has been paid for. Correct the name; the hint knows those that are
        there.""",
        bad="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
                expect: ["output.flights.all(f, f.prce < 500.0)"]
        """,
        good="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
                expect: ["output.flights.all(f, f.price < 500.0)"]
        """,
    ),
    "CH304": explain(
        """An operator or function is given values of types that do not go together, such as a number and a text.
        It would fail as soon as its step is reached. Write the value as the other type, or convert it with `int(…)`,
        `double(…)`, `string(…)`, `date(…)` or `time(…)`; beside a number with decimals, write 500.0, not 500.""",
        bad="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
                expect: ["output.flights.exists(f, f.price < '500')"]
        """,
        good="""
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
                expect: ["output.flights.exists(f, f.price < 500.0)"]
        """,
    ),
    "CH305": explain(
        """A condition in `when` or `expect` must come out true or false, and this one gives something else. Chargehand
        does not guess whether a number or a text counts as yes, so the step would fail. Compare the value with
        something.""",
        bad="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
                expect: [size(output.airports)]
        """,
        good="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
                expect: [size(output.airports) > 0]
        """,
    ),
    "CH306": explain(
        """`each` runs a step once for every item of a list, and this is not a list. Nobody could say how often the
        step should run. Name the list inside of the value, or make a list of one with brackets.""",
        bad="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
              - id: find
                use: search_flights
                each: near
                with: {origin: {$: item.code}, destination: JFK, day: 2026-11-20}
        """,
        good="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
              - id: find
                use: search_flights
                each: near.airports
                with: {origin: {$: item.code}, destination: JFK, day: 2026-11-20}
        """,
    ),
    "CH307": explain(
        """The expression is longer or nested deeper than Chargehand will evaluate. Evaluation cannot be interrupted,
        so the bounds keep one expression from holding up every run. Split it over several steps, or let a tool do
        the work.""",
        bad=f"""
            inputs: {{abroad: boolean}}
            steps:
              - id: near
                use: nearby_airports
                when: {_DEEP}
                with: {{airport: BOS}}
        """,
        good="""
            inputs: {abroad: boolean}
            steps:
              - id: near
                use: nearby_airports
                when: inputs.abroad
                with: {airport: BOS}
        """,
    ),
    "CH308": explain(
        """A check in `expect` is there to say whether the output is good, and this one does not look at it. It would
        hold, or not, whatever the step did, and a wrong result would pass. Refer to `output`, or move a condition
        that must hold beforehand into `when`.""",
        bad="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
                expect: [args.airport == 'BOS']
        """,
        good="""
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
                expect: [output.around == 'BOS']
        """,
    ),
}
