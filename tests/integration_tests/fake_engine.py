"""Drives a scheduler as vLLM's engine does, with a fake worker."""

from __future__ import annotations

import copy
import functools
import json
import tempfile
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from vllm.config import VllmConfig
from vllm.engine.arg_utils import EngineArgs
from vllm.sampling_params import SamplingParams, StructuredOutputsParams
from vllm.utils.hashing import sha256
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.kv_cache_interface import (
    FullAttentionSpec,
    KVCacheConfig,
    KVCacheGroupSpec,
)
from vllm.v1.request import Request
from vllm.v1.structured_output import StructuredOutputManager

from langchain_ssr.backends.launch import speculation_arguments
from langchain_ssr.engine.async_scheduler import SSRAsyncScheduler
from langchain_ssr.engine.scheduler import KEY, SSRMixin, SSRScheduler
from tests.integration_tests import tiny_models
from tests.integration_tests.fake_worker import (
    BLOCK,
    EOS,
    NUM_SPEC,
    START,
    FakeWorker,
    Script,
)

MAX_STEPS = 3000
SCHEDULERS = (SSRScheduler, SSRAsyncScheduler)
OFTEN = {"draft_budget": 5, "draft_interval": 4}


@functools.cache
def _config(*, speculates: bool) -> VllmConfig:
    folder = Path(tempfile.mkdtemp(prefix="ssr-tiny-"))
    return EngineArgs(
        model=str(tiny_models.make(folder / "qwen3", "qwen3")),
        dtype="float32",
        max_model_len=512,
        max_num_seqs=16,
        max_num_batched_tokens=256,
        reasoning_parser="qwen3",
        block_size=BLOCK,
        enforce_eager=True,
        **(speculation_arguments(NUM_SPEC) if speculates else {}),
    ).create_engine_config()


def make_scheduler(
    cls: type[Scheduler] = SSRScheduler, *, num_blocks: int = 400, **limits: Any
) -> Scheduler:
    """Make a scheduler; `limits` are fields of vLLM's scheduler and cache configs.

    It does not measure what steps cost: what it does must not depend on the machine.
    """
    config = copy.deepcopy(_config(speculates=issubclass(cls, SSRMixin)))
    config.scheduler_config.async_scheduling = issubclass(cls, AsyncScheduler)
    config.cache_config.num_gpu_blocks = num_blocks
    for name, value in limits.items():
        of = config.scheduler_config
        setattr(of if hasattr(of, name) else config.cache_config, name, value)
    spec = FullAttentionSpec(
        block_size=BLOCK, num_kv_heads=2, head_size=32, dtype=torch.float32
    )
    grammars = StructuredOutputManager(config)
    grammars._use_async_grammar_compilation = False  # the same in every run
    scheduler = cls(
        vllm_config=config,
        kv_cache_config=KVCacheConfig(
            num_blocks=num_blocks,
            kv_cache_tensors=[],
            kv_cache_groups=[KVCacheGroupSpec(["layer"], spec)],
        ),
        structured_output_manager=grammars,
        block_size=BLOCK,
        log_stats=True,
    )
    if isinstance(scheduler, SSRMixin):
        scheduler._policies.cost.record = lambda *_: None
    return scheduler


