"""The speed budget: what is measured, against what, and what is missed. Never a test: machines are noisy.

`python -m bench.run` prints it; `--quick` takes a minute, `--page` also writes docs/benchmarks.md and its pictures.
"""

import argparse
import datetime as dt
from collections.abc import Callable, Mapping

from bench.checking import checking, evaluating, importing
from bench.contest import Contest
from bench.effort import FULL, QUICK, Effort
from bench.engine import chain, effects, fan, makespan, parked, resume, runs
from bench.machine import machine, peers
from bench.page import write_page
from bench.rows import Part

PARTS: Mapping[str, Callable[[Contest, Effort], Part]] = {
    "checking": checking,
    "evaluating": evaluating,
    "importing": importing,
    "chain": chain,
    "fan": fan,
    "effects": effects,
    "makespan": makespan,
    "runs": runs,
    "resume": resume,
    "parked": parked,
}


def main() -> None:
    options = read_options()
    facts = machine()
    print(facts, flush=True)
    parts: list[Part] = []
    with Contest() as contest:
        for name in options.only or PARTS:
            part = PARTS[name](contest, QUICK if options.quick else FULL)
            print(f"\n{part.title}")
            for row in part.rows:
                print(f"  {row}", flush=True)
            parts.append(part)
        print(f"\n{summary(parts)}")
        if options.page:
            write_page(parts, facts, peers(contest), options.date)


def summary(parts: list[Part]) -> str:
    verdicts = [row.verdict for part in parts for row in part.rows if row.verdict != "info"]
    missed, absent = verdicts.count("MISSED"), verdicts.count("not measured")
    said = f"{verdicts.count('ok')} of {len(verdicts)} within the budget, {missed} missed"
    return f"{said}, {absent} NOT MEASURED" if absent else said


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and runs: under a minute, less to believe")
    parser.add_argument("--page", action="store_true", help="write docs/benchmarks.md and its pictures")
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--date", default=dt.datetime.now(dt.UTC).date().isoformat(), help="the date on the page")
    options = parser.parse_args()
    if options.page and (options.quick or options.only):
        parser.error("the page shows a full benchmark: leave out --quick and --only")
    return options


if __name__ == "__main__":
    main()
