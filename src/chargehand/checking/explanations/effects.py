"""CH401 to CH406: effects and limits."""

from chargehand.checking.explanations.explanation import Explanation, explain

EFFECTS: dict[str, Explanation] = {
    "CH401": explain(
        """The step does something that cannot be taken back, and nothing checks what came of it. If the airline booked
        another flight, everything after it would go on as if all were well. Say in `expect` what must hold for the
        step to count as done.""",
        bad="""
            steps:
              - id: book
                use: book_flight
                with: {flight_id: HS123-BOSJFK-1120, passenger: Kim Ito}
        """,
        good="""
            steps:
              - id: book
                use: book_flight
                with: {flight_id: HS123-BOSJFK-1120, passenger: Kim Ito}
                expect: [output.flight_id == args.flight_id]
        """,
    ),
    "CH402": explain(
        """The plan promises all or nothing, but this step cannot be undone and others may still run after it. If one
        of those fails, you are left with half of the plan: here, a paid flight out and no seat on the way back. Let
        the irreversible step wait for all the others with `after`.""",
        bad="""
            all_or_nothing: true
            steps:
              - id: book
                use: book_flight
                with: {flight_id: HS123-BOSJFK-1120, passenger: Kim Ito}
                expect: [output.flight_id == args.flight_id]
              - id: hold_return
                use: hold_seat
                with: {flight_id: HS456-JFKBOS-1122, passenger: Kim Ito}
        """,
        good="""
            all_or_nothing: true
            steps:
              - id: book
                use: book_flight
                with: {flight_id: HS123-BOSJFK-1120, passenger: Kim Ito}
                expect: [output.flight_id == args.flight_id]
                after: [hold_return]
              - id: hold_return
                use: hold_seat
                with: {flight_id: HS456-JFKBOS-1122, passenger: Kim Ito}
        """,
    ),
    "CH403": explain(
        """The plan promises all or nothing, and this step writes with a tool that does not say how its effect is taken
        back. If a later step fails, this effect would stay. Use a tool that declares `undo`, declare one for this
        tool, or give up the promise.""",
        bad="""
            all_or_nothing: true
            steps:
              - id: give_back
                use: release_hold
                with: {hold_id: H17}
        """,
        good="""
            steps:
              - id: give_back
                use: release_hold
                with: {hold_id: H17}
        """,
    ),
    "CH404": explain(
        """Two steps have the same effect with the same arguments: the same seat held twice, the same ticket bought
        twice. Now and then that is meant, but mostly a step was copied and not changed. Change or remove one of
        them; if both are meant, the plan runs as it is.""",
        bad="""
            steps:
              - id: hold_out
                use: hold_seat
                with: {flight_id: HS123-BOSJFK-1120, passenger: Kim Ito}
              - id: hold_return
                use: hold_seat
                with: {flight_id: HS123-BOSJFK-1120, passenger: Kim Ito}
        """,
        good="""
            steps:
              - id: hold_out
                use: hold_seat
                with: {flight_id: HS123-BOSJFK-1120, passenger: Kim Ito}
              - id: hold_return
                use: hold_seat
                with: {flight_id: HS456-JFKBOS-1122, passenger: Kim Ito}
        """,
    ),
    "CH405": explain(
        """The limit of the step is lower than the price of a single call of its tool, so the step could only ever be
        refused. Raise the limit, or use a cheaper tool.""",
        bad="""
            steps:
              - id: find
                use: search_flights_aerolink
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
                limits: {usd: 0.005}
        """,
        good="""
            steps:
              - id: find
                use: search_flights_aerolink
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
                limits: {usd: 0.05}
        """,
    ),
    "CH406": explain(
        """`max_age` says how old, in seconds, a value may be when the step begins; what is older is read again first.
        So it goes with what a reading tool gave. An input or an effect cannot be read again, and a step over a list
        may be half done when the value becomes too old.""",
        bad="""
            inputs: {passenger: text}
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
              - id: hold
                use: hold_seat
                with: {flight_id: {$: "find.flights[0].id"}, passenger: {$: inputs.passenger, max_age: 300}}
        """,
        good="""
            inputs: {passenger: text}
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: 2026-11-20}
              - id: hold
                use: hold_seat
                with: {flight_id: {$: "find.flights[0].id", max_age: 300}, passenger: {$: inputs.passenger}}
        """,
    ),
}
