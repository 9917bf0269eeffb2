"""The catalog: every tool and skill that plans of one application may name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from chargehand.catalog.agents import Agent, Skill
from chargehand.catalog.tools import AnyTool, Tool, vet_stand_in
from chargehand.domain.diagnostics import did_you_mean
from chargehand.errors import BadTool


@dataclass(frozen=True, slots=True)
class Catalog:
    """Tools by name, the tools that can do what each does, and skills by name."""

    tools: Mapping[str, AnyTool] = field(default_factory=dict[str, AnyTool])
    known: Mapping[str, AnyTool] = field(default_factory=dict[str, AnyTool])
    """The tools, and those that only undo or probe what they do: plans may not name these."""
    providers: Mapping[str, tuple[AnyTool, ...]] = field(default_factory=dict[str, tuple[AnyTool, ...]])
    skills: Mapping[str, Skill] = field(default_factory=dict[str, Skill])


def make_catalog(tools: Iterable[AnyTool] = (), agents: Iterable[Agent] = ()) -> Catalog:
    """A catalog of tools and agents; raises BadTool if two have one name or a stand-in does not fit."""
    by_name: dict[str, AnyTool] = {}
    for tool in tools:
        if not isinstance(tool, Tool):  # pyright: ignore[reportUnnecessaryIsInstance]
            hint = 'Put @tool(effect="read") (or "write", "irreversible") above its def.'
            raise BadTool(f"{getattr(tool, '__name__', tool)!r} is not a tool", hint=hint)
        if by_name.setdefault(tool.name, tool) is not tool:
            raise BadTool(f"two tools have the name {tool.name!r}", hint="Give one another: @tool(name=…).")
    providers = {name: [tool] for name, tool in by_name.items()}
    for tool in by_name.values():
        for name in tool.instead_of:
            if name not in by_name:
                hint = did_you_mean(name, by_name)
                raise BadTool(f"tool {tool.name!r} stands in for {name!r}, which is not a tool here", hint=hint)
            vet_stand_in(tool, by_name[name])
            providers[name].append(tool)
    skills = {skill.name: skill for agent in agents for skill in agent.skills}
    return Catalog(
        tools=by_name,
        known=_with_helpers(by_name),
        providers={name: tuple(found) for name, found in providers.items()},
        skills=skills,
    )


def _with_helpers(tools: Mapping[str, AnyTool]) -> dict[str, AnyTool]:
    known = dict(tools)
    for tool in tools.values():
        for helper in (tool.undo, tool.probe):
            if helper is not None and known.setdefault(helper.name, helper) is not helper:
                raise BadTool(f"two tools have the name {helper.name!r}", hint="Give one another: @tool(name=…).")
    return known
