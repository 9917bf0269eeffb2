"""The engine against its floor, the bare loop, and against its peers."""

from bench import graphs
from bench.contest import Contest
from bench.effort import Effort
from bench.rows import Bar, Bars, Part, Row, Tone, figure
from bench.timing import Absent, Sample, Took, compare, interleave, milliseconds

STEPS = 100  # of the chains and the fan-out
SHORT = 10  # steps of each of many runs

OURS, LANGGRAPH, DBOS, BARE = "Chargehand", "LangGraph", "DBOS", "the bare loop"


def chain(contest: Contest, effort: Effort) -> Part:
    found = interleave(
        effort.rounds,
        {
            OURS: contest.takes("ours", "chain", steps=STEPS),
            "checked": contest.takes("ours", "chain", steps=STEPS, check=True),
            BARE: contest.takes("bare", "chain", steps=STEPS),
            "sync": contest.takes("langgraph", "chain", steps=STEPS, durability="sync"),
            "async": contest.takes("langgraph", "chain", steps=STEPS, durability="async"),
            "none": contest.takes("langgraph", "chain", steps=STEPS, durability=None),
            DBOS: contest.takes("dbos", "chain", steps=STEPS),
        },
    )
    step = {name: sample.each(STEPS) for name, sample in found.items()}
    ours, bare = step[OURS], step[BARE]
    rows = [
        _behind("LangGraph, durable (`sync`)", step["sync"], ours, budget=20),
        _ahead("LangGraph without a checkpointer", ours, step["none"], budget=1),
        _behind("LangGraph, durable (`async`)", step["async"], ours),
        _behind(DBOS, step[DBOS], ours),
        _ahead(BARE, ours, bare),
        compare("`desk.run`, with the check / the engine alone", step["checked"], ours,
                figures=f"{milliseconds(step['checked'])} a step, {milliseconds(ours)}"),
    ]  # fmt: skip
    bars = {
        OURS: ours,
        BARE: bare,
        "LangGraph, no checkpointer": step["none"],
        "LangGraph, async": step["async"],
        "LangGraph, sync": step["sync"],
        DBOS: step[DBOS],
    }
    return Part(f"Durable chain of {STEPS} reads", rows, _bars("Chain of reads", bars))


def fan(contest: Contest, effort: Effort) -> Part:
    found = interleave(
        effort.rounds,
        {
            OURS: contest.takes("ours", "fan", steps=STEPS),
            BARE: contest.takes("bare", "fan", steps=STEPS),
            "sync": contest.takes("langgraph", "fan", steps=STEPS, durability="sync"),
            DBOS: contest.takes("dbos", "fan", steps=STEPS),
        },
    )
    step = {name: sample.each(STEPS) for name, sample in found.items()}
    rows = [
        _behind("LangGraph, durable (`sync`)", step["sync"], step[OURS], budget=20),
        _behind(DBOS, step[DBOS], step[OURS]),
        _ahead(BARE, step[OURS], step[BARE]),
    ]
    bars = {OURS: step[OURS], BARE: step[BARE], "LangGraph, sync": step["sync"], DBOS: step[DBOS]}
    return Part(f"Durable fan-out of {STEPS} reads", rows, _bars("Fan-out of reads", bars))


def effects(contest: Contest, effort: Effort) -> Part:
    """The peers have no effects of their own kind: their durable step, which waits for the disk, is what compares."""
    found = interleave(
        effort.rounds,
        {
            OURS: contest.takes("ours", "chain", steps=STEPS, effects=True),
            BARE: contest.takes("bare", "chain", steps=STEPS, effects=True),
            "LangGraph, sync": contest.takes("langgraph", "chain", steps=STEPS, durability="sync"),
            DBOS: contest.takes("dbos", "chain", steps=STEPS),
        },
    )
    step = {name: sample.each(STEPS) for name, sample in found.items()}
    rows = [
        _ahead(f"{BARE}, which waits for the disk too", step[OURS], step[BARE], budget=1.5),
        _behind("LangGraph, durable (`sync`)", step["LangGraph, sync"], step[OURS]),
        _behind(DBOS, step[DBOS], step[OURS]),
    ]
    return Part(f"Chain of {STEPS} effects, each intent on disk first", rows, _bars("Chain of effects", step))


