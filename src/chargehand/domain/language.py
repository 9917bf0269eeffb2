"""The form of a plan's text: which fields there are and what they may hold. `chargehand schema` prints it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from chargehand.domain.inputs import InputType

MAX_STEPS = 5_000  # a plan that a person could still look at, folded; checking it takes about two seconds

Condition = Annotated[str, Field(description="A CEL expression over `inputs` and earlier steps.")]
JsonSchema = Annotated[dict[str, Any], Field(description="A JSON Schema.")]


class Form(BaseModel):
    # Built when first used: reading a plan needs them, importing the package does not.
    model_config = ConfigDict(
        extra="forbid", strict=True, populate_by_name=True, protected_namespaces=(), defer_build=True
    )


class LimitsForm(Form):
    """What a step may take at the most."""

    seconds: float | None = Field(None, gt=0, description="Time for the whole step, tries included.")
    usd: float | None = Field(None, ge=0, description="Money for the whole step.")


class InputForm(Form):
    """One input of a plan or playbook."""

    type: InputType = Field("text", description="What it holds; dates and times may be given in words.")
    form: JsonSchema | None = Field(None, alias="schema", description="A JSON Schema, for what `type` cannot say.")
    choices: list[str] = Field(default_factory=list, description="The only texts that are allowed.")
    description: str = ""
    default: Any = Field(None, description="Taken when nothing is given.")
    value: Any = Field(None, description="What was given; set by the planner.")


class StepForm(Form):
    """One unit of work: `use` a tool, `ask` a skill, or pursue a `goal`."""

    id: str = Field(description="A name for the step: letters, digits and underscores.")
    use: str | None = Field(None, description="The tool to use, or anything that provides it.")
    ask: str | None = Field(None, description="The skill to ask for; a specialist is chosen when the step runs.")
    task: str | None = Field(None, description="With `ask`: what to do, in words.")
    goal: str | None = Field(None, description="A sub-goal, planned by itself.")
    with_: dict[str, Any] = Field(
        default_factory=dict, alias="with", description="Arguments; {$: EXPRESSION} refers to inputs and earlier steps."
    )
    returns: JsonSchema | None = Field(None, description="With `ask` or `goal`: the JSON Schema of the result.")
    after: list[str] = Field(default_factory=list, description="Steps to wait for without using their output.")
    when: Condition | None = Field(None, description="Skip the step unless this holds.")
    each: Condition | None = Field(None, description="A list: the step runs once for each `item` of it.")
    maybe: list[str] = Field(default_factory=list, description="Steps that are null here if they were skipped.")
    expect: list[Condition] = Field(default_factory=list, description="What must hold for `output` to count as done.")
    if_fails: Literal["revise", "skip", "stop"] = Field("revise", description="What happens when the step fails.")
    limits: LimitsForm | None = Field(None)


class PlanForm(Form):
    """A Chargehand plan."""

    goal: str = Field("", description="What the plan is for.")
    inputs: dict[str, InputForm] = Field(default_factory=dict, description="What the plan is told from outside.")
    all_or_nothing: bool = Field(False, description="Undo the finished writes if the goal cannot be reached.")
    steps: list[StepForm] = Field(default_factory=list[StepForm], max_length=MAX_STEPS)
    answer: Any = Field(None, description="The result: a value with {$: EXPRESSION} inside.")
    revision: int = Field(0, ge=0, description="How often the plan was revised.")


class PatchForm(Form):
    """A change of the pending steps of a plan."""

    add: list[StepForm] = Field(default_factory=list[StepForm], description="New steps.")
    replace: list[StepForm] = Field(
        default_factory=list[StepForm], description="Steps that take the place of pending ones."
    )
    drop: list[str] = Field(default_factory=list, description="The ids of pending steps that go away.")
    answer: Any = Field(None, description="A new answer, where it changes.")


def plan_schema() -> dict[str, Any]:
    """The JSON Schema of the plan language."""
    schema = PlanForm.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
