"""A real engine whose model has markers of reasoning of several tokens each."""

from __future__ import annotations

from typing import Any

import pytest
import transformers
from langchain_core.messages import AIMessage

from langchain_ssr import ChatSSR
from tests.integration_tests import tiny_models
from tests.integration_tests.conftest import EnginePool
from tests.integration_tests.test_life import assert_idle

pytestmark = pytest.mark.engine

TOKENS = {"<think>": "</", "</think>": "think", "<tool_response>": "Ġ</"}
OFTEN: dict[str, Any] = {"draft_budget": [4, 8, 16], "max_tokens": 90}


@pytest.fixture
def llm(pool: EnginePool, tmp_path_factory: pytest.TempPathFactory) -> ChatSSR:
    """A model whose tokenizer splits the markers, as that of OLMo 3 does."""
    folder = tiny_models.make(tmp_path_factory.mktemp("long") / "qwen3", "qwen3")
    for file in folder.glob("tokenizer*.json"):
        text = file.read_text(encoding="utf-8")
        for old, new in TOKENS.items():
            text = text.replace(f'"{old}"', f'"{new}"')
        file.write_text(text, encoding="utf-8")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert len(tokenizer.encode("<think>")) == len(tokenizer.encode("</think>")) == 3
    return pool.model(str(folder), engine_kwargs={"reasoning_parser": "olmo3"})


def said(message: AIMessage) -> tuple[str, str]:
    return message.additional_kwargs["reasoning_content"], message.text


@pytest.mark.parametrize("budget", [9, 30])
def test_drafts_close_the_reasoning_and_the_answer_is_the_same(
    llm: ChatSSR, budget: int
) -> None:
    call = {"enable_thinking": True, "thinking_budget": budget, **OFTEN}
    plain = llm.invoke("hello", speculation=False, **call)
    fast = llm.invoke("hello", **call)
    assert said(fast) == said(plain)
    assert all(said(plain))
    stats = fast.response_metadata["speculation"]
    budgets = [draft["budget"] for draft in stats["drafts"]]
    assert budgets  # a burst may pass one by
    assert set(budgets) <= {each for each in OFTEN["draft_budget"] if each < budget}
    assert stats["num_saved_steps"] > 0
    assert_idle(llm)
