"""Agents: specialists, and the skills by which plans ask for them."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skill:
    """Something that an agent advertises it can do."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True, init=False)
class Agent:
    """A specialist, known by name and asked for by skill: `Agent("writer", skills=["writing"])`."""

    name: str
    skills: tuple[Skill, ...]

    def __init__(self, name: str, skills: Sequence[Skill | str]) -> None:
        """A skill that needs no description may be given by its name."""
        several = [skills] if isinstance(skills, str) else skills
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "skills", tuple(Skill(one) if isinstance(one, str) else one for one in several))
