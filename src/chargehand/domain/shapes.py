"""Shapes: what a JSON Schema says about a value, in a form that can be walked and compared."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

Schema = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Anything:
    pass


@dataclass(frozen=True, slots=True)
class Text:
    format: str | None = None
    options: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    pass


@dataclass(frozen=True, slots=True)
class Number:
    pass


@dataclass(frozen=True, slots=True)
class Truth:
    pass


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


@dataclass(frozen=True, slots=True)
class Many:
    item: "Shape"


@dataclass(frozen=True, slots=True)
class Table:
    """A map from text to values of one shape."""

    value: "Shape"


@dataclass(slots=True, eq=False)
class Record:
    """An object with named fields. Compared by identity: a record may contain itself."""

    name: str
    fields: "dict[str, Shape]" = field(default_factory=dict[str, "Shape"], repr=False)
    required: frozenset[str] = frozenset()
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Either:
    options: "tuple[Shape, ...]"


Shape = Anything | Text | Whole | Number | Truth | Nothing | Many | Table | Record | Either

ANYTHING = Anything()


# --- from JSON Schema ------------------------------------------------------------------------------------------


def shape_of(schema: object) -> Shape:
    """The shape that a JSON Schema describes; Anything where it says more than shapes can."""
    if not isinstance(schema, Mapping):
        return ANYTHING
    root = cast(Schema, schema)
    return _Reading(cast(Mapping[str, object], root.get("$defs") or root.get("definitions") or {})).read(root)


# What a schema may say beside what counts here.
_REMARKS = frozenset(
    "title description default examples deprecated readOnly writeOnly $defs definitions $schema".split()
)


class _Reading:
    def __init__(self, definitions: Mapping[str, object]) -> None:
        self._definitions = definitions
        self._known: dict[str, Shape] = {}

    def read(self, schema: object, name: str = "") -> Shape:
        if not isinstance(schema, Mapping):
            return ANYTHING
        schema = cast(Schema, schema)
        says = schema.keys() - _REMARKS
        reference = schema.get("$ref")
        if isinstance(reference, str):
            home, _, name = reference.rpartition("/")
            return self._referred(name) if says == {"$ref"} and home in ("#/$defs", "#/definitions") else ANYTHING
        for key in ("anyOf", "oneOf", "allOf"):
            options = schema.get(key)
            if isinstance(options, list):
                choices = cast(list[object], options)
                alone = says <= {key, "discriminator"} and (key != "allOf" or len(choices) == 1)
                return either(self.read(option) for option in choices) if alone else ANYTHING
        if ("const" in schema or "enum" in schema) and schema.get("type") != "number":
            return _one_of(cast(list[object], schema.get("enum", [schema.get("const")])))
        if "patternProperties" in schema:
            return Table(ANYTHING)
        kind = schema.get("type")
        if isinstance(kind, list):
            return either(self.read({**schema, "type": one}) for one in cast(list[object], kind))
        shape = self._typed(kind, schema, name)
        return either([shape, Nothing()]) if schema.get("nullable") is True else shape

    def _typed(self, kind: object, schema: Schema, name: str) -> Shape:
        match kind:
            case "string":
                format = schema.get("format")
                return Text(format if isinstance(format, str) else None)
            case "integer":
                return Whole()
            case "number":
                return Number()
            case "boolean":
                return Truth()
            case "null":
                return Nothing()
            case "array":
                return Many(self.read(schema.get("items")) if "prefixItems" not in schema else ANYTHING)
            case "object":
                return self._object(schema, name)
            case _:
                return self._object(schema, name) if "properties" in schema else ANYTHING

    def _object(self, schema: Schema, name: str) -> Shape:
        properties = cast(Mapping[str, object], schema.get("properties") or {})
        more = schema.get("additionalProperties")
        if not properties:
            return Table(self.read(cast(object, more)) if isinstance(more, Mapping) else ANYTHING)
        if more is True or isinstance(more, Mapping):
            return Table(ANYTHING)  # an open object: its declared fields are not all that it has
        title = schema.get("title")
        record = Record(title if isinstance(title, str) else name or "record", closed=more is False)
        if name:
            self._known[name] = record
        for key, inner in properties.items():
            record.fields[key] = self.read(inner)
        record.required = frozenset(cast(list[str], schema.get("required") or []))
        return record

    def _referred(self, name: str) -> Shape:
        if name not in self._known:
            self._known[name] = ANYTHING  # a definition that only refers to itself says nothing
            self._known[name] = self.read(self._definitions.get(name), name)
        return self._known[name]


def _one_of(values: list[object]) -> Shape:
    if values and all(isinstance(value, str) for value in values):
        return Text(options=frozenset(cast(list[str], values)))
    kinds: dict[type, Shape] = {bool: Truth(), int: Whole(), float: Number(), str: Text(), type(None): Nothing()}
    return either(kinds.get(type(value), ANYTHING) for value in values)


def either(options: Iterable[Shape]) -> Shape:
    """One of several shapes, without repeats; a single one is itself."""
    flat: list[Shape] = []
    for option in options:
        for inner in option.options if isinstance(option, Either) else (option,):
            if inner not in flat:
                flat.append(inner)
    if not flat or any(isinstance(option, Anything) for option in flat):
        return ANYTHING
    return flat[0] if len(flat) == 1 else Either(tuple(flat))


def without_null(shape: Shape) -> Shape:
    if not isinstance(shape, Either):
        return shape
    return either(option for option in shape.options if not isinstance(option, Nothing))


def may_be_null(shape: Shape) -> bool:
    return isinstance(shape, Nothing) or (isinstance(shape, Either) and any(map(may_be_null, shape.options)))


def merged(shape: Shape) -> Shape:
    """A choice between records as one record with the fields of all, so that fields can be looked up."""
    shape = without_null(shape)
    if not isinstance(shape, Either) or not all(isinstance(option, Record) for option in shape.options):
        return shape
    records = cast(tuple[Record, ...], shape.options)
    names = [name for record in records for name in record.fields]
    fields = {name: either(record.fields[name] for record in records if name in record.fields) for name in names}
    required = frozenset(name for name in names if all(name in record.required for record in records))
    return Record(" or ".join(record.name for record in records), fields, required)


# --- comparing -------------------------------------------------------------------------------------------------

Fit = Literal["yes", "maybe", "no"]


def fits(source: Shape, target: Shape) -> Fit:
    """Whether a value of one shape is a value of another. What cannot be known is left to the running step: yes."""
    return _fits(source, target, set())


def _fits(source: Shape, target: Shape, seen: set[tuple[int, int]]) -> Fit:
    match source, target:
        case (Anything(), _) | (_, Anything()):
            return "yes"
        case Either(options=options), _:
            fit: set[Fit] = {_fits(option, target, seen) for option in options}
            return "maybe" if len(fit) > 1 else fit.pop()
        case _, Either(options=options):
            found = {_fits(source, option, seen) for option in options}
            return "yes" if "yes" in found else "maybe" if "maybe" in found else "no"
        case Text(), Text():
            return _text_fits(source, target)
        case Whole(), Number():
            return "yes"
        case (Many(item=one), Many(item=other)) | (Table(value=one), Table(value=other)):
            return _fits(one, other, seen)
        case Record(), Table(value=value):
            return _weakest(_fits(inner, value, seen) for inner in source.fields.values())
        case Table(), Record():
            return "yes"
        case Record(), Record():
            return _record_fits(source, target, seen)
        case _:
            return "yes" if type(source) is type(target) else "no"


def _text_fits(source: Text, target: Text) -> Fit:
    if source.format and target.format and source.format != target.format:
        return "no"
    if source.options is not None and target.options is not None:
        if source.options <= target.options:
            return "yes"
        return "maybe" if source.options & target.options else "no"
    return "yes"


def _record_fits(source: Record, target: Record, seen: set[tuple[int, int]]) -> Fit:
    if source is target or (id(source), id(target)) in seen:
        return "yes"
    seen.add((id(source), id(target)))
    if not target.required <= source.fields.keys() or (
        target.closed and not source.fields.keys() <= target.fields.keys()
    ):
        return "no"
    common = source.fields.keys() & target.fields.keys()
    fit = _weakest(_fits(source.fields[name], target.fields[name], seen) for name in sorted(common))
    return "maybe" if fit == "yes" and not target.required <= source.required else fit


def _weakest(found: Iterable[Fit]) -> Fit:
    all_found = set(found)
    return "no" if "no" in all_found else "maybe" if "maybe" in all_found else "yes"


_FORMATS = {"date": "a date", "time": "a time", "date-time": "a moment (date and time)"}


def describe(shape: Shape) -> str:
    """A shape in words: `a list of text`, `a number or nothing`."""
    match shape:
        case Anything():
            return "anything"
        case Text(options=options) if options is not None:
            return "one of " + ", ".join(sorted(map(repr, options)))
        case Text(format=format):
            return _FORMATS.get(format, f"text ({format})") if format else "text"
        case Whole():
            return "a whole number"
        case Number():
            return "a number"
        case Truth():
            return "true or false"
        case Nothing():
            return "nothing"
        case Many(item=Anything()):
            return "a list"
        case Many(item=item):
            return f"a list of {_plural(describe(item))}"
        case Table():
            return "a map"
        case Record(name=name):
            article = "an" if name[:1].lower() in "aeiou" else "a"
            return "a record" if name == "record" else f"{article} {name} record"
        case Either(options=options):
            return " or ".join(describe(option) for option in options)


def _plural(words: str) -> str:
    words = words.removeprefix("a ").removeprefix("an ")
    return f"{words}s" if words.endswith(("number", "record", "date", "time", "list", "map")) else words
