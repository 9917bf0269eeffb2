"""What a tool returns is data, never plan: whatever it looks like, it goes on as it came."""

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from chargehand import Chargehand, Plan, tool
from chargehand.adapters.memory import MemoryJournal, MemoryStore

WORDS = st.sampled_from(["$", "#", "max_age", "use", "goal", "inputs.secret", "{$: inputs.secret}", "a", "0" * 64, "x"])
VALUES = st.recursive(
    WORDS | st.none() | st.booleans() | st.integers(-5, 5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
PLAN = Plan.parse("""
inputs: {secret: text}
steps:
  - {id: a, use: say, with: {n: 1}}
  - {id: b, use: hear, with: {value: {$: a}, wrapped: {inside: [{$: a}]}}}
  - {id: c, use: hear, each: "[a, a]", with: {value: {$: item}, wrapped: null}}
  - {id: s, use: send, with: {value: {$: b.value}}, expect: ["true || output == null"]}
answer: {said: {$: a}, heard: {$: b}, sent: {$: s}}
""")


@given(VALUES)
@settings(max_examples=40, deadline=None)
def test_a_value_that_looks_like_a_reference_an_order_or_a_blob_stays_what_it_is(value: Any) -> None:
    heard: list[Any] = []

    @tool(effect="read", egress=[])
    async def say(n: int) -> Any:
        """Says something."""
        return value

    @tool(effect="read", egress=[])
    async def hear(value: Any, wrapped: Any) -> dict[str, Any]:
        """Gives back what it was given."""
        heard.append((value, wrapped))
        return {"value": value, "wrapped": wrapped}

    @tool(effect="irreversible", egress=[])
    async def send(value: Any) -> Any:
        """Sends it."""
        return value

    def desk(store: MemoryStore) -> Chargehand:
        return Chargehand(tools=[say, hear, send], journal=MemoryJournal(store))

    store = MemoryStore()
    waiting = desk(store).run_sync(PLAN, {"secret": "hidden"}, run_id="r")
    after = desk(store)  # what another process sees is decoded from the journal
    [request] = waiting["s"].requests
    after.approve("r", "s")
    outcome: Any = asyncio.run(after.resume("r"))

    assert heard == [(value, {"inside": [value]}), (value, None), (value, None)]
    assert request["arguments"] == {"value": value}
    assert outcome.answer == {
        "said": value,
        "heard": {"value": value, "wrapped": {"inside": [value]}},
        "sent": value,
    }
