"""Every setting of a call, as pydantic models.

`SpeculationSettings` crosses the wire (constructor, `model_kwargs`, per call, server);
`CallSettings` adds what else may change from call to call. What is fixed when the chat
model is built is in `connection.py`. `None` always means "the default".
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AliasChoices,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    field_validator,
    model_validator,
)

from langchain_ssr.errors import SettingsError
from langchain_ssr.settings_base import (
    LARGEST_INT,
    NonNegativeInt,
    PositiveInt,
    Settings,
    drop_none,
)
from langchain_ssr.sources import SOURCES, SourceName

Temperature = Annotated[float, Field(ge=0, le=2)]
"""As vLLM has it. For a draft it would find out too late, inside the engine."""

REPLACED_BY_A_LIST = ("iterative", "draft_interval", "max_drafts")
"""Settings that say nothing beside a list of draft budgets."""

_NOT_IN_EXTRA_BODY = frozenset({"n", "stream"})
"""Fields of a request that say how its response is to be read."""

_SEVERAL = (list, tuple, set, frozenset)
"""What is taken as a list."""


def suggest(name: str, known: Iterable[str]) -> str:
    """Say "did you mean ...?" for the known name closest to `name`, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean {close[0]!r}?" if close else ""


class SpeculationSettings(Settings):
    """How drafts are made and used. All of it leaves the answers as they are.

    Example:
        ```python
        from langchain_ssr.settings import SpeculationSettings

        early = SpeculationSettings(draft_budget=[64, 256], draft_temperature=0)
        llm.bind(**early.model_dump(exclude_unset=True)).invoke("Hi")
        ```
    """

    speculation: StrictBool = True
    """Draft and propose tokens at all. `False` in the constructor gives a plain
    vLLM engine, `False` in a call a plain request on the same engine."""
    draft_budget: (
        PositiveInt
        | Annotated[list[PositiveInt], Field(min_length=1)]
        | Literal["auto"]
    ) = "auto"
    """Reasoning tokens before the first draft; a list names every draft's position.
    "auto" drafts at 128, 256, 512, ..., and learns where drafts pay."""
    iterative: StrictBool = True
    """Draft again as the reasoning goes on. `False`: one draft."""
    draft_interval: PositiveInt | None = None
    """Reasoning tokens between drafts. Default: `draft_budget`."""
    max_drafts: NonNegativeInt = 8
    """Most drafts for one request; 0 for none."""
    max_draft_tokens: PositiveInt | None = None
    """Longest draft, in tokens. Default: as long as the answer may be."""
    draft_temperature: Temperature | None = None
    """Sampling temperature of the drafts. Default: the request's."""
    speculate_reasoning: StrictBool = True
    """Also propose tokens while the model thinks."""
    sources: list[SourceName] | None = None
    """Where proposed tokens may come from; order and repetitions say nothing. Without
    "draft_prefix" and "draft_suffix" no draft is made. Default: all."""
    prediction: StrictStr | dict[str, Any] | None = None
    """Text that the answer will probably repeat, for example the file to be edited."""
    num_speculative_tokens: Annotated[StrictInt, Field(ge=1, le=128)] = 32
    """Most tokens proposed in one step: the engine's limit in the constructor, a
    lower limit per call."""
    speculation_stats: Literal["none", "summary", "detailed"] = "summary"
    """How much of `response_metadata["speculation"]` is filled in; "none" leaves it
    out."""
    stream_drafts: StrictBool = False
    """Deliver the text of drafts while the model still thinks."""

    @field_validator("draft_budget")
    @classmethod
    def _ascending(cls, value: Any) -> Any:
        if isinstance(value, list) and sorted(set(value)) != value:
            msg = f"a list of draft budgets must ascend, but is {value}"
            raise ValueError(msg)
        return value

    @field_validator("sources", mode="before")
    @classmethod
    def _known_sources(cls, value: Any) -> Any:
        """Suggest a name for an unknown one; other mistakes are left to pydantic."""
        for name in value if isinstance(value, _SEVERAL) else ():
            if isinstance(name, str) and name not in SOURCES:
                msg = (
                    f"there is no source {name!r}.{suggest(name, SOURCES)} "
                    f"Known: {', '.join(SOURCES)}"
                )
                raise ValueError(msg)
        return value

    @field_validator("sources")
    @classmethod
    def _each_source_once(cls, value: list[str] | None) -> list[str] | None:
        return value and [name for name in SOURCES if name in value]

    @field_validator("prediction")
    @classmethod
    def _content_part(cls, value: Any) -> Any:
        """Reduce OpenAI's `{"type": "content", "content": ...}` to its text."""
        if not isinstance(value, dict):
            return value
        content = value.get("content")
        if isinstance(content, list):
            content = "".join(
                part.get("text", "") for part in content if isinstance(part, dict)
            )
        if value.get("type") != "content" or not isinstance(content, str):
            msg = 'a prediction is a string or {"type": "content", "content": "..."}'
            raise ValueError(msg)
        return content

    @model_validator(mode="after")
    def _list_stands_alone(self) -> Self:
        if not isinstance(self.draft_budget, list):
            return self
        for name in REPLACED_BY_A_LIST:
            if getattr(self, name) != type(self).model_fields[name].default:
                msg = (
                    f"draft_budget={self.draft_budget} already names every draft; "
                    f"{name} cannot be set beside it"
                )
                raise ValueError(msg)
        return self


