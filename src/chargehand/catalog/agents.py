"""Agents: specialists, and the skills by which plans ask for them."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skill:
    """Something that an agent advertises it can do."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Agent:
    """A specialist, known by name and asked for by skill: `Agent("writer", skills=[Skill("writing")])`."""

    name: str
    skills: Sequence[Skill]
