"""Text to plain values and back: YAML and JSON, strictly, with the place of everything in the text.

YAML is composed to nodes, and the nodes are read here: `17:00`, `NO`, dates and zip codes stay text, duplicate keys,
aliases and tags are refused. JSON takes a quick way and falls back to this one when anything is odd.
"""

import contextlib
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from chargehand.domain.diagnostics import Diagnostic, Path, finding, show_path

# ruamel.yaml has few types; what it gives is read node by node below.
# pyright: reportUnknownMemberType=false

MAX_CHARACTERS = 4_000_000  # the largest sensible plan (5,000 steps) has about 1,000,000
MAX_DEPTH = 60  # levels of nested values: far more than a person can follow, few enough for any stack
MAX_INTEGER = 2**63 - 1  # what expressions and most databases can hold


class Unreadable(Exception):
    """The text or value cannot be read; `diagnostics` says where and why."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(map(str, diagnostics)))
        self.diagnostics = diagnostics


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value begins in the text, and where its key does; lines and columns count from 0."""

    line: int
    column: int
    key_line: int
    key_column: int


def read(text: str) -> object:
    """The plain value of a YAML or JSON text; raises Unreadable."""
    _check_length(text)
    if text.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(text, object_pairs_hook=_unique, parse_constant=_not_json)
        except (ValueError, RecursionError):
            pass  # the YAML reader says what is wrong, and where
    return _Builder().build(_compose(text))


def places(text: str) -> Mapping[str, Place]:
    """The place of each value of a text by its path, as far as the text can be read."""
    builder = _Builder()
    with contextlib.suppress(Unreadable):
        _check_length(text)
        builder.build(_compose(text))
    return builder.places


def vet(value: object) -> list[Diagnostic]:
    """What in a value no plan can hold: too deep, not finite, not text, not JSON."""
    found: list[Diagnostic] = []
    waiting: list[tuple[Path, object]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        if len(path) > MAX_DEPTH:
            return [
                finding(
                    "CH003",
                    path[:3],
                    f"values nest more than {MAX_DEPTH} levels deep",
                    hint="Let a tool read such values from a file or a database.",
                )
            ]
        match item:
            case Mapping():
                for key, inner in cast(Mapping[object, object], item).items():
                    if isinstance(key, str) and not _odd_text(key):
                        waiting.append(((*path, key), inner))
                    else:
                        found.append(finding("CH004", path, f"the key {key!r:.40} is not plain text"))
            case list() | tuple():
                waiting += [((*path, number), inner) for number, inner in enumerate(cast(Sequence[object], item))]
            case _:
                problem = _odd_value(item)
                if problem:
                    found.append(finding("CH004", path, problem, hint="Use text, finite numbers, lists and maps."))
    return sorted(found, key=lambda diagnostic: diagnostic.path)


def _odd_value(value: object) -> str:
    match value:
        case None | bool():
            return ""
        case int():
            return "" if -MAX_INTEGER - 1 <= value <= MAX_INTEGER else "the number does not fit into 64 bits"
        case float():
            return "" if math.isfinite(value) else f"{value} is not a number that a plan can hold"
        case str():
            return _odd_text(value)
        case _:
            return f"a {type(value).__name__} cannot be part of a plan"


_ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def _odd_text(text: str) -> str:
    match = _ODD.search(text)
    if not match:
        return ""
    kind = "half a surrogate pair" if match.group() >= "\ud800" else "a control character"
    return f"the text holds {kind} (U+{ord(match.group()):04X})"


def _check_length(text: str) -> None:
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(
            finding(
                "CH003",
                (),
                f"the text has {len(text):,} characters; at the most {MAX_CHARACTERS:,} are allowed",
                hint="Keep large values in files or a database, and let a tool read them.",
            )
        )


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("duplicate key")
    return values


def _not_json(constant: str) -> NoReturn:
    raise ValueError(constant)


def to_yaml(value: object) -> str:
    """Plain values as YAML that reads back the same: references on one line, long text as a block."""
    from ruamel.yaml import YAML
    from ruamel.yaml.representer import SafeRepresenter

    class Representer(SafeRepresenter):
        def represent_dict(self, data: Any) -> Any:
            pairs = list(data.items())  # pairs keep their order; a mapping would be sorted
            return self.represent_mapping("tag:yaml.org,2002:map", pairs, flow_style=list(data) == ["$"])

        def represent_str(self, data: Any) -> Any:
            style = "|" if "\n" in data.strip() and not _needs_quotes(data) else None
            if _scalar(data) != data:
                style = "'"  # `NaN` and the like, which only this reader takes for numbers
            return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)

    Representer.add_representer(dict, Representer.represent_dict)
    Representer.add_representer(str, Representer.represent_str)
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = Representer
    yaml.default_flow_style = False
    yaml.width = 110
    yaml.indent(mapping=2, sequence=4, offset=2)
    out = io.StringIO()
    yaml.dump(value, out)
    return out.getvalue().removesuffix("...\n")


def _needs_quotes(text: str) -> bool:
    """Whether a block would change the text: odd line ends, trailing or leading blanks."""
    return any(mark in text for mark in "\r\t\x85\u2028\u2029\ufeff") or any(
        line != line.strip() for line in text.split("\n")
    )


# --- YAML ------------------------------------------------------------------------------------------------------


