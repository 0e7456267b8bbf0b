"""An engine that lives and does not answer is ended; any other is left alone."""

import asyncio
from types import SimpleNamespace

import pytest

from langchain_ssr.backends import heartbeat


class FakeEngine:
    """An engine that answers, is silent, fails, or ends after some questions."""

    def __init__(self, *answers, busy=True):
        self.answers = list(answers)
        self.asked = 0
        self.killed = 0
        self.errored = False
        self.output_processor = SimpleNamespace(has_unfinished_requests=lambda: busy)
        manager = SimpleNamespace(processes=[self, self])
        self.engine_core = SimpleNamespace(
            resources=SimpleNamespace(engine_manager=manager)
        )

    def kill(self):
        self.killed += 1

    async def is_sleeping(self):
        self.asked += 1
        answer = self.answers.pop(0)
        if answer == "silent":
            await asyncio.Event().wait()
        if answer == "slow":
            await asyncio.sleep(5 * heartbeat.BEAT_SECONDS)
        if answer == "dead":
            self.errored = True
            raise RuntimeError("the engine is dead")
        return False


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.01)


def run(engine, seconds=10):
    asyncio.run(asyncio.wait_for(heartbeat.watch(engine), seconds))


def test_a_silent_engine_is_ended_and_the_log_says_so(caplog):
    engine = FakeEngine("good", "slow", "silent")
    run(engine)
    assert (engine.asked, engine.killed) == (3, 2)
    assert "silent for 0.2 s" in caplog.text


def test_an_engine_that_ended_by_itself_is_not_asked_again(caplog):
    engine = FakeEngine("good", "dead")
    run(engine)
    assert (engine.asked, engine.killed) == (2, 0)
    assert not caplog.records


def test_an_idle_engine_is_not_asked():
    engine = FakeEngine(busy=False)
    with pytest.raises(TimeoutError):
        run(engine, 0.2)
    assert (engine.asked, engine.killed) == (0, 0)


def test_whoever_was_stopped_together_with_the_engine_asks_on(monkeypatch):
    engine = FakeEngine("slow", "dead")
    wait = asyncio.wait

    async def stopped(tasks, **_):
        # After Ctrl-Z and fg, one look finds its time over; the next ones do not.
        monkeypatch.setattr(asyncio, "wait", wait)
        return await wait(tasks, timeout=0)

    monkeypatch.setattr(asyncio, "wait", stopped)
    run(engine)
    assert (engine.asked, engine.killed) == (2, 0)
