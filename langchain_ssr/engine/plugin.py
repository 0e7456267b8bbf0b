"""vLLM's entry points: puts `SSRServingChat` in the place of vLLM's chat serving.

`vllm serve` calls `SSREndpointPlugin` if `VLLM_PLUGINS` names it; the embedded engine
calls the same method after vLLM has set its state up.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from langchain_ssr.engine.answer_stops import AnswerStopsClient
from langchain_ssr.engine.markers import find_markers
from langchain_ssr.engine.serving import SSRServingChat


class SSREndpointPlugin:
    """An endpoint plugin without routes of its own."""

    name = "ssr"
    required_tasks = ("generate",)

    def attach_router(self, app: Any) -> None:
        """Add no route."""

    async def init_state(self, engine_client: Any, state: Any, args: Namespace) -> None:
        """Replace the chat serving by ours, made from the same arguments."""
        plain = getattr(state, "openai_serving_chat", None)
        if engine_client is None or plain is None:
            return
        structured = args.structured_outputs_config
        state.openai_serving_chat = SSRServingChat(
            engine_client=AnswerStopsClient(
                engine_client,
                find_markers(engine_client.vllm_config, plain.renderer.tokenizer),
            ),
            models=state.openai_serving_models,
            response_role=args.response_role,
            online_renderer=state.online_renderer,
            request_logger=plain.request_logger,
            chat_template=plain.chat_template,
            chat_template_content_format=args.chat_template_content_format,
            default_chat_template_kwargs=plain.default_chat_template_kwargs,
            trust_request_chat_template=args.trust_request_chat_template,
            return_tokens_as_token_ids=args.return_tokens_as_token_ids,
            enable_auto_tools=args.enable_auto_tool_choice,
            exclude_tools_when_tool_choice_none=(
                args.exclude_tools_when_tool_choice_none
            ),
            tool_parser=args.tool_call_parser,
            tool_strict_level=args.tool_strict_level,
            reasoning_parser=structured.reasoning_parser,
            enable_prompt_tokens_details=args.enable_prompt_tokens_details,
            enable_force_include_usage=args.enable_force_include_usage,
            enable_log_outputs=args.enable_log_outputs,
            enable_log_deltas=args.enable_log_deltas,
            enable_per_request_metrics=args.enable_per_request_metrics,
        )
