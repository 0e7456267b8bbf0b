"""Callbacks: totals of speculation over calls, and hooks that see it happen."""

from __future__ import annotations

import contextlib
import inspect
import logging
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID
from weakref import WeakValueDictionary

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.context import register_configure_hook

from langchain_ssr.stats import SpeculationStats
from langchain_ssr.totals import SpeculationTotals, stats_of

logger = logging.getLogger(__name__)

DRAFT_EVENT = "ssr_draft"
"""Name of the custom event that carries a piece of an early draft."""


@dataclass(frozen=True)
class DraftText:
    """A piece of an early draft, as it is written.

    Attributes:
        index: The draft's number within its request.
        text: What was added since the last piece of this draft.

    Example:
        ```python
        def show(draft: DraftText) -> None:
            print(draft.index, draft.text)

        with get_speculation_callback(on_draft=show):
            llm.invoke("How many primes are below 20?")
        ```
    """

    index: int
    text: str


DraftHook = Callable[[DraftText], None]
VerifyHook = Callable[[SpeculationStats], None]


class SpeculationCallbackHandler(BaseCallbackHandler):
    """Adds up the speculation statistics of all responses, per model and in total.

    Every response counts once, whatever `n` is; answers from LangChain's cache, failed
    calls and streams that were left early count nothing. Safe in threads and tasks.

    Args:
        on_draft: Called with each piece of an early draft. In a handler that is passed
            in a `config`, drafts arrive inside a chain, an agent or a graph with
            `stream_drafts=True`; for a model that is called by itself langchain-core
            has no way to deliver them, so use `get_speculation_callback`.
        on_verify: Called with a response's `SpeculationStats` when it is complete.

    Both hooks are plain functions and run where the model is called, in asynchronous
    code on its event loop. One that raises is logged and not called again.

    Example:
        ```python
        callback = SpeculationCallbackHandler()
        llm.invoke("Hi", config={"callbacks": [callback]})
        callback.total.num_saved_steps
        callback.by_model["demo"].tokens_per_answer_step
        ```
    """

    run_inline = True  # in asynchronous code too: in order, and in the caller's context

    def __init__(
        self, on_draft: DraftHook | None = None, on_verify: VerifyHook | None = None
    ) -> None:
        """Create a handler that has counted nothing."""
        super().__init__()
        for hook in (on_draft, on_verify):
            if inspect.iscoroutinefunction(hook):
                msg = f"{hook.__name__} is asynchronous; hooks are plain functions"
                raise TypeError(msg)
        self.on_draft = on_draft
        self.on_verify = on_verify
        self._outer: SpeculationCallbackHandler | None = None
        self._lock = threading.Lock()
        self._by_model: dict[str, SpeculationTotals] = {}
        self._results: WeakValueDictionary[UUID, LLMResult] = WeakValueDictionary()

    def __getstate__(self) -> dict[str, Any]:
        """Keep what was counted; what belongs to this process stays behind."""
        left = {"_lock": None, "_results": None, "_outer": None}
        return {**self.__dict__, **left, "_by_model": self.by_model}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Count on from what was counted."""
        self.__dict__.update(state)
        self._lock = threading.Lock()
        self._results = WeakValueDictionary()

    @property
    def by_model(self) -> dict[str, SpeculationTotals]:
        """Totals by the model's name, as they are now.

        Example:
            ```python
            with get_speculation_callback() as callback:
                llm.invoke("Hi")
            for model, totals in callback.by_model.items():
                print(model, totals)
            ```
        """
        with self._lock:
            return dict(self._by_model)

    @property
    def total(self) -> SpeculationTotals:
        """Totals of all models, as they are now.

        Example:
            ```python
            with get_speculation_callback() as callback:
                llm.invoke("Hi")
            print(callback.total)
            ```
        """
        return sum(self.by_model.values(), SpeculationTotals())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.total})"

    def on_llm_end(
        self, response: LLMResult, *, run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Count a finished run. Called by LangChain."""
        if not self._is_new(response, run_id):
            return
        for generations in response.generations:
            messages = [g.message for g in generations if isinstance(g, ChatGeneration)]
            for model, stats in stats_of(messages):
                with self._lock:
                    before = self._by_model.get(model, SpeculationTotals())
                    self._by_model[model] = before + SpeculationTotals.of(stats)
                self._call("on_verify", stats)
        if self._outer is not None:
            self._outer.on_llm_end(response, run_id=run_id, **kwargs)

    def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Take drafts of a run that has this handler. Called by LangChain."""
        if name == DRAFT_EVENT and self not in _handlers_in_context():
            self.take_draft(DraftText(data["index"], data["text"]))

    def take_draft(self, draft: DraftText) -> None:
        """Hand a piece of a draft to the hook, if there is one."""
        self._call("on_draft", draft)

    def _is_new(self, response: LLMResult, run_id: UUID | None) -> bool:
        """Whether this is the first news of a run's result.

        It can come twice: from a chain that began under this handler, and through a
        handler of a `with` block inside of it.
        """
        if run_id is None:
            return True
        with self._lock:
            if self._results.get(run_id) is response:
                return False
            self._results[run_id] = response
        return True

    def _call(self, name: Literal["on_draft", "on_verify"], news: Any) -> None:
        hook = getattr(self, name)
        if hook is None:
            return
        try:
            hook(news)
        except Exception:
            setattr(self, name, None)
            logger.warning("%s raised and is not called again", name, exc_info=True)


_innermost: ContextVar[SpeculationCallbackHandler | None] = ContextVar(
    "ssr_speculation_callback", default=None
)
register_configure_hook(_innermost, inheritable=True)


@contextlib.contextmanager
def get_speculation_callback(
    *, on_draft: DraftHook | None = None, on_verify: VerifyHook | None = None
) -> Iterator[SpeculationCallbackHandler]:
    """Add up what speculation does in all calls that start inside the context.

    It sees calls by themselves and calls in chains, agents and graphs, synchronous
    and asynchronous. Contexts nest: an outer one counts what an inner one counts, and
    the hooks of both are called.

    Args:
        on_draft: Called with each piece of an early draft, while the model still
            thinks. Calls then draft with `stream_drafts=True` unless they set it.
        on_verify: Called with a response's `SpeculationStats` when it is complete.

    Yields:
        The handler that counts; see `SpeculationCallbackHandler`.

    Example:
        ```python
        with get_speculation_callback(on_draft=lambda d: print(d.text)) as callback:
            llm.invoke("How many primes are below 20?")
            llm.batch(["Name a colour.", "Name a fruit."])
        print(callback.total)
        ```
    """
    handler = SpeculationCallbackHandler(on_draft, on_verify)
    handler._outer = _innermost.get()  # noqa: SLF001
    token = _innermost.set(handler)
    try:
        yield handler
    finally:
        # An asynchronous generator that is left early is closed in another context.
        with contextlib.suppress(ValueError):
            _innermost.reset(token)


def _handlers_in_context() -> Iterator[SpeculationCallbackHandler]:
    """Yield the handlers of the `with` blocks around the caller, innermost first."""
    handler = _innermost.get()
    while handler is not None:
        yield handler
        handler = handler._outer  # noqa: SLF001


def drafts_are_watched() -> bool:
    """Whether a `with` block around the caller has a hook for drafts."""
    return any(handler.on_draft for handler in _handlers_in_context())


def call_draft_hooks(draft: DraftText) -> None:
    """Hand a piece of a draft to the hooks of the `with` blocks around the caller."""
    for handler in _handlers_in_context():
        handler.take_draft(draft)