def makespan(contest: Contest, effort: Effort) -> Part:
    """Timed plans: the longest way through is the floor, and the bare loop shows what of it can be reached here."""
    rows: list[Row] = []
    for seed in range(1, effort.graphs + 1):
        graph = graphs.timed(seed)
        found = interleave(
            effort.few,
            {OURS: contest.takes("ours", "plan", seed=seed), BARE: contest.takes("bare", "plan", seed=seed)},
        )
        shortest = Sample([Took(graph.critical_path)] * effort.few)
        what = f"{len(graph.needs)} steps, up to {graphs.WIDEST} wide: {OURS} / critical path"
        figures = f"{figure(graph.critical_path, 3)} s"
        if not found[BARE].absent:
            figures += f"; the bare loop {figure(found[BARE].median / graph.critical_path, 4)}×"
        rows.append(compare(what, found[OURS], shortest, budget=1.02, digits=5, figures=figures))
    return Part("Makespan of timed plans", rows)


def runs(contest: Contest, effort: Effort) -> Part:
    many = {"runs": effort.runs, "steps": SHORT}
    found = interleave(
        effort.few,
        {
            OURS: contest.takes("ours", "many", **many),
            "checked": contest.takes("ours", "many", **many, check=True),
            BARE: contest.takes("bare", "many", **many),
            LANGGRAPH: contest.takes("langgraph", "many", **many, durability="async"),
            DBOS: contest.takes("dbos", "many", **many),
        },
    )
    steps = effort.runs * SHORT

    def row(one: str, other: str, budget: float | None = None) -> Row:
        """How many times the rate: the times, turned round."""
        figures = f"{_rate(found[one], steps)}, {_rate(found[other], steps)}"
        what = "`desk.run`, with the check" if one == "checked" else one
        return compare(f"{what} / {other}: steps a second", found[other], found[one], budget=budget, at_least=True,
                       figures=figures)  # fmt: skip

    rows = [row(OURS, DBOS, 20), row(OURS, LANGGRAPH, 20), row(BARE, OURS), row("checked", OURS)]
    bars = [
        Bar(name, steps / found[name].median, _tone(name))
        for name in (OURS, BARE, LANGGRAPH, DBOS)
        if not found[name].absent
    ]
    title = f"{effort.runs:,} runs of {SHORT} steps at once"
    return Part(title, rows, Bars(title, bars))


def resume(contest: Contest, effort: Effort) -> Part:
    """State is a fold of the events: coming back should cost little more than reading them."""
    shown, resumed = "`desk.show` / reading the rows", "`desk.resume`, until it waits again / reading the rows"
    try:
        events = contest.ask("ours", "prepare")["events"]
    except Absent as reason:
        absent = str(reason)
        return Part(
            "Resuming a run of 10,000 events", [Row(what=one, budget=3, absent=absent) for one in (shown, resumed)]
        )
    found = interleave(effort.rounds, {name: contest.takes("ours", name) for name in ("rows", "show", "resume")})
    rows = [
        compare(
            what,
            found[name],
            found["rows"],
            budget=3,
            figures=f"{milliseconds(found[name])}, {milliseconds(found['rows'])}",
        )
        for what, name in ((shown, "show"), (resumed, "resume"))
    ]
    return Part(f"Resuming a run of {figure(events)} events", rows)


def parked(contest: Contest, effort: Effort) -> Part:
    what = "Python's memory a run"
    contestant = contest.fresh("ours")
    try:
        found = contestant.ask("park", runs=effort.parked)
    except Absent as reason:
        rows = [Row(what=what, unit="bytes", budget=100, absent=str(reason))]
    else:
        resident = f"the process grew by {figure(max(found['resident'], 0))} bytes a run"
        rows = [Row(what=what, value=max(found["python"], 0), unit="bytes", budget=100, figures=resident)]
    finally:
        contestant.stop()
    return Part(f"{effort.parked:,} parked runs", rows)


def _behind(peer: str, theirs: Sample, ours: Sample, budget: float | None = None) -> Row:
    """How many times our time a peer takes: more is better."""
    figures = f"{milliseconds(theirs)} a step, {milliseconds(ours)}"
    return compare(f"{peer} / {OURS}", theirs, ours, budget=budget, at_least=True, figures=figures)


def _ahead(floor: str, ours: Sample, theirs: Sample, budget: float | None = None) -> Row:
    """How many times the time of something smaller we take: less is better."""
    figures = f"{milliseconds(ours)} a step, {milliseconds(theirs)}"
    return compare(f"{OURS} / {floor}", ours, theirs, budget=budget, figures=figures)


def _bars(title: str, samples: dict[str, Sample]) -> Bars:
    bars = [Bar(name, one.median * 1000, _tone(name)) for name, one in samples.items() if not one.absent]
    return Bars(title, bars)


def _tone(name: str) -> Tone:
    return "ours" if name == OURS else "other"


def _rate(sample: Sample, steps: int) -> str:
    return "—" if sample.absent else f"{figure(steps / sample.median)} steps/s"
