"""vLLM schedulers without a model: outputs are written beforehand.

`FakeModel` verifies proposals as greedy decoding does: of each, the longest prefix that
agrees with the written output is accepted, and one more token follows.
"""

from __future__ import annotations

import copy
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from vllm.engine.arg_utils import EngineArgs
from vllm.sampling_params import SamplingParams
from vllm.utils.hashing import sha256
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.kv_cache_interface import (
    FullAttentionSpec,
    KVCacheConfig,
    KVCacheGroupSpec,
)
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request
from vllm.v1.structured_output import StructuredOutputManager

from benchmarks.common import BenchmarkError
from benchmarks.scenarios import END, NUM_PROMPT, START, VOCAB, Case
from langchain_ssr.backends.launch import speculation_arguments
from langchain_ssr.engine.lifecycle import Markers
from langchain_ssr.engine.scheduler import KEY, SSRScheduler

NUM_SPECULATIVE_TOKENS = 32
MAX_MODEL_LEN = 32_768
_BLOCK = 32
_MODEL = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "vocab_size": VOCAB,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": MAX_MODEL_LEN,
}


class SchedulerFactory:
    """Makes schedulers of one configuration, and requests for them.

    Args:
        num_requests: Requests that run at the same time.
        num_tokens: Longest prompt and output of one of them, in tokens.
    """

    def __init__(self, num_requests: int, num_tokens: int) -> None:
        per_request = -(-num_tokens // _BLOCK) + 1
        self._num_blocks = 2 * num_requests * per_request + 64  # the half stays free
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "config.json").write_text(json.dumps(_MODEL), "utf-8")
            self._config = EngineArgs(
                model=folder,
                skip_tokenizer_init=True,
                dtype="float32",
                max_model_len=MAX_MODEL_LEN,
                max_num_seqs=2 * num_requests,
                # All prompts in one step: nobody decodes before the others can.
                max_num_batched_tokens=max(8192, 2 * num_requests * NUM_PROMPT),
                block_size=_BLOCK,
                enforce_eager=True,
                **speculation_arguments(NUM_SPECULATIVE_TOKENS),
            ).create_engine_config()
        self._config.scheduler_config.async_scheduling = False
        self._config.cache_config.num_gpu_blocks = self._num_blocks
        init_none_hash(sha256)
        self._hasher = get_request_block_hasher(_BLOCK, sha256)

    def scheduler(self, cls: type[Scheduler]) -> Any:
        """Make a scheduler of a class; ours gets reasoning markers."""
        config = copy.copy(self._config)
        spec = FullAttentionSpec(
            block_size=_BLOCK, num_kv_heads=2, head_size=32, dtype=torch.float32
        )
        scheduler: Any = cls(
            vllm_config=config,
            kv_cache_config=KVCacheConfig(
                num_blocks=self._num_blocks,
                kv_cache_tensors=[],
                kv_cache_groups=[KVCacheGroupSpec(["layer"], spec)],
            ),
            structured_output_manager=StructuredOutputManager(config),
            block_size=_BLOCK,
            log_stats=True,
        )
        # Both schedule what is proposed and nothing else: no padding.
        scheduler.dynamic_sd_lookup = [NUM_SPECULATIVE_TOKENS] * (
            scheduler.max_num_running_reqs + 1
        )
        if hasattr(scheduler, "_markers"):
            markers = Markers(start=(START,), end=(END,), close=(END,))
            scheduler._markers = markers  # noqa: SLF001 - there is no tokenizer
            # Proposals must not depend on the machine.
            scheduler._policies.cost.record = lambda *_: None  # noqa: SLF001
        return scheduler

    def request(
        self, request_id: str, prompt: Sequence[int], ssr: Mapping[str, Any]
    ) -> Request:
        """Make a request that goes on until it is dropped.

        Args:
            request_id: Its id.
            prompt: Token ids.
            ssr: Speculation settings as they reach the engine.
        """
        params = SamplingParams(
            temperature=0,
            max_tokens=MAX_MODEL_LEN - len(prompt) - 1,
            ignore_eos=True,
            extra_args={KEY: json.dumps(ssr)},
        )
        return Request(
            request_id, list(prompt), params, None, block_hasher=self._hasher
        )


class FakeModel:
    """Answers every request with the output that was written for it.

    Args:
        outputs: Token ids by request id.
    """

    def __init__(self, outputs: Mapping[str, Sequence[int]]) -> None:
        self._outputs = outputs

    def execute(self, scheduler: Any, scheduled: SchedulerOutput) -> ModelRunnerOutput:
        """Return what the model would have returned for a step."""
        ids = list(scheduled.num_scheduled_tokens)
        proposed = scheduled.scheduled_spec_decode_tokens
        return ModelRunnerOutput(
            req_ids=ids,
            req_id_to_index={request_id: i for i, request_id in enumerate(ids)},
            sampled_token_ids=[
                self._sample(scheduler.requests[request_id], proposed.get(request_id))
                for request_id in ids
            ],
        )

    def _sample(self, request: Request, proposed: list[int] | None) -> list[int]:
        if request.is_prefill_chunk:
            return []
        at = request.num_output_tokens
        return verify(self._outputs[request.request_id], at, proposed or [])


def verify(output: Sequence[int], at: int, proposed: Sequence[int]) -> list[int]:
    """Return the tokens of a step: the accepted ones and one of the model's own.

    Args:
        output: All that the model will say.
        at: How much of it has been said, in tokens.
        proposed: The tokens that are verified.
    """
    accepted = 0
    while accepted < len(proposed) and proposed[accepted] == output[at + accepted]:
        accepted += 1
    return list(output[at : at + accepted + 1])


class Round:
    """Two fresh schedulers with the same requests, all of them decoding.

    Args:
        factory: Makes the schedulers.
        cases: The requests.
    """

    def __init__(self, factory: SchedulerFactory, cases: Sequence[Case]) -> None:
        self._model = FakeModel({str(i): case.output for i, case in enumerate(cases)})
        self.plain = factory.scheduler(Scheduler)
        self.ssr = factory.scheduler(SSRScheduler)
        for scheduler in (self.plain, self.ssr):
            for i, case in enumerate(cases):
                request = factory.request(str(i), case.prompt, case.settings)
                scheduler.add_request(request)
            while any(not r.num_output_tokens for r in scheduler.requests.values()):
                self.step(scheduler)

    def step(self, scheduler: Any) -> tuple[int, dict[str, list[int]]]:
        """Run one step; return its CPU time in nanoseconds, and what was proposed."""
        start = time.thread_time_ns()
        scheduled = scheduler.schedule()
        spent = time.thread_time_ns() - start
        output = self._model.execute(scheduler, scheduled)
        start = time.thread_time_ns()
        scheduler.update_from_output(scheduled, output)
        spent += time.thread_time_ns() - start
        return spent, scheduled.scheduled_spec_decode_tokens

    def hand(self, proposals: dict[str, list[int]]) -> None:
        """Give vLLM's scheduler its proposals for the next step."""
        for request in self.plain.running:
            request.spec_token_ids = list(proposals.get(request.request_id, ()))

    def num_tokens(self) -> int:
        """Return how many tokens the requests have been answered with, in sum."""
        counts = [
            sum(r.num_output_tokens for r in scheduler.requests.values())
            for scheduler in (self.plain, self.ssr)
        ]
        if counts[0] != counts[1]:
            raise BenchmarkError(f"the schedulers went different ways: {counts}")
        return counts[1]
