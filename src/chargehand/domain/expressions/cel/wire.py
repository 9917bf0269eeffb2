"""The library's wire form: CEL's public `ParsedExpr` and `CheckedExpr` messages, and our tree from them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory

from chargehand.domain.expressions.tree import Call, Constant, ListOf, Loop, MapOf, Name, Node, Select

Field = descriptor_pb2.FieldDescriptorProto


def read_tree(serialized: bytes) -> Node:
    """The tree of a parsed expression."""
    parsed = _unpack(serialized, "ParsedExpr")
    return _Reader(parsed.source_info).node(parsed.expr)


def read_checked(serialized: bytes) -> Any:
    """The message of a checked expression: `expr`, `type_map` and `source_info`."""
    return _unpack(serialized, "CheckedExpr")


class _Reader:
    """Turns the library's wire form into our tree."""

    def __init__(self, source_info: Any) -> None:
        self._positions: Mapping[int, int] = source_info.positions

    def node(self, wire: Any) -> Node:
        offset = self._positions.get(wire.id, 0)
        match wire.WhichOneof("expr_kind"):
            case "const_expr":
                constant = wire.const_expr
                kind = constant.WhichOneof("constant_kind")
                return Constant(None if kind in (None, "null_value") else getattr(constant, kind), offset)
            case "ident_expr":
                return Name(wire.ident_expr.name.removeprefix("."), offset)
            case "select_expr":
                select = wire.select_expr
                return Select(self.node(select.operand), select.field, select.test_only, offset)
            case "call_expr":
                call = wire.call_expr
                target = self.node(call.target) if call.HasField("target") else None
                return Call(call.function, target, tuple(self.node(arg) for arg in call.args), offset)
            case "list_expr":
                return ListOf(tuple(self.node(item) for item in wire.list_expr.elements), offset)
            case "struct_expr":
                return MapOf(
                    tuple((self._key(entry), self.node(entry.value)) for entry in wire.struct_expr.entries),
                    wire.struct_expr.message_name,
                    offset,
                )
            case "comprehension_expr":
                return self._loop(wire, offset)
            case _:
                return Constant(None, offset)

    def _key(self, entry: Any) -> Node:
        return self.node(entry.map_key) if entry.HasField("map_key") else Constant(entry.field_key)

    def _loop(self, wire: Any, offset: int) -> Loop:
        loop = wire.comprehension_expr
        return Loop(
            tuple(name for name in (loop.iter_var, loop.iter_var2) if name),
            self.node(loop.iter_range),
            loop.accu_var,
            self.node(loop.accu_init),
            self.node(loop.loop_condition),
            self.node(loop.loop_step),
            self.node(loop.result),
            offset,
        )


def _unpack(serialized: bytes, name: str) -> Any:
    envelope = any_pb2.Any()
    envelope.ParseFromString(serialized)
    message = message_factory.GetMessageClass(_syntax().FindMessageTypeByName(f"cel.expr.{name}"))()
    message.ParseFromString(envelope.value)
    return message


_SCALARS = {
    "bool": Field.TYPE_BOOL,
    "int32": Field.TYPE_INT32,
    "int64": Field.TYPE_INT64,
    "uint64": Field.TYPE_UINT64,
    "double": Field.TYPE_DOUBLE,
    "string": Field.TYPE_STRING,
    "bytes": Field.TYPE_BYTES,
}
# The part of CEL's public syntax.proto and checked.proto that is read here: message -> "field type number" with
# `*` for repeated, `{…}` for a map from int64, and `|` before the members of the message's one-of.
_SYNTAX = {
    "Constant": "constant_kind| null_value int32 1, bool_value bool 2, int64_value int64 3, uint64_value uint64 4, "
    "double_value double 5, string_value string 6, bytes_value bytes 7",
    "Ident": "name string 1",
    "Select": "operand Expr 1, field string 2, test_only bool 3",
    "CallExpr": "target Expr 1, function string 2, args *Expr 3",
    "List": "elements *Expr 1",
    "Entry": "field_key string 2, map_key Expr 3, value Expr 4",
    "Struct": "message_name string 1, entries *Entry 2",
    "Comprehension": "iter_var string 1, iter_range Expr 2, accu_var string 3, accu_init Expr 4, "
    "loop_condition Expr 5, loop_step Expr 6, result Expr 7, iter_var2 string 8",
    "Expr": "id int64 2, expr_kind| const_expr Constant 3, ident_expr Ident 4, select_expr Select 5, "
    "call_expr CallExpr 6, list_expr List 7, struct_expr Struct 8, comprehension_expr Comprehension 9",
    "SourceInfo": "positions {int32} 4",
    "ParsedExpr": "expr Expr 2, source_info SourceInfo 3",
    "Nothing": "",
    "ListType": "elem_type Type 1",
    "MapType": "key_type Type 1, value_type Type 2",
    "AbstractType": "name string 1, parameter_types *Type 2",
    "Type": "type_kind| dyn Nothing 1, null int32 2, primitive int32 3, wrapper int32 4, well_known int32 5, "
    "list_type ListType 6, map_type MapType 7, message_type string 9, type_param string 10, type Type 11, "
    "error Nothing 12, abstract_type AbstractType 14",
    "CheckedExpr": "type_map {Type} 3, expr Expr 4, source_info SourceInfo 5",
}


@cache
def _syntax() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="syntax.proto", package="cel.expr", syntax="proto3")
    for name, text in _SYNTAX.items():
        _declare(file.message_type.add(name=name), text)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _declare(message: descriptor_pb2.DescriptorProto, text: str) -> None:
    one_of = False
    for member in filter(None, text.split(", ")):
        if "|" in member:
            choice, member = member.split("| ")
            message.oneof_decl.add(name=choice)
            one_of = True
        name, kind, number = member.split(" ")
        if kind.startswith("{"):
            entry = message.nested_type.add(name=entry_name(name))
            entry.options.map_entry = True
            _declare_field(entry, "key", "int64", 1)
            _declare_field(entry, "value", kind[1:-1], 2)
            _declare_field(message, name, f"*{message.name}.{entry.name}", int(number))
        else:
            field = _declare_field(message, name, kind, int(number))
            if one_of:
                field.oneof_index = 0


def entry_name(field: str) -> str:
    """The name that protobuf wants for the entries of a map field."""
    return "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Entry"


def _declare_field(
    message: descriptor_pb2.DescriptorProto, name: str, kind: str, number: int
) -> descriptor_pb2.FieldDescriptorProto:
    field = message.field.add(name=name, number=number)
    field.label = Field.LABEL_REPEATED if kind.startswith("*") else Field.LABEL_OPTIONAL
    kind = kind.removeprefix("*")
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type, field.type_name = Field.TYPE_MESSAGE, f".cel.expr.{kind}"
    return field
