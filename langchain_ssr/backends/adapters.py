"""LoRA on CPUs: one slot for adapters stays empty, for requests of the model itself.

A batch may hold requests of the model beside such of an adapter. vLLM 0.32 gives the
former index -1. Its kernels for GPUs skip them; those for CPUs take -1 as Python does,
and so add the adapter of the last slot to the model's own answers. An empty slot holds
zeros, and vLLM fills slots from the first one on: with a slot more than there are
adapters, nothing is added.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

logger = logging.getLogger(__name__)


def with_empty_slot(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an engine on a CPU, with a slot that stays empty.

    Adapters that a client loads later are not counted: they need a `max_loras` of the
    user's own. One that leaves no slot empty is kept, with a warning.

    Args:
        arguments: The arguments of `vllm serve`, by name with underscores; the values
            as they are, or as they stand on a command line.
    """
    arguments = dict(arguments)
    if not arguments.get("enable_lora"):
        return arguments
    wanted = max(1, _num_adapters(arguments.get("lora_modules"))) + 1
    given = arguments.setdefault("max_loras", wanted)
    if str(given).isdecimal() and int(given) < wanted:
        logger.warning(
            "max_loras=%s leaves no slot for adapters empty: on a CPU, vLLM 0.32 then "
            "applies an adapter also to requests of the model itself that run beside "
            "its own. Set it to %s or more, or leave it out.",
            given,
            wanted,
        )
    return arguments


def _num_adapters(modules: Any) -> int:
    """Count the adapters of `lora_modules`, one being a text or an object by itself."""
    if modules is None:
        return 0
    return len(modules) if isinstance(modules, (list, tuple)) else 1
