"""A contestant's end of a contest: one line of JSON asks for a round, one line of JSON says what it took.

Only the standard library is used here: the peers' environments have nothing of ours.
"""

import asyncio
import gc
import json
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Reply = dict[str, Any]
Round = Callable[..., Awaitable[Reply]]


async def serve(rounds: Mapping[str, Round]) -> None:
    """Answers requests from stdin until it is closed. What else is printed goes to stderr."""
    replies, sys.stdout = sys.stdout, sys.stderr
    while line := await asyncio.to_thread(sys.stdin.readline):
        name, request = json.loads(line)
        gc.collect()  # nobody pays for the garbage of an earlier round
        try:
            reply = await rounds[name](**request)
        except Exception as error:
            traceback.print_exc()
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=replies, flush=True)


async def timed(work: Awaitable[object]) -> Reply:
    """How long something takes, and how much of a processor: the second hardly depends on what else runs."""
    began, used = time.perf_counter(), time.process_time()
    await work
    return {"seconds": time.perf_counter() - began, "processor": time.process_time() - used}
