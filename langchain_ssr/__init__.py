"""LangChain chat model for reasoning models on vLLM.

The public names are imported when they are first used, so that importing the package
costs milliseconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_ssr.callbacks import DraftText, watch_drafts
    from langchain_ssr.chat_model import ChatSSR
    from langchain_ssr.stats import SpeculationStats

__version__ = "0.1.0"

__all__ = [
    "ChatSSR",
    "DraftText",
    "SpeculationStats",
    "__version__",
    "watch_drafts",
]

_HOMES = {
    "ChatSSR": "langchain_ssr.chat_model",
    "DraftText": "langchain_ssr.callbacks",
    "watch_drafts": "langchain_ssr.callbacks",
    "SpeculationStats": "langchain_ssr.stats",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
