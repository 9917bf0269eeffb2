"""Typing expressions with the library's own checker, over messages that stand for records."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings
from google.protobuf import descriptor_pb2, descriptor_pool, struct_pb2, wrappers_pb2

from chargehand.domain.expressions import functions
from chargehand.domain.expressions.cel import wire
from chargehand.domain.expressions.cel.running import Complaint, Refused, complaints, extensions

Field = descriptor_pb2.FieldDescriptorProto


@dataclass(frozen=True, slots=True)
class CelType:
    """A type as the checker names it: `string`, `list<…>`, `map<…>`, a message `plan.R1`, `dyn`; maybe nullable."""

    name: str
    inner: "tuple[CelType, ...]" = ()
    nullable: bool = False

    def __str__(self) -> str:
        return f"{self.name}<{', '.join(str(part) for part in self.inner)}>" if self.inner else self.name


DYN = CelType("dyn")


def list_of(item: CelType) -> CelType:
    return CelType("list", (item,))


def map_of(value: CelType) -> CelType:
    return CelType("map", (CelType("string"), value))


@dataclass(frozen=True, slots=True)
class Pick:
    """A call such as `min_by(flights, 'price')`: the library cannot see that the text names a field."""

    function: str
    over: CelType
    field: str
    offset: int


@dataclass(frozen=True, slots=True)
class Checked:
    """What the checker found out about an expression that it accepts."""

    type: CelType
    picks: tuple[Pick, ...]


Overloads = Mapping[str, Sequence[tuple[Sequence[CelType], CelType]]]


class Checker:
    """The library's type checker over declared messages, variables and functions; one serves a whole plan."""

    def __init__(
        self,
        messages: Mapping[str, Mapping[str, CelType]],
        variables: Mapping[str, CelType],
        overloads: Overloads,
    ) -> None:
        self._env = cel.NewEnv(
            descriptor_pool=_pool(messages),
            variables={name: _declared(kind) for name, kind in variables.items()},
            extensions=[*extensions(), ext_bindings.ExtBindings()],
            functions=[
                cel.FunctionDecl(
                    name,
                    [
                        cel.Overload(
                            id=f"{name}_{number}",
                            parameters=[_declared(parameter) for parameter in parameters],
                            return_type=_declared(returns),
                        )
                        for number, (parameters, returns) in enumerate(choices)
                    ],
                )
                for name, choices in overloads.items()
            ],
        )

    def check(self, text: str, rename: Mapping[str, str]) -> Checked:
        """Types an expression in which some names stand for other declared variables (`output` for one step's).

        The text is wrapped in `cel.bind(name, variable, …)`, so that one environment serves every step: making one
        takes longer than checking twenty expressions.
        """
        opening = "".join(f"cel.bind({name}, {variable}, " for name, variable in rename.items())
        wrapped = f"{opening}{text}" + "\n)" * len(rename)  # on a line of its own: the text may end in a comment
        try:
            compiled = self._env.compile(wrapped)
        except RuntimeError as error:
            raise Refused(
                [
                    Complaint(min(max(complaint.offset - len(opening), 0), len(text)), complaint.message)
                    for complaint in complaints(str(error), wrapped)
                ]
            ) from None
        checked = wire.read_checked(compiled.serialize())
        root = checked.expr
        for _ in rename:
            root = root.comprehension_expr.result
        types: Mapping[int, Any] = checked.type_map
        kind = _type(types[root.id]) if root.id in types else DYN
        picks = _picks(checked, len(opening)) if any(name in text for name in functions.BY_FIELD) else ()
        return Checked(kind, tuple(picks))


def _picks(checked: Any, shift: int) -> Iterator[Pick]:
    waiting = [checked.expr]
    while waiting:
        wire = waiting.pop()
        for _, inner in wire.ListFields():
            if hasattr(inner, "ListFields"):
                waiting.append(inner)
            elif hasattr(inner, "add"):
                waiting.extend(inner)
        call = wire.call_expr if wire.DESCRIPTOR.name == "Expr" and wire.HasField("call_expr") else None
        if call is not None and call.function in functions.BY_FIELD and len(call.args) == 2:
            over, field = call.args
            kind = checked.type_map.get(over.id)
            if kind is not None and field.const_expr.HasField("string_value"):
                offset = max(checked.source_info.positions.get(field.id, 0) - shift, 0)
                yield Pick(call.function, _type(kind), field.const_expr.string_value, offset)


_PRIMITIVES = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
_WELL_KNOWN = {1: "dyn", 2: "timestamp", 3: "duration"}


