"""Words of the expression language: those that no step may be called, and the functions that it knows."""

from chargehand.domain.expressions.functions import TABLE

KEYWORDS = frozenset("true false null in".split())
CEL_WORDS = frozenset(
    "as break const continue else for function if import let loop package namespace return var void while".split()
)
TYPE_NAMES = frozenset(
    "bool bytes double duration dyn int list map null_type optional_type string timestamp type uint".split()
)
LIBRARIES = frozenset("cel google math optional strings".split())
OWN_NAMES = frozenset("args failure inputs item output".split())
RESERVED = KEYWORDS | CEL_WORDS | TYPE_NAMES | LIBRARIES | OWN_NAMES

MACROS = frozenset("all exists exists_one filter has map".split())
# What CEL and its text, math and optional libraries know, beside our own functions.
FUNCTIONS = frozenset(TABLE) | frozenset(
    """bool bytes double duration dyn int string timestamp type uint size matches contains startsWith endsWith
    getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours getMilliseconds getMinutes getMonth
    getSeconds charAt format indexOf join lastIndexOf lowerAscii replace reverse split substring trim upperAscii
    quote abs ceil floor round sign trunc isNaN isInf isFinite bitAnd bitOr bitXor bitNot bitShiftLeft
    bitShiftRight greatest least sqrt of ofNonZeroValue none hasValue value or orValue optMap optFlatMap""".split()
)
