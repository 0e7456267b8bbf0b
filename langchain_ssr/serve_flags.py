"""What a user's command line says about vLLM's arguments, without asking vLLM.

The flags go to vLLM as they are. This says which ones were given, so that no default of
ours stands beside them, and gives their values where these matter before vLLM starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from langchain_ssr.errors import SettingsError

_SHORT = {
    "-pp": "pipeline_parallel_size",
    "-pcp": "prefill_context_parallel_size",
    "-sc": "speculative_config",
    "-dc": "diffusion_config",
}
"""vLLM's short names of flags that matter here."""


def given_arguments(flags: Sequence[str]) -> dict[str, Any]:
    """Return the arguments that flags set, those of a `--config` file included.

    Args:
        flags: The command line after the model.

    Returns:
        Values by name with underscores: true or false for a flag without one, text for
        one, a list for several. A part of a JSON argument (`--a.b 1`) counts as the
        whole.

    Raises:
        SettingsError: If a `--config` file cannot be read.
    """
    given: dict[str, Any] = {}
    for i, flag in enumerate(flags):
        if not _is_flag(flag):
            continue
        name, equals, value = flag.partition("=")
        values = [value] if equals else _values(flags[i + 1 :])
        name = _SHORT.get(name, name).split(".", 1)[0]
        given |= _argument(name.lstrip("-").replace("-", "_"), values)
    if "config" in given:
        given = _read_file(given["config"]) | given
    return given


def without(flags: Sequence[str], name: str) -> list[str]:
    """Return flags without one that has a value.

    Args:
        flags: The command line after the model.
        name: The argument's name with underscores.
    """
    kept: list[str] = []
    skipping = False
    for flag in flags:
        if _is_flag(flag):
            own = flag.partition("=")[0].lstrip("-").replace("-", "_")
            skipping = own == name
        if not skipping:
            kept.append(flag)
    return kept


def _is_flag(text: str) -> bool:
    return text.startswith("-") and not text[1:2].isdigit()


def _values(rest: Iterable[str]) -> list[str]:
    values = []
    for text in rest:
        if _is_flag(text):
            break
        values.append(text)
    return values


def _argument(name: str, values: list[str]) -> dict[str, Any]:
    if not values:
        return {name.removeprefix("no_"): not name.startswith("no_")}
    return {name: values[0] if len(values) == 1 else values}


def _read_file(path: Any) -> dict[str, Any]:
    try:
        content = yaml.safe_load(Path(str(path)).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SettingsError(f"--config: {path} cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise SettingsError(f"--config: {path} holds no settings by name")
    return {str(name).replace("-", "_"): value for name, value in content.items()}
