"""The ways to answer that a benchmark compares: an engine, and settings of its calls.

Built in: vLLM alone (`plain`), with methods of its own (`ngram`, `suffix`), with SSR
(`ssr`), and SSR without parts of it (`ssr-...`), which needs no engine of its own.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_ssr.errors import SettingsError
from langchain_ssr.settings import SpeculationSettings, merge_call_settings, suggest

BASELINE = "plain"
_NAME = re.compile(r"[\w.@-]+")
COUNTING = "langchain_ssr.engine.counting_scheduler.CountingScheduler"
"""vLLM's own scheduler, with a count of steps by phase."""
INSTALL_ARCTIC = "pip install arctic-inference==0.3.0"
NGRAM = {"method": "ngram", "num_speculative_tokens": 5, "prompt_lookup_max": 4}
"""As vLLM's documentation has it."""
SUFFIX = {
    "method": "suffix",
    "num_speculative_tokens": 32,
    "suffix_decoding_max_cached_requests": 0,
}
"""Without memory of earlier requests, which SSR does not have either."""


@dataclass(frozen=True)
class Engine:
    """What an engine needs beside the run's own arguments.

    Attributes:
        speculation: Whether SSR is in it.
        speculative_config: vLLM's own way to speculate; None for none.
    """

    speculation: bool
    speculative_config: Mapping[str, Any] | None = None

    @property
    def key(self) -> str:
        """Settings that make engines equal."""
        return json.dumps([self.speculation, self.speculative_config], sort_keys=True)

    @property
    def method(self) -> str | None:
        """The name of vLLM's own method, if it has one."""
        if self.speculative_config is None:
            return None
        return str(self.speculative_config.get("method", "draft_model"))

    def arguments(self) -> dict[str, Any]:
        """Return arguments of `vllm serve`, for `engine_kwargs`.

        SSR counts its steps itself; other engines get a scheduler that does.
        """
        if self.speculation:
            return {}
        if self.speculative_config is None:
            return {"scheduler_cls": COUNTING}
        return {
            "scheduler_cls": COUNTING,
            "speculative_config": dict(self.speculative_config),
            "per_request_spec_decode_metrics": "summary",
        }


@dataclass(frozen=True)
class Mode:
    """One way to answer.

    Attributes:
        name: Its name in tables.
        engine: The engine that answers.
        settings: Settings of every call.
    """

    name: str
    engine: Engine
    settings: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return all but the name as JSON data."""
        return {
            "speculation": self.engine.speculation,
            "speculative_config": self.engine.speculative_config,
            "settings": dict(self.settings),
        }


_PLAIN, _SSR = Engine(speculation=False), Engine(speculation=True)
BUILT_IN: Mapping[str, Mode] = {
    mode.name: mode
    for mode in (
        Mode(BASELINE, _PLAIN),
        Mode("ngram", Engine(speculation=False, speculative_config=NGRAM)),
        Mode("suffix", Engine(speculation=False, speculative_config=SUFFIX)),
        Mode("ssr", _SSR),
        Mode("ssr-no-draft", _SSR, {"max_drafts": 0}),
        Mode("ssr-one-draft", _SSR, {"iterative": False}),
        Mode("ssr-prefix-only", _SSR, {"sources": ["draft_prefix"]}),
        Mode("ssr-suffix-only", _SSR, {"sources": ["draft_suffix"]}),
        Mode("ssr-answer-only", _SSR, {"speculate_reasoning": False}),
    )
}


def parse_mode(text: str) -> Mode:
    """Read a mode as it stands on a command line.

    Args:
        text: A built-in name, or `NAME={...}`: vLLM's speculative config, or settings
            of SSR's calls (`ssr-64={"draft_budget": 64}`).

    Raises:
        SettingsError: If there is no such mode, or the JSON is neither.
    """
    name, equals, given = (part.strip() for part in text.partition("="))
    if not equals:
        try:
            return BUILT_IN[name]
        except KeyError:
            raise SettingsError(
                f"--mode: there is no mode {name!r}.{suggest(name, BUILT_IN)} Known: "
                f"{', '.join(BUILT_IN)}; or NAME='{{...}}' with vLLM's speculative "
                "config"
            ) from None
    try:
        config = json.loads(given)
    except ValueError as error:
        raise SettingsError(f"--mode {name}: no JSON ({error})") from error
    if not (_NAME.fullmatch(name) and isinstance(config, dict) and config):
        raise SettingsError(f"--mode {text!r} is not of the form NAME={{...}}")
    if config.keys() <= SpeculationSettings.canonical_names().keys():
        merge_call_settings(config)
        return Mode(name, _SSR, config)
    if not config.keys() & {"method", "model"}:
        raise SettingsError(
            f"--mode {name}: vLLM's speculative config has a 'method' or a 'model', "
            f"and settings of SSR are {', '.join(SpeculationSettings.model_fields)}"
        )
    return Mode(name, Engine(speculation=False, speculative_config=config))


def check_modes(modes: Iterable[Mode]) -> list[Mode]:
    """Refuse modes that cannot run, before any engine starts.

    Raises:
        SettingsError: If two have the same name, or a package is missing.
    """
    chosen = list(modes)
    names = [mode.name for mode in chosen]
    if doubled := {name for name in names if names.count(name) > 1}:
        raise SettingsError(f"--mode: {min(doubled)!r} is there twice")
    if any(mode.engine.method == "suffix" for mode in chosen):
        require_arctic()
    return chosen


def require_arctic() -> None:
    """Refuse suffix decoding where its package is missing.

    Raises:
        SettingsError: With the command that installs it.
    """
    if importlib.util.find_spec("arctic_inference") is None:
        raise SettingsError(
            "vLLM's suffix decoding needs the package arctic-inference, which is built "
            f"from source: {INSTALL_ARCTIC}"
        )
