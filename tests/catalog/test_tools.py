"""Tools: schemas from annotations, and declarations that hold together."""

import datetime as dt
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial
from typing import Annotated, Any, Literal, NotRequired, Optional, Union, cast

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from chargehand import Agent, BadTool, Chargehand, Skill, Tool, tool
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


class Receipt(TypedDict):
    n: str


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


class Shop:
    """Its bound methods can be tools; its functions cannot."""

    def count(self, word: str) -> int:
        """Counts."""
        return len(word)

    def __call__(self, word: str) -> int:
        raise NotImplementedError


def _gives_many() -> Iterator[int]:
    yield 1


async def _gives_many_slowly() -> AsyncIterator[int]:
    yield 1


class TestWhatIsNotAFunction:
    @pytest.mark.parametrize(
        ("thing", "said"),
        [
            (partial(_twice, x=2), "'partial' is not a function but of the type partial"),
            (Shop(), "'Shop' is not a function but of the type Shop"),
            (Shop, "'Shop' is not a function but a class"),
            (len, "'len' is not a function but of the type builtin_function_or_method"),
            (5, "'int' is not a function but of the type int"),
            (tool(effect="read")(_twice), "is not a function but of the type Tool"),
            (staticmethod(_twice), "'_twice' is a static or class method"),
            (classmethod(cast(Any, _twice)), "'_twice' is a static or class method"),
            (_gives_many, "a tool returns, it does not yield"),
            (_gives_many_slowly, "a tool returns, it does not yield"),
            (Shop.count, "the parameter 'self' has no type"),
        ],
    )
    def test_it_is_refused_with_what_to_do(self, thing: Any, said: str) -> None:
        with pytest.raises(BadTool) as error:
            tool(effect="read")(thing)

        assert said in error.value.message
        assert error.value.hint

    def test_a_method_that_lacks_its_object_says_how_to_bind_it(self) -> None:
        with pytest.raises(BadTool, match="Make the tool inside a function, or of a bound method"):
            tool(effect="read")(Shop.count)

        count = tool(effect="read")(Shop().count)
        assert (count("abc"), list(count.signature.parameters), count.description) == (3, ["word"], "Counts.")

    def test_a_decorated_function_is_still_one(self) -> None:
        @tool(effect="read")
        @cache
        def double(x: int) -> int:
            return 2 * x

        assert double(2) == 4

    @pytest.mark.parametrize(
        ("annotation", "said"),
        [
            ("1+", "an annotation cannot be evaluated: SyntaxError"),
            ("dt.Nope", "an annotation cannot be evaluated: AttributeError"),
            ("1/0", "an annotation cannot be evaluated: ZeroDivisionError"),
            ("Nope", "the annotation 'Nope' is not known"),
        ],
    )
    def test_an_annotation_that_cannot_be_evaluated_is_refused(self, annotation: str, said: str) -> None:
        def look(x: int) -> int:
            raise NotImplementedError

        look.__annotations__["x"] = annotation

        with pytest.raises(BadTool) as error:
            tool(effect="read")(look)
        assert said in error.value.message

    def test_a_name_is_text(self) -> None:
        with pytest.raises(BadTool, match="5 is not a name for a tool"):
            tool(effect="read", name=cast(Any, 5))(_twice)


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
            ({"idempotent": "no"}, "idempotent is 'no'"),
            ({"idempotent": 1}, "idempotent is 1"),
            ({"instead_of": 5}, "instead_of is 5"),
            ({"instead_of": None}, "instead_of is None"),
            ({"instead_of": [len]}, "instead_of is [<built-in function len>]"),
            ({"instead_of": "pay"}, "'pay' stands in for itself"),
            ({"instead_of": ["find", find]}, "instead_of names 'find' twice"),
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

    def test_a_stand_in_that_fits_only_sometimes_is_refused(self) -> None:
        @tool(effect="read")
        def look(x: str | None, order: Literal["new", "old"] = "new") -> Point:
            raise NotImplementedError

        def gives_nothing_at_times(x: str | None, order: Literal["new", "old"] = "new") -> Point | None:
            raise NotImplementedError

        def needs_text(x: str, order: Literal["new", "old"] = "new") -> Point:
            raise NotImplementedError

        def knows_one_order(x: str | None, order: Literal["new"] = "new") -> Point:
            raise NotImplementedError

        for function, said in [
            (gives_nothing_at_times, "it gives a Point record or nothing, and the original a Point record"),
            (needs_text, "its parameter 'x' takes text, not text or nothing"),
            (knows_one_order, "its parameter 'order' takes one of 'new', not one of 'new', 'old'"),
        ]:
            with pytest.raises(BadTool) as error:
                tool(effect="read", instead_of=look)(cast(Any, function))
            assert said in error.value.message

    def test_an_undo_gets_what_it_needs_in_every_case(self) -> None:
        @tool(effect="write")
        def cancel(n: str) -> bool:
            raise NotImplementedError

        class Perhaps(TypedDict):
            n: str | None

        class Absent(TypedDict):
            n: NotRequired[str]

        def gives_null() -> Perhaps:
            raise NotImplementedError

        def leaves_out() -> Absent:
            raise NotImplementedError

        def gives_nothing() -> Receipt | None:
            raise NotImplementedError

        def has_it_as_argument(n: str) -> Absent:
            raise NotImplementedError

        def has_a_number(n: int) -> Absent:
            raise NotImplementedError

        for function, said in [
            (gives_null, "its parameter 'n' takes text, and gets text or nothing"),
            (leaves_out, "its parameter 'n' is taken from the output, where it may be missing"),
            (gives_nothing, "its parameter 'n' is taken from the output, where it may be missing"),
            (has_a_number, "its parameter 'n' takes text, and gets text or a whole number"),
        ]:
            with pytest.raises(BadTool) as error:
                tool(effect="write", undo=cancel)(cast(Any, function))
            assert said in error.value.message
        assert tool(effect="write", undo=cancel)(has_it_as_argument).undo is cancel

    def test_a_probe_gives_the_output_in_every_case_but_nothing(self) -> None:
        @tool(effect="read")
        def found(order: str) -> Point | str | None:
            raise NotImplementedError

        @tool(effect="read")
        def found_by_text(order: str) -> Point | None:
            raise NotImplementedError

        def pay(order: str) -> Point:
            raise NotImplementedError

        def pay_any(order: str | None) -> Point:
            raise NotImplementedError

        with pytest.raises(BadTool, match="it gives a Point record or text or nothing, and the tool a Point record"):
            tool(effect="write", probe=found)(pay)
        with pytest.raises(BadTool, match="its parameter 'order' takes text, and gets text or nothing"):
            tool(effect="write", probe=found_by_text)(pay_any)

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


def test_a_skill_may_be_given_by_its_name() -> None:
    writer = Agent("writer", ["writing", Skill("mailing", "Sends mails")])

    assert writer.skills == (Skill("writing"), Skill("mailing", "Sends mails"))
    assert Agent("writer", "writing").skills == (Skill("writing"),)
    step = {"id": "letter", "ask": "writing", "task": "Write.", "returns": {"type": "string"}}
    assert Chargehand(agents=[writer]).check({"steps": [step], "answer": {"$": "letter"}}) == []
