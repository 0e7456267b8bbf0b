"""The model object that asks a server: settings, secrets, copies, threads, its life."""

from __future__ import annotations

import copy
import pickle

import httpx
import pytest
from langchain_core.exceptions import ModelNotFoundError
from langchain_core.load import dumps
from pydantic import ValidationError

from langchain_ssr import ChatSSR
from tests.unit_tests.fake_server import (
    URL,
    FakeServer,
    ask,
    plain,
    response,
)

pytestmark = pytest.mark.usefixtures("unknown_servers")


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://x", "8000"])
def test_address_without_a_scheme_is_refused(url):
    with pytest.raises(ValidationError, match=r"(?s)base_url.*http://"):
        ChatSSR(model="m", base_url=url)


def test_address_of_the_environment(monkeypatch):
    monkeypatch.setenv("SSR_BASE_URL", f"{URL}/")
    fake = plain()
    llm = fake.llm(base_url=None)
    assert llm.base_url == URL
    assert ask(llm, "invoke").content == "Hi"
    assert ChatSSR(model="m", base_url="").base_url is None


def test_engine_arguments_do_not_go_with_a_server():
    with pytest.raises(
        ValidationError, match=r"engine_kwargs.*give them to the server"
    ):
        ChatSSR(model="m", base_url=URL, engine_kwargs={"max_model_len": 512})


def test_key_is_never_shown():
    llm = ChatSSR(model="m", base_url=URL, api_key="sk-secret")
    shown = [repr(llm), str(llm), dumps(llm), repr(llm._remote._connection)]
    assert not any("sk-secret" in text for text in shown)
    assert "http_client" not in repr(llm)


def test_key_that_no_header_takes_is_not_shown():
    llm = plain().llm(api_key="sk-sécret")
    with pytest.raises(ValueError, match="api_key") as info:
        llm.invoke("hi")
    assert "sécret" not in str(info.value)


@pytest.mark.kind(26)
def test_copies_ask_the_same_server():
    fake = plain()
    llm = fake.llm()
    llm.invoke("hi")
    for copied in (copy.copy(llm), copy.deepcopy(llm), llm.model_copy()):
        assert copied.http_client is llm.http_client
        assert copied.invoke("hi").content == "Hi"


@pytest.mark.kind(26)
def test_pickle_has_no_client():
    llm = ChatSSR(model="m", base_url=URL, api_key="k", max_retries=0)
    assert llm._remote._http is not None
    copied = pickle.loads(pickle.dumps(llm))  # noqa: S301
    assert copied._remote._connection == llm._remote._connection
    assert hash(copied._remote._connection) == hash(llm._remote._connection)


@pytest.mark.kind(21)
def test_two_event_loops_and_four_threads():
    from concurrent.futures import ThreadPoolExecutor

    fake = plain()
    for way in ("ainvoke", "astream"):
        with ThreadPoolExecutor(4) as pool:
            llms = [fake.llm() for _ in range(8)]
            done = pool.map(lambda llm, way=way: ask(llm, way).content, llms)
            assert set(done) == {"Hi"}


def test_batch_keeps_the_order():
    fake = FakeServer(lambda sent: response(sent["messages"][0]["content"]))
    answers = fake.llm().batch([str(i) for i in range(32)])
    assert [answer.content for answer in answers] == [str(i) for i in range(32)]


def test_client_of_the_wrong_kind_is_named():
    llm = ChatSSR(model="m", base_url=URL, http_client=object())
    with pytest.raises(TypeError, match="http_client"):
        llm.invoke("hi")


# --- life ----------------------------------------------------------------------------


def test_warmup_asks_for_the_model():
    fake = plain()
    assert fake.llm().warmup() is not None
    assert fake.paths == ["/models"]


async def test_warmup_asks_for_the_model_async():
    fake = plain()
    await fake.llm().awarmup()
    with pytest.raises(ModelNotFoundError, match="It has: 'm'"):
        await fake.llm(model="n").awarmup()


def test_info():
    fake = plain()
    fake.other["/models"] = {"data": [{"id": "m", "max_model_len": 512}, {"id": "n"}]}
    llm = fake.llm()
    llm.invoke("hi")
    assert llm.engine_info() == {
        "model": "m",
        "base_url": URL,
        "models": ["m", "n"],
        "vllm_version": None,
        "max_model_len": 512,
        "speculation": False,
    }


def test_close_leaves_the_users_client_open():
    fake = plain()
    with fake.llm() as llm:
        llm.invoke("hi")
    assert not llm.http_client.is_closed
    assert isinstance(llm.http_client, httpx.Client)
    assert llm.invoke("hi").content == "Hi"