def _compose(text: str) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    odd = _ODD.search(text)
    if odd:
        line = text.count("\n", 0, odd.start()) + 1
        raise Unreadable(finding("CH004", (), f"{_odd_text(odd.group())}, in line {line}", offset=odd.start()))
    if _depth(text) > MAX_DEPTH * 4:
        raise Unreadable(_too_deep(()))
    try:
        return YAML(typ="safe", pure=False).compose(text)  # pyright: ignore
    except MarkedYAMLError as error:
        details = cast(Any, error)
        mark = details.problem_mark or details.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = f"{where}{details.problem or details.context}"
        raise Unreadable(
            finding("CH001", (), problem, hint=_syntax_hint(text, mark, problem), offset=_offset(text, mark))
        ) from None
    except (YAMLError, RecursionError) as error:
        raise Unreadable(finding("CH001", (), str(error).strip().splitlines()[0])) from None


def _offset(text: str, mark: Any) -> int | None:
    if not mark:
        return None
    before = text.split("\n")[: mark.line]
    return min(sum(len(line) + 1 for line in before) + mark.column, len(text))


def _depth(text: str) -> int:
    """No less than the depth at which the text nests brackets or dashes; the composer recurses on a C stack."""
    depth = most = 0
    for match in re.finditer(r"[\[{]|[\]}]|(?m:^[ ]*(?:- +)+)", text):
        token = match.group()
        if token in "[{":
            depth += 1
        elif token in "]}":
            depth = max(depth - 1, 0)
        else:
            most = max(most, token.count("-"))
        most = max(most, depth)
    return most


def _too_deep(path: Path) -> Diagnostic:
    return finding(
        "CH003",
        path,
        f"values nest more than {MAX_DEPTH} levels deep",
        hint="Let a tool read such values from a file or a database.",
    )


def _syntax_hint(text: str, mark: Any, problem: str) -> str:
    lines: list[str] = text.split("\n")
    number: int = mark.line if mark else 0
    line = lines[number] if number < len(lines) else ""
    if re.search(r"[{,].*[^'\"0-9]\d\d?:\d\d\b", line):
        return 'Put times in quotes inside of braces: {at: "17:00"}.'
    if "{$:" in line:
        return 'Put the expression in quotes where it holds brackets, commas, colons or quotes: {$: "a[0]"}.'
    if "\t" in line:
        return "YAML is indented with spaces, not tabs."
    if "mapping values" in problem:
        return "Put text that holds a colon in quotes."
    if number >= len(lines) - 1:
        return "A quote or a bracket may not be closed."
    return ""


_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", re.ASCII)
_NULL_OR_TRUTH = {"null": None, "true": True, "false": False}
_WORDS: dict[str, object] = {
    "": None,
    "~": None,
    **_NULL_OR_TRUTH,
    **{word.title(): value for word, value in _NULL_OR_TRUTH.items()},
    **dict.fromkeys((".nan", ".NaN", "NaN"), math.nan),
    **{sign + word: float(f"{sign}inf") for word in (".inf", "Infinity") for sign in ("", "-")},
}
_KNOWN_TAGS = {f"tag:yaml.org,2002:{name}" for name in "str int float bool null map seq timestamp value merge".split()}


class _Builder:
    """Nodes to plain values, remembering where each stood."""

    def __init__(self) -> None:
        self.places: dict[str, Place] = {}
        self._seen: set[int] = set()

    def build(self, node: Any, path: Path = (), key: Any = None) -> object:
        if node is None:
            raise Unreadable(finding("CH001", (), "the text is empty", hint="A plan begins with `steps:`."))
        begin = (key or node).start_mark
        self.places[show_path(path)] = Place(node.start_mark.line, node.start_mark.column, begin.line, begin.column)
        self._vet(node, path)
        match type(node).__name__:
            case "MappingNode":
                return dict(self._entries(node, path))
            case "SequenceNode":
                return [self.build(item, (*path, number)) for number, item in enumerate(node.value)]
            case _:
                return node.value if node.style else _scalar(node.value)

    def _entries(self, node: Any, path: Path) -> Iterator[tuple[str, object]]:
        seen: set[str] = set()
        for key, value in node.value:
            name = key.value
            if not isinstance(name, str):
                raise Unreadable(finding("CH004", path, "a key is not plain text"))
            if name in seen:
                mark = key.start_mark
                self.places[show_path((*path, name))] = Place(mark.line, mark.column, mark.line, mark.column)
                line = key.start_mark.line + 1
                hint = "Remove one of the two."
                raise Unreadable(
                    finding("CH002", (*path, name), f"the key {name!r} is given twice (line {line})", hint=hint)
                )
            seen.add(name)
            yield name, self.build(value, (*path, name), key)

    def _vet(self, node: Any, path: Path) -> None:
        if len(path) > MAX_DEPTH:
            raise Unreadable(_too_deep(path[:3]))
        if id(node) in self._seen:
            raise Unreadable(
                finding("CH004", path, "YAML aliases are not part of the plan language", hint="Write it out.")
            )
        self._seen.add(id(node))
        if node.tag not in _KNOWN_TAGS:
            raise Unreadable(finding("CH004", path, f"the YAML tag {node.tag!r} is not part of the plan language"))


def _scalar(text: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) < 4000 else math.inf
    if _DECIMAL.fullmatch(text):
        return float(text)
    return text
