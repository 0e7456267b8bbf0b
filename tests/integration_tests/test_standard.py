"""LangChain's standard integration tests, with every ability that we have.

`make standard-tests` prints what passed, what was skipped, and why.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_tests.integration_tests import ChatModelIntegrationTests

from langchain_ssr import ChatSSR
from tests.capabilities import Capabilities
from tests.integration_tests.conftest import FLOAT32, REASONING_MODEL, EnginePool

pytestmark = pytest.mark.engine

SETTINGS: dict[str, Any] = {
    "model": REASONING_MODEL,
    "engine_kwargs": FLOAT32,
    "enable_thinking": True,
    "thinking_budget": 200,
    "max_tokens": 500,
    "temperature": 0,
}
SMOLLM2: dict[str, dict[str, Any]] = {
    "test_structured_output": {},
    "test_tool_calling": {"enable_thinking": False},
    "test_tool_calling_async": {"enable_thinking": False},
    "test_unicode_tool_call_integration": {"enable_thinking": False},
}
"""Tests that SmolLM2 serves better, by name or its beginning: it can make up a joke,
and copy a number or a Chinese name. The other model was trained for other things."""
LONG = "What is this about: " + "one two three four five six seven eight " * 20


def smollm2_settings(name: str) -> dict[str, Any] | None:
    """Return SmolLM2's settings for a test, or `None` if it is not for SmolLM2."""
    name = name.partition("[")[0]
    if name.startswith("test_structured_output"):
        name = "test_structured_output"
    return SMOLLM2.get(name)


def engine_of(item: pytest.Item) -> str:
    """Name the engine of a test; conftest.py puts those of one together."""
    return REASONING_MODEL if smollm2_settings(item.name) is None else "smollm2"


class TestChatSSR(Capabilities, ChatModelIntegrationTests):
    @pytest.fixture(autouse=True)
    def _engines(self, pool: EnginePool) -> None:
        """Keep the session's engines for `ask`, which no fixture can be passed to."""
        self.pool = pool

    @pytest.fixture
    def model(self, request: pytest.FixtureRequest, pool: EnginePool) -> ChatSSR:
        """Return a model for the test, on the session's engine."""
        own = smollm2_settings(request.node.name)
        given = SETTINGS if own is None else {**SETTINGS, "model": "smollm2", **own}
        settings = {**given, **getattr(request, "param", {})}
        return pool.model(settings.pop("model"), **settings)

    @property
    def chat_model_class(self) -> type[ChatSSR]:
        return ChatSSR

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return SETTINGS

    @property
    def supports_anthropic_inputs(self) -> bool:
        return True

    @property
    def supported_usage_metadata_details(self) -> dict[str, list[str]]:
        details = ["reasoning_output", "cache_read_input"]
        return {"invoke": details, "stream": details}

    @property
    def supports_image_inputs(self) -> bool:
        return False  # the model takes text only

    @property
    def supports_model_override(self) -> bool:
        return False  # another model is another engine

    def invoke_with_reasoning_output(self, *, stream: bool = False) -> AIMessage:
        message = self.ask("Is 7 an even number?", stream=stream)
        assert message.usage_metadata["output_token_details"]["reasoning"] > 0
        return message

    def invoke_with_cache_read_input(self, *, stream: bool = False) -> AIMessage:
        self.ask(LONG, stream=stream)
        message = self.ask(LONG, stream=stream)
        assert message.usage_metadata["input_token_details"]["cache_read"] > 0
        return message

    def ask(self, prompt: str, *, stream: bool) -> AIMessage:
        settings = {**SETTINGS, "thinking_budget": 20, "max_tokens": 40}
        llm = self.pool.model(settings.pop("model"), **settings)
        return reduce(add, llm.stream(prompt)) if stream else llm.invoke(prompt)
