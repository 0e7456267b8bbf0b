"""Early drafts on their three ways, from every kind of call."""

from __future__ import annotations

import pytest
from langchain_core.callbacks import (
    AsyncCallbackHandler,
    BaseCallbackHandler,
    dispatch_custom_event,
)
from langchain_core.runnables import RunnableLambda, RunnableParallel

from langchain_ssr import (
    ChatSSR,
    SpeculationCallbackHandler,
    get_speculation_callback,
)
from langchain_ssr.draft_channels import wants_drafts
from tests.unit_tests.ssr_backend import DRAFTS, answer, use
from tests.unit_tests.test_callbacks import PROMPT, WAYS, ask

EVENTS = [{"index": draft.index, "text": draft.text} for draft in DRAFTS]
WRITTEN = [{"type": "ssr_draft", **event} for event in EVENTS]


class Listener(BaseCallbackHandler):
    """Keeps custom events."""

    def __init__(self) -> None:
        self.events: list = []

    def on_custom_event(self, name, data, **kwargs):
        assert name == "ssr_draft"
        self.events.append(data)


class AsyncListener(AsyncCallbackHandler):
    """Keeps custom events."""

    def __init__(self) -> None:
        self.events: list = []

    async def on_custom_event(self, name, data, **kwargs):
        self.events.append(data)


@pytest.fixture
def backend(monkeypatch):
    return use(monkeypatch)


@pytest.fixture
def llm(backend) -> ChatSSR:
    return ChatSSR(model="smollm2", stream_drafts=True)


# --- who asks for drafts ----------------------------------------------------------


@pytest.mark.parametrize("how", WAYS)
async def test_a_hook_for_drafts_asks_for_them(backend, how):
    seen = []
    with get_speculation_callback(on_draft=seen.append):
        await ask(ChatSSR(model="smollm2"), how)
    assert backend.settings == [{"stream_drafts": True}]
    assert seen == DRAFTS


@pytest.mark.parametrize("how", WAYS)
async def test_a_setting_wins_over_the_hook(backend, how):
    seen = []
    with get_speculation_callback(on_draft=seen.append):
        await ask(ChatSSR(model="smollm2", stream_drafts=False), how)
        await ask(ChatSSR(model="smollm2").bind(stream_drafts=False), how)
    assert backend.settings == [{}, {}]
    assert seen == []


def test_without_a_hook_nobody_asks(backend):
    llm = ChatSSR(model="smollm2")
    with get_speculation_callback(on_verify=lambda _: None):
        llm.invoke("hi")
    assert backend.settings == [{}]


def test_a_call_that_nobody_watches_is_no_stream(llm, backend):
    llm.invoke("hi")
    assert "stream" not in backend.requests[0]


def test_several_choices_are_no_stream(llm, backend):
    seen = []
    with get_speculation_callback(on_draft=seen.append) as callback:
        llm.generate([PROMPT.format_messages(text="hi")], n=2)
    assert "stream" not in backend.requests[0]
    assert seen == []
    assert callback.total.num_responses == 1


def test_without_speculation_there_are_no_drafts(backend):
    seen = []
    with get_speculation_callback(on_draft=seen.append):
        ChatSSR(model="smollm2", speculation=False).invoke("hi")
    assert "vllm_xargs" not in backend.requests[0]
    assert seen == []


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
async def test_a_call_with_drafts_gives_the_same_message(monkeypatch, how):
    said = answer("Hello", ("look_up", {"city": "Zürich"}))
    llm = ChatSSR(model="smollm2", stream_usage=False)
    use(monkeypatch, said)
    plain = await ask(llm, how)
    use(monkeypatch, said)
    with get_speculation_callback(on_draft=lambda _: None):
        watched = await ask(llm, how)
    assert watched == plain
    assert watched.usage_metadata["output_tokens"] == 22


# --- a model called by itself -----------------------------------------------------


@pytest.mark.parametrize("how", WAYS)
async def test_a_bare_call_with_any_handler_works(llm, how):
    """langchain-core cannot deliver events from it; it must not raise either."""
    handlers = [Listener(), SpeculationCallbackHandler(on_draft=print)]
    message = await ask(llm.with_config(callbacks=handlers), how)
    assert message.text == "Hello"


# --- chains -----------------------------------------------------------------------


@pytest.mark.parametrize("listener", [Listener, AsyncListener])
@pytest.mark.parametrize("how", WAYS)
async def test_a_chain_sends_custom_events(llm, how, listener):
    handler = listener()
    chain = RunnableLambda(lambda x: x) | llm
    await ask(chain.with_config(callbacks=[handler]), how)
    assert handler.events == EVENTS


