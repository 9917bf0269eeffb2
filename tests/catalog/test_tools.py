"""Tools: schemas from annotations, and declarations that hold together."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Optional, Union, cast

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from chargehand import BadTool, Chargehand, Tool, tool
from chargehand.domain.shapes import describe


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: float = 0.0


class Person(BaseModel):
    name: str
    friends: "list[Person]" = []


class Address(TypedDict):
    street: str


def test_a_tool_is_still_its_function() -> None:
    @tool(effect="read")
    def double(x: int) -> int:
        """Doubles a number."""
        return 2 * x

    assert double(4) == 8
    assert isinstance(double, Tool)
    assert (double.name, double.description, double.signature.is_async) == ("double", "Doubles a number.", False)


async def _twice(x: int) -> int:
    return 2 * x


def test_async_functions_are_tools_too() -> None:
    twice = tool(effect="read", name="twice")(_twice)

    assert twice.signature.is_async
    assert twice.name == "twice"


def test_every_kind_of_annotation_becomes_a_shape() -> None:
    @tool(effect="read")
    def look(
        text: str,
        whole: int,
        number: float,
        truth: bool,
        day: dt.date,
        at: dt.datetime,
        clock: dt.time,
        colour: Colour,
        word: Literal["a", "b"],
        maybe: Optional[str],  # noqa: UP045
        either: Union[int, str],  # noqa: UP007
        many: list[Point],
        table: dict[str, int],
        person: Person,
        address: Address,
        bounded: Annotated[int, Field(ge=1, description="At least one")],
        anything: Any,
        given: int = 3,
    ) -> Point:
        raise NotImplementedError

    shapes = {name: describe(shape) for name, shape in look.signature.parameters.items()}
    assert shapes == {
        "text": "text",
        "whole": "a whole number",
        "number": "a number",
        "truth": "true or false",
        "day": "a date",
        "at": "a moment (date and time)",
        "clock": "a time",
        "colour": "one of 'blue', 'red'",
        "word": "one of 'a', 'b'",
        "maybe": "text or nothing",
        "either": "a whole number or text",
        "many": "a list of Point records",
        "table": "a map",
        "person": "a Person record",
        "address": "an Address record",
        "bounded": "a whole number",
        "anything": "anything",
        "given": "a whole number",
    }
    assert "given" not in look.signature.required
    assert describe(look.signature.output) == "a Point record"
    properties: Any = look.signature.arguments_schema["properties"]
    assert properties["bounded"]["description"] == "At least one"
    assert properties["given"]["default"] == 3


def test_a_parameter_may_have_any_name_that_python_allows() -> None:
    @tool(effect="read")
    def look(json: str, copy: int, schema: bool, model_config: str) -> None:
        raise NotImplementedError

    assert list(look.signature.parameters) == ["json", "copy", "schema", "model_config"]


class TestWhatMustBeStated:
    def test_the_effect(self) -> None:
        with pytest.raises(BadTool, match="needs its effect stated") as error:

            @tool()
            def look() -> str:  # pyright: ignore[reportUnusedFunction]
                raise NotImplementedError

        assert '@tool(effect="read")' in error.value.hint

    def test_the_effect_also_without_brackets(self) -> None:
        with pytest.raises(BadTool, match="needs its effect stated"):

            @tool  # pyright: ignore
            def look() -> str:  # pyright: ignore
                raise NotImplementedError

    def test_a_known_effect(self) -> None:
        with pytest.raises(BadTool, match="unknown effect 'delete'"):

            @tool(effect="delete")  # pyright: ignore[reportArgumentType]
            def look() -> str:  # pyright: ignore[reportUnusedFunction]
                raise NotImplementedError

    def test_the_type_of_every_parameter(self) -> None:
        with pytest.raises(BadTool, match="the parameter 'x' has no type") as error:
            tool(effect="read", name="look")(lambda x: x)  # pyright: ignore

        assert error.value

    def test_what_it_returns(self) -> None:
        def look(x: int):
            raise NotImplementedError

        with pytest.raises(BadTool, match="does not say what it returns"):
            tool(effect="read")(look)

    def test_named_parameters(self) -> None:
        def look(*args: int) -> int:
            raise NotImplementedError

        with pytest.raises(BadTool, match=r"\*args"):
            tool(effect="read")(look)

    def test_types_that_have_a_form_in_json(self) -> None:
        class Opaque:
            pass

        def give() -> Opaque:
            raise NotImplementedError

        def call(x: Callable[[], int]) -> int:
            raise NotImplementedError

        for function in (give, call):
            with pytest.raises(BadTool) as error:
                tool(effect="read")(cast(Any, function))
            assert error.value.hint


@tool(effect="read")
def find(order: str, page: int = 1) -> Point:
    """Finds."""
    raise NotImplementedError


class TestDeclarations:
    """undo, probe, stand-ins and the rest are validated when they are declared."""

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"timeout": 0}, "timeout is 0"),
            ({"timeout": -1}, "timeout is -1"),
            ({"timeout": float("inf")}, "timeout is inf"),
            ({"retry": 0}, "retry is 0"),
            ({"retry": 100}, "retry is 100"),
            ({"cost": -1}, "cost is -1"),
            ({"control": ["nobody"]}, "control names 'nobody'"),
            ({"settles_within": 5}, "settles_within without a probe"),
            ({"effect": "read", "undo": find}, "only reads"),
            ({"undo": find}, "only reads, so it undoes nothing"),
            ({"undo": "find"}, "undo is 'find', which is not a tool"),
            ({"probe": len}, "which is not a tool"),
            ({"egress": 5}, "egress is 5"),
            ({"control": [5]}, "control is [5]"),
        ],
    )
    def test_a_value_that_makes_no_sense_is_refused(self, options: dict[str, Any], said: str) -> None:
        def pay(order: str) -> Point:
            raise NotImplementedError

        with pytest.raises(BadTool) as error:
            tool(**cast(Any, {"effect": "write", **options}))(pay)

        assert said in error.value.message

    def test_durations_may_be_timedeltas(self) -> None:
        @tool(effect="read", timeout=dt.timedelta(minutes=1))
        def look() -> int:
            raise NotImplementedError

        assert look.timeout == 60.0

    def test_only_reads_are_tried_again_by_default(self) -> None:
        def pay() -> int:
            raise NotImplementedError

        assert tool(effect="read")(pay).tries == 3
        assert tool(effect="write")(pay).tries == 1
        assert tool(effect="write", retry=4)(pay).tries == 4

    def test_undeclared_egress_counts_as_open(self) -> None:
        def pay() -> int:
            raise NotImplementedError

        assert tool(effect="read")(pay).open_egress
        assert tool(effect="read", egress="*")(pay).open_egress
        assert not tool(effect="read", egress=[])(pay).open_egress
        assert not tool(effect="read", egress="api.example")(pay).open_egress

    def test_an_undo_is_filled_from_the_output_then_the_arguments(self) -> None:
        @tool(effect="write")
        def cancel(x: int, order: str) -> bool:
            raise NotImplementedError

        @tool(effect="write", undo=cancel)
        def pay(order: str) -> Point:
            raise NotImplementedError

        assert pay.undo is cancel

    def test_an_undo_that_cannot_be_filled_is_refused(self) -> None:
        @tool(effect="write")
        def cancel(ticket: str) -> bool:
            raise NotImplementedError

        @tool(effect="write")
        def cancel_by_text(x: str) -> bool:
            raise NotImplementedError

        def pay(order: str) -> Point:
            raise NotImplementedError

        with pytest.raises(BadTool, match="'ticket' is found neither in the output nor in the arguments"):
            tool(effect="write", undo=cancel)(pay)
        with pytest.raises(BadTool, match="'x' takes text, and gets a whole number"):
            tool(effect="write", undo=cancel_by_text)(pay)
        with pytest.raises(BadTool, match="irreversible and has an undo"):
            tool(effect="irreversible", undo=cancel)(pay)

    def test_a_probe_takes_the_arguments_and_gives_the_output_or_nothing(self) -> None:
        @tool(effect="read")
        def found(order: str) -> Point | None:
            raise NotImplementedError

        @tool(effect="read")
        def told(order: str) -> str:
            raise NotImplementedError

        @tool(effect="write")
        def changed(order: str) -> Point | None:
            raise NotImplementedError

        def pay(order: str) -> Point:
            raise NotImplementedError

        assert tool(effect="irreversible", probe=found, settles_within=5)(pay).settles_within == 5.0
        with pytest.raises(BadTool, match="it gives text, and the tool a Point record"):
            tool(effect="irreversible", probe=told)(pay)
        with pytest.raises(BadTool, match="must only read"):
            tool(effect="irreversible", probe=changed)(pay)

    def test_a_stand_in_takes_the_same_and_gives_the_same(self) -> None:
        @tool(effect="read", instead_of=find)
        def other(order: str, page: int = 1, extra: bool = False) -> Point:
            raise NotImplementedError

        assert other.instead_of == ("find",)
        desk = Chargehand(tools=[find, other])
        assert desk.catalog.providers["find"] == (find, other)

    def test_a_stand_in_that_does_not_fit_is_refused(self) -> None:
        def no_page(order: str) -> Point:
            raise NotImplementedError

        def other_type(order: int, page: int = 1) -> Point:
            raise NotImplementedError

        def needs_more(order: str, page: int, key: str) -> Point:
            raise NotImplementedError

        def gives_less(order: str, page: int = 1) -> Address:
            raise NotImplementedError

        for function, said in [
            (no_page, "it has no parameter 'page'"),
            (other_type, "its parameter 'order' takes a whole number, not text"),
            (needs_more, "it needs the argument 'key'"),
            (gives_less, "without the field 'x'"),
        ]:
            with pytest.raises(BadTool) as error:
                tool(effect="read", instead_of=find)(cast(Any, function))
            assert said in error.value.message
        with pytest.raises(BadTool, match=r"'no_page' \(write\) cannot stand in for 'find' \(read\)"):
            tool(effect="write", instead_of=find)(no_page)

    def test_a_stand_in_may_name_its_original_which_is_looked_up_by_the_desk(self) -> None:
        def other(order: str, page: int = 1) -> Point:
            raise NotImplementedError

        named = tool(effect="read", instead_of="find")(other)
        assert Chargehand(tools=[named, find]).catalog.providers["find"] == (find, named)
        with pytest.raises(BadTool, match="stands in for 'find', which is not a tool here"):
            Chargehand(tools=[named])


def test_two_tools_of_one_name_are_refused() -> None:
    def other() -> int:
        raise NotImplementedError

    with pytest.raises(BadTool, match="two tools have the name 'find'"):
        Chargehand(tools=[find, tool(effect="read", name="find")(other)])


def test_a_plain_function_is_not_a_tool() -> None:
    def look() -> int:
        raise NotImplementedError

    with pytest.raises(BadTool, match="'look' is not a tool"):
        Chargehand(tools=[look])  # pyright: ignore[reportArgumentType]


def test_tools_without_parameters_and_with_recursive_results_work() -> None:
    @tool(effect="read")
    def boss() -> Person:
        raise NotImplementedError

    desk = Chargehand(tools=[boss])
    step: dict[str, object] = {"id": "top", "use": "boss"}

    assert desk.check({"steps": [step], "answer": {"$": "top.friends[0].friends[0].name"}}) == []
    assert [d.code for d in desk.check({"steps": [step], "answer": {"$": "top.friends[0].friends[0].nme"}})] == [
        "CH303"
    ]
    assert [d.code for d in desk.check({"steps": [step], "answer": {"$": "top.friends.map(f, f.friends[0].nme)"}})] == [
        "CH303"
    ]
