"""A prompt that does not fit: the error tells both lengths, however it was asked."""

from __future__ import annotations

import asyncio
import pickle
import threading

import pytest

from langchain_ssr import ChatSSR
from langchain_ssr.backends.embedded import EmbeddedBackend
from langchain_ssr.errors import ContextLengthError, from_wire
from langchain_ssr.prompt_length import telling_length
from tests.unit_tests.fake_server import WAYS, Failure, FakeServer, ask
from tests.unit_tests.test_errors import CHARACTERS

pytestmark = pytest.mark.usefixtures("unknown_servers")

every_way = pytest.mark.parametrize("way", WAYS)
AT_LEAST = (
    "This model's maximum context length is 2048 tokens. However, your prompt contains "
    "at least 2049 input tokens, which exceeds this limit."
)
EXACT = AT_LEAST.replace("at least 2049", "5000")
NO_ROOM = "max_tokens must be at least 1, got 0."


def server(message: str, *, count: int | None) -> FakeServer:
    fake = FakeServer(Failure(400, {"error": {"message": message, "code": 400}}))
    if count is not None:
        answer = {"count": count, "tokens": list(range(count))}
        fake.other["http://server.test/tokenize"] = answer
    return fake


def refusal(llm: ChatSSR, way: str, **call) -> ContextLengthError:
    with pytest.raises(ContextLengthError) as info:
        ask(llm, way, "too long", **call)
    return info.value


@every_way
@pytest.mark.parametrize("message", [CHARACTERS, AT_LEAST])
def test_server_counts_what_its_error_does_not_tell(way, message):
    error = refusal(server(message, count=9000).llm(), way)
    assert (error.max_tokens, error.num_tokens) == (2048, 9000)
    assert not error.is_lower_bound
    assert error.__notes__ == ["The prompt has 9000 tokens."]
    assert str(error) == error.message == message
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (again.max_tokens, again.num_tokens) == (2048, 9000)


@every_way
def test_prompt_that_fills_the_context_is_as_long_as_the_context(way):
    error = refusal(server(NO_ROOM, count=2048).llm(), way)
    assert (error.max_tokens, error.num_tokens) == (2048, 2048)


@every_way
def test_what_the_engine_counted_is_not_counted_again(way):
    fake = server(EXACT, count=9000)
    assert refusal(fake.llm(), way).num_tokens == 5000
    assert not [path for path in fake.paths if path.endswith("tokenize")]


@every_way
@pytest.mark.parametrize(("message", "known"), [(CHARACTERS, None), (AT_LEAST, 2049)])
def test_counting_that_fails_leaves_the_error_as_it_is(way, message, known):
    error = refusal(server(message, count=None).llm(), way)
    assert (error.max_tokens, error.num_tokens) == (2048, known)
    assert error.is_lower_bound is bool(known)
    assert not hasattr(error, "__notes__")


def test_count_below_the_engines_own_is_not_believed():
    error = refusal(server(AT_LEAST, count=40).llm(), "invoke")  # images, for example
    assert (error.num_tokens, error.is_lower_bound) == (2049, True)


@every_way
def test_engine_in_this_process(monkeypatch, way):
    def fail(*_):
        raise from_wire({"message": CHARACTERS, "code": 400}, 2048)

    async def afail(*_):
        fail()

    async def astream(*_):
        fail()
        yield {}

    for name, method in {
        "complete": fail,
        "acomplete": afail,
        "stream": lambda *_: (fail() for _ in "a"),
        "astream": astream,
    }.items():
        monkeypatch.setattr(EmbeddedBackend, name, method)
    asked = []

    def prompt_ids(llm, messages, **call):
        asked.append((messages[0].text, call.get("enable_thinking")))
        return [0] * 9000

    monkeypatch.setattr(ChatSSR, "get_prompt_token_ids", prompt_ids)
    error = refusal(ChatSSR(model="demo"), way, enable_thinking=False)
    assert (error.max_tokens, error.num_tokens) == (2048, 9000)
    assert asked == [("too long", False)]


def test_other_errors_count_nothing():
    def fail():
        raise AssertionError

    with pytest.raises(KeyError), telling_length(fail):
        raise KeyError
    with telling_length(fail):
        pass


def test_event_loop_goes_on_while_the_prompt_is_counted(monkeypatch):
    threads = []

    def prompt_ids(*_, **__):
        threads.append(threading.current_thread())
        return [0] * 9000

    monkeypatch.setattr(ChatSSR, "get_prompt_token_ids", prompt_ids)
    llm = server(CHARACTERS, count=None).llm()
    with pytest.raises(ContextLengthError):
        asyncio.run(llm.ainvoke("hi"))
    assert threads != [threading.main_thread()]
