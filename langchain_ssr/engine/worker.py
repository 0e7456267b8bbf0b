"""vLLM's worker, with what speculation needs put right.

`worker_cls` is vLLM's plugin point for this. What is replaced belongs to the V1 model
runner, which vLLM takes for speculation with a scheduler of one's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vllm.platforms import current_platform
from vllm.v1.core.sched.output import GrammarOutput
from vllm.v1.kv_cache_interface import KVCacheConfig
from vllm.v1.outputs import AsyncModelRunnerOutput, ModelRunnerOutput

from langchain_ssr.engine import cpu_kernels, seeds
from langchain_ssr.engine.thinking_budgets import ThinkingBudgets
from langchain_ssr.engine.verifier import Verifier

if TYPE_CHECKING or not current_platform.is_cpu():
    from vllm.v1.worker.gpu_worker import Worker
else:
    from vllm.v1.worker.cpu_worker import CPUWorker as Worker


class SSRWorker(Worker):
    """The platform's worker, with `Verifier`, `ThinkingBudgets` and `seeds`."""

    def init_device(self) -> None:
        """Make the model runner; give it the verifier."""
        cpu_kernels.register()
        super().init_device()
        runner: Any = self.model_runner
        if hasattr(runner, "rejection_sampler"):  # the last pipeline stage has one
            runner.rejection_sampler = Verifier(
                runner.sampler, runner.speculative_config, runner.device
            )

    def initialize_from_config(self, kv_cache_config: KVCacheConfig) -> None:
        """Allocate the KV cache; give the runner's final batch its budgets."""
        super().initialize_from_config(kv_cache_config)
        batch: Any = getattr(self.model_runner, "input_batch", None)
        if getattr(batch, "thinking_budget_state_holder", None) is not None:
            config = self.vllm_config
            batch.thinking_budget_state_holder = ThinkingBudgets(
                config.reasoning_config,
                config.scheduler_config.max_num_seqs,
                config.num_speculative_tokens,
                self.device,
                is_pin_memory=False,  # not used; vLLM's signature
            )

    def sample_tokens(
        self, grammar_output: GrammarOutput | None
    ) -> ModelRunnerOutput | AsyncModelRunnerOutput:
        """Sample the step's tokens; on a CPU, seeds rest while prompts are computed."""
        runner: Any = self.model_runner
        if self.device.type != "cpu" or runner.execute_model_state is None:
            return super().sample_tokens(grammar_output)
        with seeds.resting(runner.input_batch, runner.discard_request_mask.np):
            return super().sample_tokens(grammar_output)
