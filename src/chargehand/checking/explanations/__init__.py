"""Every code explained, with a bad and a good example. The examples are checked by the tests and shown in the docs."""

from chargehand.checking.explanations.arguments import ARGUMENTS
from chargehand.checking.explanations.effects import EFFECTS
from chargehand.checking.explanations.explanation import Explanation
from chargehand.checking.explanations.expressions import EXPRESSIONS
from chargehand.checking.explanations.names import NAMES
from chargehand.checking.explanations.playbooks import PLAYBOOKS
from chargehand.checking.explanations.reading import READING

__all__ = ["EXPLANATIONS", "GROUPS", "Explanation"]

# The codes in their order, under the headings of the documentation.
GROUPS: dict[str, dict[str, Explanation]] = {
    "Reading": READING,
    "Names and order": NAMES,
    "Arguments": ARGUMENTS,
    "Expressions": EXPRESSIONS,
    "Effects and limits": EFFECTS,
    "Playbooks": PLAYBOOKS,
}

EXPLANATIONS: dict[str, Explanation] = {
    code: explanation for group in GROUPS.values() for code, explanation in group.items()
}
