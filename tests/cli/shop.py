"""Files that the tests of the command line write, and check."""

from pathlib import Path

from tests.cli.terminal import DESK, Said, chargehand

GOOD = """\
steps:
  - id: find
    use: search
    with: {origin: BOS, destination: JFK, day: 2026-11-20}
answer: {$: find.best}
"""
SHOP = """\
from chargehand import Chargehand, tool

@tool(effect="read")
def look(what: str) -> str:
    \"\"\"Looks.\"\"\"
    return what

desk = Chargehand(tools=[look])
counter = Chargehand(tools=[look])
price = 3

def open_shop():
    return desk

def close_shop():
    return None

class Street:
    shop = desk
"""
PLAYBOOK = """\
name: look-around
answers: ["Look at {what}"]
inputs: {what: text}
steps:
  - {id: seen, use: look, with: {what: {$: inputs.what}}}
answer: {$: seen}
"""
ESCAPE = "\x1b"
OVERRIDE = "\u202e"  # makes a terminal show what follows from right to left


def write(name: str, text: str) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")
    return name


def check(text: str, *options: str) -> Said:
    return chargehand("check", write("trip.yaml", text), "--app", DESK, *options)


def shop_with(playbook: str) -> None:
    write("books/look-around.yaml", playbook)
    write("shop.py", SHOP.replace("tools=[look])", "tools=[look], playbooks='books')"))
