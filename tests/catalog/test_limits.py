"""Limits: how many calls of a tool at once, and how many in a while, as they are declared."""

from typing import Any

import pytest

from chargehand import BadTool, tool
from chargehand.catalog.rates import Rate


async def look() -> int:
    raise NotImplementedError


def test_a_tool_has_no_limits_unless_they_are_declared() -> None:
    free = tool(effect="read")(look)

    assert (free.parallel, free.rate) == (None, None)


def test_both_limits_are_part_of_the_tool() -> None:
    slow = tool(effect="read", parallel=4, rate="60/minute")(look)

    assert (slow.parallel, slow.rate) == (4, Rate(calls=60, seconds=60.0))


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("1/second", Rate(1, 1.0)),
        ("5/s", Rate(5, 1.0)),
        ("60/min", Rate(60, 60.0)),
        ("100000/hour", Rate(100_000, 3600.0)),
        (" 7 / h ", Rate(7, 3600.0)),
    ],
)
def test_a_rate_is_so_many_calls_in_a_second_a_minute_or_an_hour(text: str, rate: Rate) -> None:
    assert tool(effect="read", rate=text)(look).rate == rate


@pytest.mark.parametrize(
    "rate",
    ["", "60", "0/minute", "-1/minute", "1.5/s", "60/fortnight", "60/", "/s", "100001/s", "٣/s", 60, ("60", "s")],
)
def test_what_is_no_rate_is_refused_with_an_example(rate: Any) -> None:
    with pytest.raises(BadTool, match="tool 'look': rate is ") as error:
        tool(effect="read", rate=rate)(look)

    assert '"60/minute"' in error.value.hint


@pytest.mark.parametrize("parallel", [0, -1, True, 1.5, "4"])
def test_what_is_no_number_of_calls_is_refused(parallel: Any) -> None:
    with pytest.raises(BadTool, match="tool 'look': parallel is ") as error:
        tool(effect="read", parallel=parallel)(look)

    assert error.value.hint == "Give the most calls at once, 1 or more."
