"""What an engine in this process needs of vLLM, imported when it starts."""

from __future__ import annotations

import logging
from typing import Any

from langchain_ssr import errors
from langchain_ssr.backends.base import JSON
from langchain_ssr.backends.vllm_arguments import ArgumentReader


class VllmApi:
    """The vLLM functions that the start needs."""

    def __init__(self) -> None:
        """Import them."""
        self.arguments = ArgumentReader("engine_kwargs")

        from starlette.datastructures import State
        from vllm.entrypoints.launchers.api_server.app_state import init_app_state
        from vllm.usage.usage_lib import UsageContext
        from vllm.v1.engine.async_llm import AsyncLLM

        from langchain_ssr.engine.plugin import SSREndpointPlugin

        self._engine_class = AsyncLLM
        self._context, self._state_class = UsageContext.ENGINE_CONTEXT, State
        self._init_app_state = init_app_state
        self._plugin = SSREndpointPlugin()

    def build(self, args: Any) -> Any:
        """Start an engine with vLLM's parsed arguments."""
        return self._engine_class.from_engine_args(
            self.arguments.engine_args(args), usage_context=self._context
        )

    async def serve(self, engine: Any, args: Any) -> Any:
        """Return the serving layer of an engine, with SSR where it speculates."""
        state = self._state_class()
        tasks = await engine.get_supported_tasks()
        await self._init_app_state(engine, state, args, tasks)
        await self._plugin.init_state(engine, state, args)
        return state.openai_serving_chat


def import_vllm() -> VllmApi:
    """Import vLLM.

    Raises:
        EngineStartError: If it cannot write its folders.
        EngineNotInstalledError: If it cannot be imported.
    """
    # vLLM logs before it sets up its handlers, and Python would print that to stderr.
    logging.getLogger("vllm").addHandler(logging.NullHandler())
    try:
        return VllmApi()
    except OSError as error:
        raise errors.EngineStartError(
            f"vLLM needs folders that can be written: {error}. VLLM_CACHE_ROOT, "
            "HF_HOME, TMPDIR and HOME say which."
        ) from error
    except Exception as error:
        raise errors.EngineNotInstalledError(
            f"vLLM is installed, but cannot be imported: {error}. "
            "`langchain-ssr doctor` says what is wrong."
        ) from error


def parse_request(request: JSON) -> Any:
    """Return a request as vLLM's protocol has it.

    Raises:
        InvalidRequestError: If it does not fit; the message names the field.
    """
    from pydantic import ValidationError
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

    try:
        return ChatCompletionRequest(**request)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(map(str, problem["loc"][:3]))
        raise errors.InvalidRequestError(f"{where}: {problem['msg']}") from None
