"""The status line of an engine's start."""

from __future__ import annotations

import io
import time
from types import SimpleNamespace

import pytest

from langchain_ssr import progress as progress_module
from langchain_ssr.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Broken(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    clock = SimpleNamespace(now=100.0)
    fake = SimpleNamespace(monotonic=lambda: clock.now)
    monkeypatch.setattr(progress_module, "time", fake)
    return clock


def wait_for(terminal: io.StringIO, text: str) -> None:
    deadline = time.monotonic() + 5
    while text not in terminal.getvalue():
        assert time.monotonic() < deadline, terminal.getvalue()
        time.sleep(0.005)


def test_file_gets_a_line_at_each_end():
    stream = io.StringIO()
    with Progress("starting", stream) as progress:
        progress.phase("importing")
    assert stream.getvalue() == "starting ...\nstarting: done in 0 s\n"


def test_failure_is_told_and_raised():
    stream = io.StringIO()
    with pytest.raises(KeyError), Progress("starting", stream):
        raise KeyError
    assert stream.getvalue().endswith("starting: failed after 0 s\n")


def test_terminal_shows_the_phase_and_is_cleared_in_the_end(monkeypatch):
    monkeypatch.setattr(progress_module, "INTERVAL", 0.01)
    terminal = Terminal()
    with Progress("starting", terminal) as progress:
        wait_for(terminal, "\r\x1b[Kstarting 0 s")
        progress.phase("loading")
        wait_for(terminal, "\r\x1b[Kstarting (loading) 0 s")
    assert terminal.getvalue().endswith("\r\x1b[Kstarting: done in 0 s\n")


def test_terminal_is_left_alone_afterwards(monkeypatch):
    monkeypatch.setattr(progress_module, "INTERVAL", 0.01)
    terminal = Terminal()
    with Progress("starting", terminal):
        wait_for(terminal, "starting 0 s")
    text = terminal.getvalue()
    time.sleep(0.05)
    assert terminal.getvalue() == text


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_variable_silences_it(monkeypatch, kind):
    monkeypatch.setenv("SSR_PROGRESS", "0")
    stream = kind()
    with Progress("starting", stream):
        pass
    assert stream.getvalue() == ""


def test_other_values_of_the_variable_do_not_silence_it(monkeypatch):
    monkeypatch.setenv("SSR_PROGRESS", "1")
    stream = io.StringIO()
    with Progress("starting", stream):
        pass
    assert "starting" in stream.getvalue()


def test_stderr_is_the_default(capsys):
    with Progress("starting"):
        pass
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "starting ...\nstarting: done in 0 s\n"


def test_broken_stream_stops_nothing():
    with Progress("starting", Broken()) as progress:
        progress.phase("on")


def test_stream_closed_meanwhile_stops_nothing():
    stream = io.StringIO()
    with Progress("starting", stream):
        stream.close()


def test_stream_closed_before_stops_nothing():
    stream = io.StringIO()
    stream.close()
    with Progress("starting", stream):
        pass


def test_no_stderr_stops_nothing(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    with Progress("starting"):
        pass


def test_seconds_count_from_the_start_of_the_line(clock):
    stream = io.StringIO()
    progress = Progress("starting", stream)
    clock.now += 5
    with progress:
        assert progress.seconds == 0
        clock.now += 12.4
        assert progress.seconds == pytest.approx(12.4)
    assert stream.getvalue().endswith("done in 12 s\n")