class FakeEngine:
    """An engine core with a fake worker; an async scheduler has two batches out."""

    def __init__(self, scheduler: Scheduler, model: Any = None) -> None:
        self.scheduler = scheduler
        self.worker = FakeWorker(model or Script())
        self.depth = 2 if isinstance(scheduler, AsyncScheduler) else 1
        self.out: deque[Any] = deque()
        self.tokens: dict[str, list[int]] = {}
        self.finished: dict[str, str] = {}
        self.reports: dict[str, dict[str, Any]] = {}
        self.counted: dict[str, dict[str, Any]] = {}
        """What is sent of requests before their end, the newest of each."""
        self.schedules: list[Any] = []
        self.num_steps: Counter[str] = Counter()
        self.forked: set[str] = set()
        init_none_hash(sha256)
        self._hasher = get_request_block_hasher(BLOCK, sha256)

    def add(self, request_id: str, prompt: list[int] | None = None, **of: Any) -> None:
        """Add a request; `ssr` is its settings, raw if it is a string."""
        ssr = of.pop("ssr", {"draft_budget": 10})
        params = SamplingParams(
            temperature=0,
            max_tokens=of.pop("max_tokens", 300),
            thinking_token_budget=of.pop("thinking_token_budget", None),
            extra_args={KEY: json.dumps(ssr) if isinstance(ssr, dict) else ssr},
        )
        if regex := of.pop("regex", None):
            params.structured_outputs = StructuredOutputsParams(regex=regex)
            params.structured_outputs._backend = "xgrammar"
        params.update_from_generation_config({}, EOS)
        prompt = prompt or [10, *map(ord, request_id), *range(40, 70), START]
        self.tokens[request_id] = []
        request = Request(
            request_id, prompt, params, None, block_hasher=self._hasher, **of
        )
        self.scheduler.structured_output_manager.grammar_init(request)
        self.scheduler.add_request(request)

    def step(self) -> Any:
        """Schedule a step, and take in the oldest one if enough are out."""
        if not self.scheduler.has_requests():
            if self.out:
                self.take()
            return None
        out = self.scheduler.schedule()
        self.schedules.append(out)
        if out.pending_structured_output_tokens and self.out:
            self.take()
        grammar = self.scheduler.get_grammar_bitmask(out)
        self.out.append((out, self.worker.execute(out, grammar)))
        self.forked.update(getattr(self.scheduler, "_parent_of", ()))
        if len(self.out) >= self.depth:
            self.take()
        return out

    def take(self) -> None:
        """Take in the oldest step that is out."""
        for each in self.scheduler.update_from_output(*self.out.popleft()).values():
            for output in each.outputs:
                request_id = output.request_id
                assert request_id not in self.finished
                self.tokens[request_id] += output.new_token_ids  # a KeyError: not ours
                self.num_steps[request_id] += 1
                if output.finish_reason is not None:
                    self.finished[request_id] = str(output.finish_reason)
                if output.kv_transfer_params:
                    sent = output.kv_transfer_params[KEY]
                    running = output.finish_reason is None and not sent.get("mode")
                    (self.counted if running else self.reports)[request_id] = sent
        self.forked.update(getattr(self.scheduler, "_parent_of", ()))

    def run(self, until: Callable[[], Any] | None = None) -> FakeEngine:
        """Step until something is so, by default until nothing is left to do."""
        for _ in range(MAX_STEPS):
            if until() if until else not (self.scheduler.has_requests() or self.out):
                return self
            self.step()
        raise AssertionError("the engine does not come to an end")

    def assert_idle(self) -> None:
        """Nothing is left of any request, and no cache block is in use."""
        of = self.scheduler
        assert not any((of.requests, of.running, of.waiting, self.worker.rows))
        for name in ("_states", "_parent_of", "_drafters", "_to_cut", "_waited"):
            assert not getattr(of, name, None), name
        assert not getattr(of, "_ended", None)
        pool = of.kv_cache_manager.block_pool
        assert pool.get_num_free_blocks() == pool.num_gpu_blocks - 1
        assert of.reset_prefix_cache()

    def proposed(self, request_id: str) -> list[list[int]]:
        """Return every proposal made for a request."""
        spec = [s.scheduled_spec_decode_tokens for s in self.schedules]
        return [s[request_id] for s in spec if s.get(request_id)]

    @property
    def child(self) -> str | None:
        """The id of a draft that runs, if one does."""
        return next(iter(self.scheduler._parent_of), None)  # type: ignore[attr-defined]


def run_plain(add: Callable[[FakeEngine], Any], model: Any = None) -> FakeEngine:
    """Run the same requests on vLLM's own scheduler."""
    engine = FakeEngine(make_scheduler(Scheduler), model)
    add(engine)
    return engine.run()


def several(count: int = 4, **of: Any) -> Callable[[FakeEngine], Any]:
    """Return what adds requests r0, r1, ..."""
    return lambda engine: [engine.add(f"r{i}", **of) for i in range(count)]


def run(
    cls: type[Scheduler],
    add: Callable[[FakeEngine], Any],
    model: Any = None,
    **limits: Any,
) -> FakeEngine:
    """Run requests; their tokens are those of vLLM's own scheduler."""
    engine = FakeEngine(make_scheduler(cls, **limits), model)
    add(engine)
    engine.run()
    engine.assert_idle()
    plain = run_plain(add, model)
    assert engine.tokens == plain.tokens
    assert engine.finished == plain.finished
    return engine
