"""Speculation in LangChain agents. Needs the package `langchain`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, NotRequired

from langchain_core.messages import AIMessage, HumanMessage

from langchain_ssr.chat_model import ChatSSR
from langchain_ssr.settings import merge_call_settings
from langchain_ssr.totals import SpeculationTotals

try:
    from langchain.agents.middleware.types import (
        AgentMiddleware,
        AgentState,
        ExtendedModelResponse,
        ModelRequest,
        ModelResponse,
        OmitFromInput,
    )
    from langgraph.types import Command
except ImportError as error:
    msg = (
        "SpeculationMiddleware is for agents of the package langchain, which is not "
        "installed or too old. Install it with: pip install 'langchain>=1.5,<2'"
    )
    raise ImportError(msg) from error

StepSettings = Callable[[int, Mapping[str, Any]], Mapping[str, Any] | None]
"""Settings of a step, from its number in the turn (0 first) and the agent's state."""


def add_totals(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Add totals that are dictionaries, as they are in an agent's state."""
    left = SpeculationTotals.model_validate(one)
    return (left + SpeculationTotals.model_validate(other)).to_dict()


class SpeculationState(AgentState[Any]):
    """An agent's state with the totals of speculation."""

    speculation: NotRequired[Annotated[dict[str, Any], OmitFromInput, add_totals]]


class SpeculationMiddleware(AgentMiddleware[SpeculationState, Any, Any]):
    """Sets speculation for each step of an agent, and adds up what it did.

    The agent's state gets `"speculation"`: `SpeculationTotals.to_dict()` over all of
    the conversation's model calls, also with a checkpointer.

    Args:
        settings: Call settings of `ChatSSR` for every step, or a function of the
            step's number and the agent's state that returns them. Steps are the model
            calls since the last human message, from 0. The settings win over those
            that the agent or an outer middleware made; models of other classes, such
            as a fallback, don't get them.

    Raises:
        SettingsError: If `settings` holds an unknown name or a bad value.

    Example:
        ```python
        from langchain.agents import create_agent
        from langchain_ssr.middleware import SpeculationMiddleware

        def weather(city: str) -> str:
            "Tell the weather in a city."
            return "Rain."

        def settings(step, state):
            return {"draft_budget": 64} if step == 0 else {"iterative": False}

        speculation = SpeculationMiddleware(settings)
        agent = create_agent(llm, [weather], middleware=[speculation])
        state = agent.invoke({"messages": "What is the weather in Oslo?"})
        state["speculation"]["num_saved_steps"]
        ```
    """

    state_schema = SpeculationState

    def __init__(
        self, settings: Mapping[str, Any] | StepSettings | None = None
    ) -> None:
        """Check the settings and keep them."""
        super().__init__()
        if isinstance(settings, Mapping):
            merge_call_settings(settings)
        self._settings = settings

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Make a step's settings, and count its response. Called by the agent."""
        return _count(handler(self._set(request)))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Make a step's settings, and count its response. Called by the agent."""
        return _count(await handler(self._set(request)))

    def _set(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        settings = self._settings
        if callable(settings):
            settings = settings(_step(request), request.state)
        if not settings or not isinstance(request.model, ChatSSR):
            return request
        return request.override(model_settings={**request.model_settings, **settings})


def _step(request: ModelRequest[Any]) -> int:
    """Count the model's messages since the last one of the user."""
    step = 0
    for message in reversed(request.messages):
        if isinstance(message, HumanMessage):
            break
        step += isinstance(message, AIMessage)
    return step


def _count(
    response: ModelResponse[Any],
) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
    totals = SpeculationTotals.of_messages(response.result)
    if not totals.num_responses:
        return response
    command: Command[Any] = Command(update={"speculation": totals.to_dict()})
    return ExtendedModelResponse(model_response=response, command=command)