def _type(wire: Any) -> CelType:
    match wire.WhichOneof("type_kind"):
        case "primitive":
            return CelType(_PRIMITIVES.get(wire.primitive, "dyn"))
        case "wrapper":
            return CelType(_PRIMITIVES.get(wire.wrapper, "dyn"), nullable=True)
        case "well_known":
            return CelType(_WELL_KNOWN.get(wire.well_known, "dyn"))
        case "null":
            return CelType("null")
        case "list_type":
            return list_of(_type(wire.list_type.elem_type))
        case "map_type":
            return CelType("map", (_type(wire.map_type.key_type), _type(wire.map_type.value_type)))
        case "message_type":
            return CelType(wire.message_type)
        case "abstract_type":
            return CelType(wire.abstract_type.name, tuple(_type(part) for part in wire.abstract_type.parameter_types))
        case "type":
            return CelType("type")
        case _:
            return DYN


# A primitive's type for the library, its protobuf type, and the message that holds it when it may be null.
_DECLARED = {
    "bool": (cel.Type.BOOL, Field.TYPE_BOOL, "BoolValue"),
    "int": (cel.Type.INT, Field.TYPE_INT64, "Int64Value"),
    "double": (cel.Type.DOUBLE, Field.TYPE_DOUBLE, "DoubleValue"),
    "string": (cel.Type.STRING, Field.TYPE_STRING, "StringValue"),
}
_OTHERS = {
    "dyn": cel.Type.DYN,
    "null": cel.Type.NULL,
    "timestamp": cel.Type.TIMESTAMP,
    "duration": cel.Type.DURATION,
}


def _declared(kind: CelType) -> cel.Type:
    if kind.name in _DECLARED:
        plain, _, wrapper = _DECLARED[kind.name]
        return cel.Type(f"google.protobuf.{wrapper}") if kind.nullable else plain
    if kind.name in _OTHERS or kind.nullable:
        return _OTHERS.get(kind.name, cel.Type.DYN)
    if kind.name == "list":
        return cel.Type.List(_declared(kind.inner[0]))
    if kind.name == "map":
        return cel.Type.Map(cel.Type.STRING, _declared(kind.inner[1]))
    return cel.Type(kind.name)


def _pool(messages: Mapping[str, Mapping[str, CelType]]) -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="plan.proto", package="plan", syntax="proto3")
    file.dependency.extend(["google/protobuf/struct.proto", "google/protobuf/wrappers.proto"])
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for number, (field, kind) in enumerate(fields.items(), 1):
            _add_field(message, field, number, kind)
    pool = descriptor_pool.DescriptorPool()
    for module in (struct_pb2, wrappers_pb2):
        wire = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(wire)
        pool.Add(wire)
    pool.Add(file)
    return pool


def _add_field(message: descriptor_pb2.DescriptorProto, name: str, number: int, kind: CelType) -> None:
    # Explicit JSON names: protobuf would otherwise refuse a record with both `a_b` and `aB`.
    field = message.field.add(name=name, number=number, json_name=f"f{number}", label=Field.LABEL_OPTIONAL)
    inner = kind.inner[-1] if kind.inner and not kind.nullable else None
    if inner is None or inner.inner:  # protobuf has no list of lists: the inner ones are not typed
        _set_type(field, kind)
        return
    field.label = Field.LABEL_REPEATED
    if kind.name == "list":
        _set_type(field, inner)
        return
    entry_name = wire.entry_name(name)
    if any(nested.name == entry_name for nested in message.nested_type):  # `a_b` and `aB` would share it
        field.label = Field.LABEL_OPTIONAL
        _set_type(field, DYN)
        return
    entry = message.nested_type.add(name=entry_name)
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=Field.TYPE_STRING, label=Field.LABEL_OPTIONAL)
    _set_type(entry.field.add(name="value", number=2, label=Field.LABEL_OPTIONAL), inner)
    field.type, field.type_name = Field.TYPE_MESSAGE, f".plan.{message.name}.{entry.name}"


def _set_type(field: descriptor_pb2.FieldDescriptorProto, kind: CelType) -> None:
    if kind.name in _DECLARED and not kind.nullable:
        field.type = _DECLARED[kind.name][1]
        return
    field.type = Field.TYPE_MESSAGE
    if kind.name in _DECLARED:
        field.type_name = f".google.protobuf.{_DECLARED[kind.name][2]}"
    elif kind.name.startswith("plan."):
        field.type_name = f".{kind.name}"
    elif kind.nullable or kind.name not in ("list", "map"):
        field.type_name = ".google.protobuf.Value"
    else:
        field.type_name = ".google.protobuf.ListValue" if kind.name == "list" else ".google.protobuf.Struct"
