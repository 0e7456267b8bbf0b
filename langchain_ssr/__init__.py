"""LangChain chat model for reasoning models on vLLM.

The public names are imported when they are first used, so that importing the package
costs milliseconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_ssr.callbacks import (
        DraftText,
        SpeculationCallbackHandler,
        get_speculation_callback,
    )
    from langchain_ssr.chat_model import ChatSSR
    from langchain_ssr.middleware import SpeculationMiddleware as SpeculationMiddleware
    from langchain_ssr.stats import SpeculationStats
    from langchain_ssr.totals import SpeculationTotals

__version__ = "0.1.0"

__all__ = [
    "ChatSSR",
    "DraftText",
    "SpeculationCallbackHandler",
    "SpeculationStats",
    "SpeculationTotals",
    "__version__",
    "get_speculation_callback",
]

_HOMES = {
    "ChatSSR": "langchain_ssr.chat_model",
    "DraftText": "langchain_ssr.callbacks",
    "SpeculationCallbackHandler": "langchain_ssr.callbacks",
    "SpeculationMiddleware": "langchain_ssr.middleware",
    "SpeculationStats": "langchain_ssr.stats",
    "SpeculationTotals": "langchain_ssr.totals",
    "get_speculation_callback": "langchain_ssr.callbacks",
}
"""Where the public names are. `SpeculationMiddleware` needs the package `langchain`,
so a star import leaves it out."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