@pytest.mark.parametrize("how", WAYS)
async def test_a_handler_with_a_hook_gets_each_piece_once(llm, how):
    chain = RunnableLambda(lambda x: x) | llm
    by_config, by_context = [], []
    handler = SpeculationCallbackHandler(on_draft=by_config.append)
    with get_speculation_callback(on_draft=by_context.append) as also:
        await ask(chain.with_config(callbacks=[handler, also]), how)
    assert by_config == by_context == DRAFTS


def test_other_custom_events_are_no_drafts():
    seen = []
    step = RunnableLambda(lambda _: dispatch_custom_event("other", EVENTS[0]))
    handler = SpeculationCallbackHandler(on_draft=seen.append)
    step.invoke("hi", {"callbacks": [handler]})
    assert seen == []


async def test_event_streams_show_drafts(llm):
    chain = PROMPT | llm
    events = [
        event["data"]
        async for event in chain.astream_events({"text": "hi"}, version="v2")
        if event["event"] == "on_custom_event" and event["name"] == "ssr_draft"
    ]
    assert events == EVENTS


async def test_models_that_answer_at_once_keep_their_drafts_apart(llm):
    seen = {"one": Listener(), "other": AsyncListener()}
    both = RunnableParallel(
        {
            name: (RunnableLambda(lambda x: x) | llm).with_config(callbacks=[handler])
            for name, handler in seen.items()
        }
    )
    both.invoke("hi")
    await both.ainvoke("hi")
    assert [handler.events for handler in seen.values()] == [EVENTS * 2] * 2


def test_a_handler_that_raises_does_what_it_says(llm):
    """As everywhere in LangChain: logged, unless the handler asks for more."""

    class Broken(BaseCallbackHandler):
        def on_custom_event(self, *args, **kwargs):
            raise OSError

    chain = RunnableLambda(lambda x: x) | llm
    assert chain.invoke("hi", {"callbacks": [Broken()]}).text == "Hello"
    strict = Broken()
    strict.raise_error = True
    with pytest.raises(OSError):
        chain.invoke("hi", {"callbacks": [strict]})


# --- graphs and agents ------------------------------------------------------------


@pytest.fixture
def graph(llm):
    """A graph of one node, synchronous and asynchronous."""
    graphs = pytest.importorskip("langgraph.graph")

    def node(state):
        return {"messages": [llm.invoke(state["messages"])]}

    async def anode(state):
        return {"messages": [await llm.ainvoke(state["messages"])]}

    builder = graphs.StateGraph(graphs.MessagesState)
    builder.add_node("model", RunnableLambda(node, anode))
    builder.add_edge("__start__", "model")
    return builder.compile()


@pytest.fixture
def agent(llm):
    agents = pytest.importorskip("langchain.agents")
    return agents.create_agent(llm)


@pytest.fixture(params=["graph", "agent"])
def runner(request):
    return request.getfixturevalue(request.param)


QUESTION = {"messages": [("user", "hi")]}


def test_custom_stream_mode(runner):
    assert list(runner.stream(QUESTION, stream_mode="custom")) == WRITTEN


async def test_custom_stream_mode_async(runner):
    stream = runner.astream(QUESTION, stream_mode="custom")
    assert [data async for data in stream] == WRITTEN


def test_drafts_come_between_the_pieces_of_the_answer(runner):
    modes = [m for m, _ in runner.stream(QUESTION, stream_mode=["messages", "custom"])]
    assert modes[0] == "messages"
    assert modes[1:4] == ["custom"] * 3
    assert set(modes[4:]) == {"messages"}


async def test_a_graph_sends_custom_events_and_calls_hooks(runner):
    seen, handler = [], Listener()
    with get_speculation_callback(on_draft=seen.append) as callback:
        runner.invoke(QUESTION, {"callbacks": [handler]})
        await runner.ainvoke(QUESTION, {"callbacks": [handler]})
    assert seen == DRAFTS * 2
    assert handler.events == EVENTS * 2
    assert callback.total.num_responses == 2


def test_other_streams_of_a_graph_show_no_drafts(runner):
    (update,) = runner.stream(QUESTION, stream_mode="updates")
    assert [m.text for m in update["model"]["messages"]] == ["Hello"]


@pytest.mark.parametrize("raw", ["no json", "[1]", "1", None])
def test_settings_that_are_none_ask_for_no_drafts(raw):
    assert not wants_drafts({"vllm_xargs": {"ssr": raw}})
