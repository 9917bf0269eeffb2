"""The syntax tree of an expression: what it refers to, and how to write it down again."""

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Constant:
    value: object
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    name: str
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`, or `has(operand.field)` when it only tests."""

    operand: "Node"
    field: str
    tests: bool = False
    offset: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function, a method (with a target) or an operator (`_+_`)."""

    function: str
    target: "Node | None"
    args: "tuple[Node, ...]"
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ListOf:
    items: "tuple[Node, ...]"
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class MapOf:
    entries: "tuple[tuple[Node, Node], ...]"
    message: str = ""
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Loop:
    """A macro such as `list.map(x, …)`, in the form that is run: a fold over a list or the keys of a map."""

    variables: tuple[str, ...]
    over: "Node"
    total: str
    start: "Node"
    goes_on: "Node"
    each: "Node"
    result: "Node"
    offset: int = field(default=0, compare=False)


Node = Constant | Name | Select | Call | ListOf | MapOf | Loop


def children(node: Node) -> tuple[Node, ...]:
    match node:
        case Constant() | Name():
            return ()
        case Select(operand=operand):
            return (operand,)
        case Call(target=target, args=args):
            return args if target is None else (target, *args)
        case ListOf(items=items):
            return items
        case MapOf(entries=entries):
            return tuple(part for entry in entries for part in entry)
        case Loop():
            return (node.over, node.start, node.goes_on, node.each, node.result)


def walk(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))


def free_names(node: Node) -> Iterator[Name]:
    """Every name that the expression takes from outside: those that loops bind are left out."""
    waiting: list[tuple[Node, frozenset[str]]] = [(node, frozenset())]
    while waiting:
        node, bound = waiting.pop()
        match node:
            case Name(name=name):
                if name not in bound:
                    yield node
            case Loop():
                inner = bound | {node.total, *node.variables}
                waiting += [(node.over, bound), (node.start, bound)]
                waiting += [(node.goes_on, inner), (node.each, inner), (node.result, bound | {node.total})]
            case _:
                waiting += [(child, bound) for child in children(node)]


def path_of(node: Node) -> tuple[str | int, ...] | None:
    """`find.flights[0].id` as `("find", "flights", 0, "id")`; None for anything that is not only a path."""
    steps: list[str | int] = []
    while True:
        match node:
            case Name(name=name):
                return (name, *reversed(steps))
            case Select(operand=operand, field=name, tests=False):
                steps.append(name)
                node = operand
            case Call(function="_[_]", args=(operand, Constant(value=key))) if isinstance(key, str | int):
                steps.append(key)
                node = operand
            case _:
                return None


# How tightly an operator binds; CEL's own order.
_LEVELS = (("||",), ("&&",), ("<", "<=", ">=", ">", "==", "!="), ("+", "-"), ("*", "/", "%"))
_BINARY = {f"_{operator}_": (operator, level) for level, same in enumerate(_LEVELS, 1) for operator in same} | {
    "@in": ("in", 3)
}
_UNARY = {"!_": "!", "-_": "-"}
_TERNARY, _POSTFIX = 0, 7


def write(node: Node, within: int = 0) -> str:
    """The expression as text, with no more brackets than it needs."""
    match node:
        case Constant(value=value):
            return _write_constant(value)
        case Name(name=name):
            return name
        case Select(operand=operand, field=name, tests=tests):
            text = f"{write(operand, _POSTFIX)}.{name}"
            return f"has({text})" if tests else text
        case Call():
            text, binds = _write_call(node)
            return f"({text})" if binds < within else text
        case ListOf(items=items):
            return f"[{', '.join(write(item) for item in items)}]"
        case MapOf(entries=entries, message=message):
            return f"{message}{{{', '.join(f'{write(key)}: {write(value)}' for key, value in entries)}}}"
        case Loop():
            return _write_loop(node)


def _write_call(call: Call) -> tuple[str, int]:
    match call:
        case Call(function="_?_:_", args=(condition, yes, no)):
            return f"{write(condition, 1)} ? {write(yes, 1)} : {write(no)}", _TERNARY
        case Call(function="_[_]", args=(operand, key)):
            return f"{write(operand, _POSTFIX)}[{write(key)}]", _POSTFIX
        case Call(function="_[?_]", args=(operand, key)):
            return f"{write(operand, _POSTFIX)}[?{write(key)}]", _POSTFIX
        case Call(function="_?._", args=(operand, Constant(value=name))):
            return f"{write(operand, _POSTFIX)}.?{name}", _POSTFIX
        case Call(function=function, args=(left, right)) if function in _BINARY:
            operator, binds = _BINARY[function]
            return f"{write(left, binds)} {operator} {write(right, binds + 1)}", binds
        case Call(function=function, args=(operand,)) if function in _UNARY:
            return f"{_UNARY[function]}{write(operand, _POSTFIX - 1)}", _POSTFIX - 1
        case _:
            head = f"{write(call.target, _POSTFIX)}." if call.target is not None else ""
            function = _EXPANDED.get(call.function, call.function)
            args = call.args
            if function != call.function and len(args) == 1 and isinstance(args[0], ListOf):
                args = args[0].items  # more than two arguments are passed as one list
            return f"{head}{function}({', '.join(write(arg) for arg in args)})", _POSTFIX


def _write_loop(loop: Loop) -> str:
    """The macro that a loop was written as; the library keeps only what it expands to."""
    match loop:
        case Loop(each=Call(function="_?_:_", args=(test, Call(args=(_, ListOf(items=(item,)))), _))):
            same = item == Name(loop.variables[0])
            macro, args = ("filter", [test]) if same else ("map", [test, item])
        case Loop(each=Call(function="_+_", args=(_, ListOf(items=(item,))))):
            macro, args = "map", [item]
        case Loop(each=Call(function="_&&_", args=(_, test))):
            macro, args = "all", [test]
        case Loop(each=Call(function="_||_", args=(_, test))):
            macro, args = "exists", [test]
        case Loop(each=Call(function="_?_:_", args=(test, *_)), start=Constant(value=0)):
            macro, args = "exists_one", [test]
        case _:
            macro, args = "…", []
    written = ", ".join([*loop.variables, *(write(arg) for arg in args)])
    return f"{write(loop.over, _POSTFIX)}.{macro}({written})"


_EXPANDED = {"math.@max": "math.greatest", "math.@min": "math.least"}


def _write_constant(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            quoted = json.dumps(value, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'")
            return f"'{quoted}'"
        case bytes():
            return f"b{json.dumps(value.decode('latin-1'))}"
        case _:
            return repr(value)
