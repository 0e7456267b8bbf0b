"""Ends an engine that lives and does not answer: a stopped process, a hung driver.

vLLM notices an engine whose process has ended. One that is silent would let every call
without a `timeout` wait for good.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

BEAT_SECONDS = 30.0
"""Time between two questions while requests are served, and between two looks for the
answer."""
SILENT_BEATS = 20
"""Looks without an answer after which an engine is ended. It answers between any two
steps, so a step may take this many beats. Looks are counted and not the time: Ctrl-Z
stops who asks, too."""

logger = logging.getLogger(__name__)


async def watch(engine: Any) -> None:
    """Ask an engine for signs of life until it ends or is silent; then kill it.

    Whoever waits for it gets the error of an engine that died, and the next call
    starts a new one.

    Args:
        engine: vLLM's `AsyncLLM`, on the event loop of which this runs.
    """
    while not engine.errored:
        await asyncio.sleep(BEAT_SECONDS)
        if engine.output_processor.has_unfinished_requests() and not await _answers(
            engine
        ):
            logger.error(
                "The vLLM engine has been silent for %g s and is ended.",
                SILENT_BEATS * BEAT_SECONDS,
            )
            for process in engine.engine_core.resources.engine_manager.processes:
                process.kill()  # a stopped process, too
            return


async def _answers(engine: Any) -> bool:
    """Whether an engine answers a question, be it with an error."""
    question = asyncio.ensure_future(engine.is_sleeping())
    try:
        for _ in range(SILENT_BEATS):
            if (await asyncio.wait([question], timeout=BEAT_SECONDS))[0]:
                question.exception()  # of an engine that ended: others tell it
                return True
    finally:
        question.cancel()
    return False
