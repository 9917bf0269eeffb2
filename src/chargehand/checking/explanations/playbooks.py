"""CH601 to CH605: playbooks. The examples stand beside the playbooks of the travel world."""

from chargehand.checking.explanations.explanation import Explanation, explain

PLAYBOOKS: dict[str, Explanation] = {
    "CH601": explain(
        """A goal pattern is text with `{captures}`: each is the name of a declared input, and there are words between
        them. This one captures something that is no input, or cannot be told apart, so what the user said would be
        lost. Declare the input, or change the pattern.""",
        bad="""
            name: airports-nearby
            answers: ["Which airports are near {town}"]
            inputs: {city: text}
            steps:
              - id: near
                use: nearby_airports
                with: {airport: {$: inputs.city}}
        """,
        good="""
            name: airports-nearby
            answers: ["Which airports are near {city}"]
            inputs: {city: text}
            steps:
              - id: near
                use: nearby_airports
                with: {airport: {$: inputs.city}}
        """,
        kind="playbook",
    ),
    "CH602": explain(
        """Another playbook has the same pattern (the names of the captures do not count), so a goal in these words
        could be planned by either, and Chargehand does not toss a coin. Let one of them answer it, or tell the two
        apart by a word.""",
        bad="""
            name: flights-in-time
            answers: ["Book me the cheapest flight that arrives before {moment}"]
            inputs: {moment: moment}
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: {$: "inputs.moment.substring(0, 10)"}}
        """,
        good="""
            name: flights-in-time
            answers: ["Show me the flights on the day of {moment}"]
            inputs: {moment: moment}
            steps:
              - id: find
                use: search_flights
                with: {origin: BOS, destination: JFK, day: {$: "inputs.moment.substring(0, 10)"}}
        """,
        kind="playbook",
    ),
    "CH603": explain(
        """An input has a name that expressions cannot use, or a default that it would itself refuse. Whoever leaves
        the input out would then get a plan that fails. Rename the input, or give a default that fits its type and
        choices.""",
        bad="""
            name: airports-nearby
            answers: ["Which airports are near {city}"]
            inputs: {city: {type: text, choices: [BOS, JFK], default: Boston}}
            steps:
              - id: near
                use: nearby_airports
                with: {airport: {$: inputs.city}}
        """,
        good="""
            name: airports-nearby
            answers: ["Which airports are near {city}"]
            inputs: {city: {type: text, choices: [BOS, JFK], default: BOS}}
            steps:
              - id: near
                use: nearby_airports
                with: {airport: {$: inputs.city}}
        """,
        kind="playbook",
    ),
    "CH604": explain(
        """A revision drops, replaces or waits for a step that the plan does not have at that point, or adds one that is
        already there. The way around a failure would fail itself, just when it is needed. Name steps of the plan as
        the revisions before this one have left it.""",
        bad="""
            name: airports-nearby
            answers: [Which airports are near Bedford]
            steps:
              - id: near
                use: nearby_airports
                with: {airport: Bedford}
            revisions:
              - when: failure.step == 'nearby'
                because: There is no airport in Bedford, so Boston is taken.
                patch: {replace: [{id: near, use: nearby_airports, with: {airport: BOS}}]}
        """,
        good="""
            name: airports-nearby
            answers: [Which airports are near Bedford]
            steps:
              - id: near
                use: nearby_airports
                with: {airport: Bedford}
            revisions:
              - when: failure.step == 'near'
                because: There is no airport in Bedford, so Boston is taken.
                patch: {replace: [{id: near, use: nearby_airports, with: {airport: BOS}}]}
        """,
        kind="playbook",
    ),
    "CH605": explain(
        """Two playbooks have the same name, so nobody could say afterwards which of them planned a run. Rename one of
        them.""",
        bad="""
            name: cheapest-flight
            answers: [Which airports are near Boston]
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
        """,
        good="""
            name: airports-nearby
            answers: [Which airports are near Boston]
            steps:
              - id: near
                use: nearby_airports
                with: {airport: BOS}
        """,
        kind="playbook",
    ),
    "CH606": explain(
        """A playbook pursues a goal that it answers itself, perhaps through others, and nothing on the way can end it.
        It would make plans within plans until a limit stops it. Pursue another goal, or give the step a `when` under
        which the chain ends.""",
        bad="""
            name: rest
            answers: ["Wait {days} days"]
            inputs: {days: integer}
            steps:
              - id: wait
                goal: Wait 3 days
        """,
        good="""
            name: rest
            answers: ["Wait {days} days"]
            inputs: {days: integer}
            steps:
              - id: wait
                goal: Wait 3 days
                when: inputs.days > 3
        """,
        kind="playbook",
    ),
}
