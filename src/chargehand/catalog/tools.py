"""Tools: typed functions with a declared effect."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, Literal, ParamSpec, TypeGuard, TypeVar, cast, get_args

from chargehand.catalog import fitting
from chargehand.catalog.rates import MAX_CALLS, Rate, read_rate
from chargehand.catalog.signatures import Signature, read_signature
from chargehand.errors import BadTool

Effect = Literal["read", "write", "irreversible"]
EFFECTS: tuple[str, ...] = get_args(Effect)  # from the mildest to the gravest

P = ParamSpec("P")
R = TypeVar("R")
Seconds = float | timedelta


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tool(Generic[P, R]):
    """A function that plans may use. Make one with `@tool(effect=…)`; calling it calls the function."""

    name: str
    function: Callable[P, R]
    signature: Signature
    effect: Effect
    idempotent: bool = False
    undo: "Tool[..., Any] | None" = None
    probe: "Tool[..., Any] | None" = None
    settles_within: float | None = None
    instead_of: tuple[str, ...] = ()
    control: tuple[str, ...] = ()
    timeout: float | None = None
    tries: int = 1
    cost: float = 0.0
    egress: tuple[str, ...] | None = None
    parallel: int | None = None
    rate: Rate | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    @property
    def description(self) -> str:
        return self.signature.description

    @property
    def open_egress(self) -> bool:
        """Whether it may send what it is given anywhere. Undeclared counts as open."""
        return self.egress is None or "*" in self.egress


AnyTool = Tool[..., Any]


def tool(
    function: None = None,
    /,
    *,
    effect: Effect | None = None,
    name: str | None = None,
    idempotent: bool = False,
    undo: AnyTool | None = None,
    probe: AnyTool | None = None,
    settles_within: Seconds | None = None,
    instead_of: "AnyTool | str | Sequence[AnyTool | str]" = (),
    control: str | Sequence[str] = (),
    timeout: Seconds | None = None,
    retry: int | None = None,
    cost: float = 0.0,
    egress: str | Sequence[str] | None = None,
    parallel: int | None = None,
    rate: str | None = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]:
    """Makes a tool of a typed function, sync or async.

        @tool(effect="read")
        async def search_flights(origin: str, destination: str, day: date) -> FlightList: ...

    effect: "read" changes nothing, "write" can be undone, "irreversible" cannot. idempotent: the same call twice
    does what one call does. undo: the tool that takes it back; its parameters are filled by name from the output,
    then from the arguments. probe: a reading tool that says whether a call happened: it gives the output, or None.
    settles_within: seconds after which the probe's "no" can be believed. instead_of: tools that this one can stand
    in for. control: parameters that say whom, where or how much. timeout: seconds for one call. retry: tries in
    all, for errors that pass by themselves. cost: US dollars a call. egress: the hosts that may learn what it is
    given; "*" for any, [] for none, and undeclared counts as any. parallel: the most calls at once, and rate:
    "60/minute", the most that begin in a while, across all runs of a process.
    """
    if function is not None:  # pyright: ignore[reportUnnecessaryComparison]: written without brackets
        raise BadTool("@tool needs its effect stated", hint='Write @tool(effect="read"), "write" or "irreversible".')

    given = _Given(
        effect, name, idempotent, undo, probe, settles_within, instead_of, control, timeout, retry, cost, egress,
        parallel, rate,
    )  # fmt: skip

    def declare(function: Callable[P, R]) -> Tool[P, R]:
        return _declare(function, given)

    return declare


@dataclass(frozen=True, slots=True)
class _Given:
    """What `tool` was given, in its order; not vetted yet, so it may be anything."""

    effect: object
    name: object
    idempotent: object
    undo: object
    probe: object
    settles_within: object
    instead_of: object
    control: object
    timeout: object
    retry: object
    cost: object
    egress: object
    parallel: object
    rate: object


def _declare(function: Callable[P, R], given: _Given) -> Tool[P, R]:
    label = _label(given.name, function)
    originals = _originals(label, given.instead_of)
    declared = Tool(
        name=label,
        function=function,
        signature=read_signature(label, function),
        effect=_effect(label, given.effect),
        idempotent=_truth(label, "idempotent", given.idempotent),
        undo=_tool(label, "undo", given.undo),
        probe=_tool(label, "probe", given.probe),
        settles_within=_seconds(label, "settles_within", given.settles_within),
        instead_of=tuple(_name_of(one) for one in originals),
        control=_words(label, "control", given.control),
        timeout=_seconds(label, "timeout", given.timeout),
        tries=_tries(label, given.retry, given.effect),
        cost=_cost(label, given.cost),
        egress=None if given.egress is None else _words(label, "egress", given.egress),
        parallel=_parallel(label, given.parallel),
        rate=_rate(label, given.rate),
    )
    _vet(declared, originals)
    return declared


# --- what makes a declaration sound ------------------------------------------------------------------------------


def _vet(tool: AnyTool, originals: "Sequence[AnyTool | str]") -> None:
    unknown = [name for name in tool.control if name not in tool.signature.parameters]
    if unknown:
        hint = f"Its parameters are {', '.join(tool.signature.parameters) or 'none'}."
        raise BadTool(f"tool {tool.name!r}: control names {unknown[0]!r}, which is not a parameter", hint=hint)
    if tool.effect == "read" and (tool.undo or tool.probe):
        raise BadTool(f"tool {tool.name!r} only reads, so it has no undo and no probe", hint="Remove them.")
    if tool.undo is not None:
        _vet_undo(tool, tool.undo)
    if tool.probe is not None:
        _vet_probe(tool, tool.probe)
    elif tool.settles_within is not None:
        hint = "It says when the probe's answer can be believed: give a probe, or remove it."
        raise BadTool(f"tool {tool.name!r} has settles_within without a probe", hint=hint)
    for original in originals:
        if isinstance(original, Tool):
            vet_stand_in(tool, original)


def _vet_undo(tool: AnyTool, undo: AnyTool) -> None:
    if tool.effect == "irreversible":
        hint = 'A tool that can be undone has effect="write".'
        raise BadTool(f"tool {tool.name!r} is irreversible and has an undo", hint=hint)
    if undo.effect == "read":
        raise BadTool(f"tool {tool.name!r}: its undo {undo.name!r} only reads, so it undoes nothing")
    problem = fitting.undo_problem(tool.signature, undo.signature)
    if problem:
        hint = "Each parameter of an undo takes the value of that name from the output, else from the arguments."
        raise BadTool(f"tool {tool.name!r}: its undo {undo.name!r} does not fit: {problem}", hint=hint)


def _vet_probe(tool: AnyTool, probe: AnyTool) -> None:
    if probe.effect != "read":
        raise BadTool(f"tool {tool.name!r}: its probe {probe.name!r} must only read", hint='Declare it effect="read".')
    problem = fitting.probe_problem(tool.signature, probe.signature)
    if problem:
        hint = "A probe takes arguments of the tool by name, and gives the tool's output, or None if nothing happened."
        raise BadTool(f"tool {tool.name!r}: its probe {probe.name!r} does not fit: {problem}", hint=hint)


def vet_stand_in(tool: AnyTool, original: AnyTool) -> None:
    """Raises BadTool if one tool could not stand in for another."""
    if EFFECTS.index(tool.effect) > EFFECTS.index(original.effect):
        hint = "A stand-in may not do graver things than what it replaces."
        raise BadTool(
            f"tool {tool.name!r} ({tool.effect}) cannot stand in for {original.name!r} ({original.effect})", hint=hint
        )
    problem = fitting.stand_in_problem(tool.signature, original.signature)
    if problem:
        hint = "A stand-in takes the same arguments and gives an output of the same shape."
        raise BadTool(f"tool {tool.name!r} cannot stand in for {original.name!r}: {problem}", hint=hint)


def _label(name: object, function: object) -> str:
    label = getattr(function, "__name__", None) or type(function).__name__ if name is None else name
    if not isinstance(label, str):
        raise BadTool(f"{label!r} is not a name for a tool", hint="Give text: @tool(name='search_flights', …).")
    return label


def _name_of(original: "AnyTool | str") -> str:
    return original.name if isinstance(original, Tool) else original


def _originals(name: str, value: object) -> "tuple[AnyTool | str, ...]":
    """The tools, or their names, that one stands in for: each once, and not itself."""
    given: object = [value] if isinstance(value, Tool | str) else value  # pyright: ignore[reportUnknownVariableType]
    several = cast(Sequence[object], given) if isinstance(given, Sequence) else [given]
    originals = tuple(cast("AnyTool | str", one) for one in several if isinstance(one, Tool | str))
    if len(originals) < len(several):
        hint = "Give a tool declared above, its name, or a list of them; a plain function needs @tool(…) first."
        raise BadTool(f"tool {name!r}: instead_of is {value!r:.80}", hint=hint)
    names = [_name_of(one) for one in originals]
    if name in names:
        raise BadTool(f"tool {name!r} stands in for itself", hint="Name another tool in instead_of.")
    twice = [one for number, one in enumerate(names) if one in names[:number]]
    if twice:
        raise BadTool(f"tool {name!r}: instead_of names {twice[0]!r} twice", hint="Name it once.")
    return originals


def _truth(name: str, what: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise BadTool(f"tool {name!r}: {what} is {value!r}", hint="Give True or False.")
    return value


def _effect(name: str, effect: object) -> Effect:
    if effect not in EFFECTS:
        what = "needs its effect stated" if effect is None else f"has the unknown effect {effect!r}"
        hint = 'Write @tool(effect="read") if it changes nothing, "write" if it can be undone, else "irreversible".'
        raise BadTool(f"tool {name!r} {what}", hint=hint)
    return effect  # pyright: ignore[reportReturnType]


def _seconds(name: str, what: str, value: object) -> float | None:
    if value is None:
        return None
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    if not _is_number(seconds) or not 0 < seconds < float("inf"):
        raise BadTool(f"tool {name!r}: {what} is {value!r}", hint="Give seconds greater than 0, or a timedelta.")
    return float(seconds)


def _tries(name: str, retry: object, effect: object) -> int:
    if retry is None:
        return 3 if effect == "read" else 1
    if isinstance(retry, bool) or not isinstance(retry, int) or not 1 <= retry <= 20:
        raise BadTool(f"tool {name!r}: retry is {retry!r}", hint="Give the number of tries in all, from 1 to 20.")
    return retry


def _cost(name: str, cost: object) -> float:
    if not _is_number(cost) or not 0 <= cost < float("inf"):
        raise BadTool(f"tool {name!r}: cost is {cost!r}", hint="Give US dollars a call, 0 or more.")
    return float(cost)


def _parallel(name: str, parallel: object) -> int | None:
    if parallel is not None and (isinstance(parallel, bool) or not isinstance(parallel, int) or parallel < 1):
        raise BadTool(f"tool {name!r}: parallel is {parallel!r}", hint="Give the most calls at once, 1 or more.")
    return parallel


def _rate(name: str, rate: object) -> Rate | None:
    if rate is None:
        return None
    read = read_rate(rate) if isinstance(rate, str) else None
    if read is None:
        hint = f'Give calls in a while, as in "60/minute": from 1 to {MAX_CALLS:,} in a second, minute or hour.'
        raise BadTool(f"tool {name!r}: rate is {rate!r:.80}", hint=hint)
    return read


def _words(name: str, what: str, value: object) -> tuple[str, ...]:
    words = (value,) if isinstance(value, str) else value
    if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in cast(Sequence[object], words)):
        raise BadTool(f"tool {name!r}: {what} is {value!r}", hint="Give text, or a list of texts.")
    return tuple(cast(Sequence[str], words))


def _tool(name: str, what: str, value: object) -> AnyTool | None:
    if value is not None and not isinstance(value, Tool):
        hint = "Give the tool itself, declared above: @tool(…) def cancel(…)."
        raise BadTool(f"tool {name!r}: {what} is {value!r}, which is not a tool", hint=hint)
    return cast("AnyTool | None", value)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
