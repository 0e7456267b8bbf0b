"""The terminal chat, with a model that answers from memory."""

from __future__ import annotations

import io
import re
import signal

import pytest
from langchain_core.messages import AIMessageChunk
from rich.console import Console

from langchain_ssr import ChatSSR
from langchain_ssr.chat.conversation import Conversation
from langchain_ssr.chat.reading import read_message
from langchain_ssr.chat.view import View
from langchain_ssr.errors import ContextLengthError
from tests.unit_tests import ssr_backend
from tests.unit_tests.ssr_backend import answer


def reading(*lines):
    """Give lines in turn, raise what is an error, and then end."""
    left = iter(lines)

    def read(prompt: str) -> str:
        line = next(left, EOFError)
        if isinstance(line, type):
            raise line
        return line

    return read


@pytest.fixture
def out() -> Console:
    return Console(file=io.StringIO(), width=80)


@pytest.fixture
def terminal() -> Console:
    return Console(
        file=io.StringIO(), force_terminal=True, width=80, color_system="standard"
    )


def printed(out: Console) -> str:
    return out.file.getvalue()


@pytest.fixture
def backend(monkeypatch):
    return ssr_backend.use(monkeypatch, answer("Hello"), answer("Bye\nthen"))


@pytest.fixture
def chat(backend, out) -> Conversation:
    return Conversation(out, ChatSSR(model="smollm2"), "Be kind.")


def roles(request: dict) -> list[tuple[str, str]]:
    return [(m["role"], m["content"]) for m in request["messages"]]


# --- what is said --------------------------------------------------------------------


def test_thinking_answer_and_status_are_shown(chat, out):
    chat.run(reading("Hi"))
    assert re.fullmatch(
        r"They greet\.\n"
        r"Hello\n"
        r"22 tokens \(8 thinking\) in 12 steps, 45% saved, 2 drafts, \d+\.\d s\n\n",
        printed(out),
    )


def test_the_conversation_is_remembered(chat, backend):
    chat.run(reading("Hi", "", "How?"))
    assert roles(backend.requests[1]) == [
        ("system", "Be kind."),
        ("user", "Hi"),
        ("assistant", "Hello"),
        ("user", "How?"),
    ]


def test_new_forgets_all_but_the_system_message(chat, backend):
    chat.run(reading("Hi", "/new", "How?"))
    assert roles(backend.requests[1]) == [("system", "Be kind."), ("user", "How?")]


def test_unknown_commands_show_the_help_and_ask_nothing(chat, backend, out):
    chat.run(reading("/what"))
    assert "/new" in printed(out)
    assert "Ctrl-C" in printed(out)
    assert not backend.requests


def test_html_is_written(chat, out, tmp_path):
    file = tmp_path / "a.html"
    chat.run(reading(f"/html {file}", "/html", "Hi", f"/html {file}"))
    assert "no whole answer yet" in printed(out)
    assert "needs a file name" in printed(out)
    assert "22 tokens (8 reasoning)" in file.read_text("utf-8")


def test_html_that_cannot_be_written_is_no_end(chat, backend, out, tmp_path):
    chat.run(reading("Hi", f"/html {tmp_path}", "How?"))
    assert "not written" in printed(out)
    assert len(backend.requests) == 2


# --- Ctrl-C, Ctrl-D, errors -----------------------------------------------------------


def failing(monkeypatch, backend, error: BaseException, after: int) -> None:
    """Let the first stream fail after some chunks."""
    whole, calls = backend.stream, []

    def stream(request):
        calls.append(request)
        events = whole(request)
        for number, event in enumerate(events):
            if number == after and len(calls) == 1:
                events.close()
                raise error
            yield event

    monkeypatch.setattr(backend, "stream", stream)


# Chunks: thinking, three of drafts, thinking, the answer.
@pytest.mark.parametrize(
    ("after", "kept"),
    [(0, []), (2, []), (6, [("user", "Hi"), ("assistant", "Hello")])],
)
def test_ctrl_c_stops_the_answer_and_not_the_chat(
    chat, backend, monkeypatch, after, kept
):
    out = chat._out
    failing(monkeypatch, backend, KeyboardInterrupt(), after)
    chat.run(reading("Hi", "How?"))
    assert "stopped\n" in printed(out)
    assert backend.open_streams == 0
    told = roles(backend.requests[1])
    assert told == [("system", "Be kind."), *kept, ("user", "How?")]
    assert "Bye\nthen\n" in printed(out)


def test_a_second_ctrl_c_finds_nothing_half_done(terminal, backend, monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    leave = View.__exit__

    def impatient(*args):
        signal.raise_signal(signal.SIGINT)
        leave(*args)

    def interrupted(*_, **__):
        signal.raise_signal(signal.SIGINT)
        yield

    monkeypatch.setattr(View, "__exit__", impatient)
    monkeypatch.setattr(ChatSSR, "stream", interrupted)
    Conversation(terminal, ChatSSR(model="smollm2")).run(reading("Hi"))
    assert "stopped" in printed(terminal)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_ctrl_c_that_a_finalizer_swallows_stops_the_answer(chat, out, monkeypatch):
    class Closed:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def stream(*_, **__):
        Closed()
        yield AIMessageChunk("more")
        pytest.fail("it went on")

    monkeypatch.setattr(ChatSSR, "stream", stream)
    chat.run(reading("Hi"))
    assert "stopped" in printed(out)


def test_typed_errors_are_shown_and_the_chat_goes_on(chat, backend, out, monkeypatch):
    failing(monkeypatch, backend, ContextLengthError("too [b]long[/b]"), 0)
    chat.run(reading("Hi", "How?"))
    assert "error: too [b]long[/b]\n" in printed(out)
    assert roles(backend.requests[1])[1:] == [("user", "How?")]


def test_bugs_are_not_hidden(chat, backend, monkeypatch):
    failing(monkeypatch, backend, ZeroDivisionError(), 0)
    with pytest.raises(ZeroDivisionError):
        chat.run(reading("Hi"))


def test_ctrl_c_at_the_prompt_drops_the_line(chat, backend, out):
    chat.run(reading(KeyboardInterrupt, '"""half', KeyboardInterrupt, "Hi"))
    assert printed(out).count("Ctrl-D ends the chat") == 2
    assert roles(backend.requests[-1])[1:] == [("user", "Hi")]


def test_ctrl_d_ends(chat, backend):
    chat.run(reading(EOFError, "Hi"))
    assert not backend.requests


# --- messages of several lines -------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["  one  "], "one"),
        (['"""one"""'], "one"),
        (['"""', "one", "  two", '"""'], "one\n  two"),
        (['"""one', "", 'two"""'], "one\n\ntwo"),
        (['say """this'], 'say """this'),
        (['"""', '"""'], ""),
    ],
)
def test_messages_of_several_lines(lines, message):
    assert read_message(reading(*lines)) == message
