"""Token counts by the server's tokenizer, where it has an endpoint for it."""

from __future__ import annotations

import json

import httpx
import pytest
from langchain_core.exceptions import ModelNotFoundError
from langchain_core.messages import AIMessage, HumanMessage

from langchain_ssr import ChatSSR
from langchain_ssr.errors import ModelLoadError

ROOT = "http://server.test/prefix"


class Tokenizer:
    """A server with vLLM's `/tokenize`, or with something else there."""

    def __init__(self, status: int = 200, answer: object = None) -> None:
        self.status, self.answer = status, answer
        self.requests: list[tuple[str, dict]] = []

    def handle(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json={"data": [{"id": "other"}]})
        self.requests.append((str(request.url), json.loads(request.content)))
        answer = self.answer or {"count": 3, "max_model_len": 9, "tokens": [5, 6, 7]}
        return httpx.Response(self.status, json=answer)

    def llm(self, **settings) -> ChatSSR:
        client = httpx.Client(transport=httpx.MockTransport(self.handle))
        url = f"{ROOT}/v1"
        return ChatSSR(
            **{"model": "m", "base_url": url, "http_client": client, **settings}
        )


def test_text():
    server = Tokenizer()
    llm = server.llm(max_retries=0)
    assert llm.get_num_tokens("one two") == 3
    assert llm.get_token_ids("one two") == [5, 6, 7]
    url, sent = server.requests[-1]
    assert url == f"{ROOT}/tokenize"
    assert sent == {"model": "m", "prompt": "one two", "add_special_tokens": False}


def test_messages_and_tools():
    def f(x: int) -> int:
        """Add."""
        return x

    server = Tokenizer()
    messages = [HumanMessage("a"), AIMessage("b"), HumanMessage("c")]
    llm = server.llm(reasoning_effort="low")
    assert llm.get_num_tokens_from_messages(messages, tools=[f]) == 3
    _, sent = server.requests[-1]
    assert [message["content"] for message in sent["messages"]] == ["a", "b", "c"]
    assert sent["tools"][0]["function"]["name"] == "f"
    switches = {"enable_thinking": True, "reasoning_effort": "low"}
    assert sent["chat_template_kwargs"] == switches
    assert set(sent) == {"model", "messages", "tools", "chat_template_kwargs"}


def test_tokenizer_of_the_user_wins():
    server = Tokenizer()
    llm = server.llm(custom_get_token_ids=lambda text: [7] * len(text))
    assert llm.get_num_tokens("abc") == 3
    assert server.requests == []


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (404, {"detail": "Not Found"}),
        (405, {"detail": "Method Not Allowed"}),
        (422, {"detail": [{"msg": "Field required", "loc": ["inputs"]}]}),
        (501, {"error": {"message": "no"}}),
        (200, {"tokens": []}),  # another server's endpoint of this name
        (200, ["no"]),
    ],
)
def test_without_the_endpoint_the_models_own_tokenizer_counts(status, answer):
    llm = Tokenizer(status, answer).llm(model="no such model")
    with pytest.raises(ModelLoadError, match="no such model"):
        llm.get_num_tokens("one")
    with pytest.raises(ModelLoadError, match="no such model"):
        llm.get_num_tokens_from_messages([HumanMessage("one")])


def test_model_that_the_server_has_not_is_named():
    error = {"message": "The model `m` does not exist.", "code": 404}
    with pytest.raises(ModelNotFoundError, match="It has: 'other'"):
        Tokenizer(404, {"error": error}).llm().get_num_tokens("one")
