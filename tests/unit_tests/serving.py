"""Command lines of the server, made as `langchain-ssr serve` makes them."""

from __future__ import annotations

from langchain_ssr import serve
from langchain_ssr.operator_settings import OperatorSettings
from langchain_ssr.serve_flags import given_arguments

NOTHING = OperatorSettings.read({})
SCHEDULER = "langchain_ssr.engine.scheduler.SSRScheduler"


def build(*flags, model="Qwen3-4B", device="cpu", operator=NOTHING, **options):
    """Make the command line for some flags of the user."""
    return serve.build(model, flags, operator, device, **options)


def arguments(command):
    """Return what a command line says, by vLLM's names."""
    return given_arguments(command.flags)