class CallSettings(SpeculationSettings):
    """Everything that may differ from call to call.

    Example:
        ```python
        from langchain_ssr.settings import CallSettings

        short = CallSettings(temperature=0, max_tokens=200, thinking_budget=100)
        llm.invoke("Hi", **short.model_dump(exclude_unset=True))
        ```
    """

    temperature: Temperature | None = None
    """Sampling temperature, 0 to 2; 0 is greedy. Default: the model's own, as for all
    sampling settings."""
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    """Probability, above 0 and up to 1, that the tokens to sample from sum to."""
    top_k: Annotated[StrictInt, Field(ge=-1, le=LARGEST_INT)] | None = None
    """Most likely tokens to sample from; 0 or -1 for all."""
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    """Least probability of a token to sample, as a share of the likeliest one's."""
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    """Taken, -2 to 2, from the logits of tokens that the output has."""
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    """The same, -2 to 2, for each time that the output has the token."""
    repetition_penalty: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Factor against tokens that the prompt or the output has; 1 for none."""
    max_tokens: PositiveInt | None = Field(
        default=None,
        validation_alias=AliasChoices(
            "max_tokens", "max_completion_tokens", "max_tokens_to_sample"
        ),
    )
    """Most tokens to generate, reasoning included. Default: what the context holds."""
    stop: list[StrictStr] | None = Field(
        default=None, validation_alias=AliasChoices("stop", "stop_sequences")
    )
    """Strings that end the answer; they are left out of it."""
    seed: Annotated[StrictInt, Field(ge=-LARGEST_INT, le=LARGEST_INT)] | None = None
    """Seed of the request's random numbers."""
    n: PositiveInt = 1
    """Number of answers to one prompt; a stream carries one."""
    logprobs: StrictBool | None = None
    """Tell the log-probability of each token, in `response_metadata["logprobs"]`."""
    top_logprobs: Annotated[StrictInt, Field(ge=0, le=20)] | None = None
    """Tell so of the likeliest tokens of each position, too: of how many, 0 to 20."""
    enable_thinking: StrictBool | Literal["auto"] | None = "auto"
    """Let the model think first. `"auto"`: yes, where it was trained to, unless
    `reasoning_effort` says it. `None`: as the chat template does by itself."""
    thinking_budget: NonNegativeInt | None = None
    """Most reasoning tokens; the engine closes the reasoning when they are spent."""
    reasoning_effort: (
        Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None
    ) = None
    """How long to think, for models whose chat template knows such levels."""
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Further variables of the model's chat template."""
    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of vLLM's chat-completions request."""

    @field_validator("stop", mode="before")
    @classmethod
    def _one_stop(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("stop")
    @classmethod
    def _no_empty_stop(cls, value: list[str] | None) -> list[str] | None:
        if value and "" in value:
            msg = "a stop string must not be empty"
            raise ValueError(msg)
        return value

    @field_validator("extra_body")
    @classmethod
    def _fields_of_ours(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in _NOT_IN_EXTRA_BODY & set(value):
            msg = f"{name!r} follows from the call and cannot be set here"
            raise ValueError(msg)
        if not isinstance(value.get("vllm_xargs"), dict | None):
            msg = "'vllm_xargs' must be a dictionary"
            raise ValueError(msg)  # noqa: TRY004 - pydantic wants it
        return value

    @model_validator(mode="after")
    def _logprobs_for_top(self) -> Self:
        if self.top_logprobs and self.logprobs is False:
            msg = "top_logprobs needs logprobs=True"
            raise ValueError(msg)
        return self


def check_names(given: Iterable[str], known: Iterable[str], where: str) -> None:
    """Refuse names that are not known.

    Args:
        given: Names that the user wrote.
        known: Names that mean something here.
        where: What the names are settings of, for the message.

    Raises:
        SettingsError: If a name is not known; the message suggests the closest.
    """
    known = sorted(known)
    for name in given:
        if name not in known:
            raise SettingsError(
                f"Unknown setting {name!r} for {where}.{suggest(name, known)}"
            )


def merge_call_settings(*layers: Mapping[str, Any]) -> CallSettings:
    """Validate call settings, where later layers override earlier ones.

    Args:
        layers: Settings by name or alias. `None` leaves the earlier layer in force
            (for `enable_thinking` it is a value of its own).

    Returns:
        The settings in force. Its `model_fields_set` names what somebody set.

    Raises:
        SettingsError: If a name is unknown or a value is out of range. The message
            names the field.
    """
    names = CallSettings.canonical_names()
    merged: dict[str, Any] = {}
    for layer in layers:
        check_names(layer, names, "a call")
        given = {names[key]: value for key, value in drop_none(layer).items()}
        if isinstance(given.get("draft_budget"), list):
            for name in REPLACED_BY_A_LIST:
                merged.pop(name, None)
        merged.update(given)
    try:
        return CallSettings.model_validate(merged)
    except ValidationError as error:
        raise SettingsError(describe(error)) from None


def describe(error: ValidationError) -> str:
    """Say in one line a field what is wrong with it, without pydantic's links."""
    problems = []
    for problem in error.errors(include_url=False, include_context=False):
        where = str(problem["loc"][0]) if problem["loc"] else ""
        text = problem["msg"].removeprefix("Value error, ")
        given = f" (got {problem['input']!r})" if where else ""
        problems.append(f"{where}: {text}{given}" if where else text)
    return "; ".join(dict.fromkeys(problems))
