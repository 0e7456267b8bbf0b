"""Measure what SSR's scheduler hooks cost in each engine step.

No model runs. vLLM's own scheduler and ours serve the same made-up requests step by
step, in turns. Ours makes proposals; vLLM's is handed the same ones, so that both
schedule the same tokens in each step, and both take in the same output. The cost of the
hooks is the difference in CPU time of `schedule()` and `update_from_output()`.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.common import BenchmarkError, positive, write_json
from benchmarks.scenarios import IDLE, NUM_PROMPT, SCENARIOS, make_case
from langchain_ssr.bench.intervals import interval

_DEFINITIONS = """\
scenarios, all with a prompt of 1024 random tokens and statistics asked for:
  prediction   the answer is a prediction with an edit every 40 tokens or so
  repeat       the answer repeats a passage of 100 tokens
  misled       a prediction is given, and the answer has nothing to do with it
  random       random tokens: nothing to propose
  thinking     random tokens while the model thinks, no draft due

columns:
  plain        microseconds a step of vLLM's scheduler
  ssr          microseconds a step of ours
  overhead     the difference, paired; median over the rounds of the mean over steps
  95 %         confidence interval of that median, from order statistics
  p99          the steps' 99th percentile of the difference
  tokens       tokens a step and request: above 1 where proposals were accepted

Times are CPU times: other programs on the machine disturb them little.
"""
LIMIT_US, IDLE_LIMIT_US = 1000.0, 100.0
"""Microseconds a step that the hooks may cost: at all, and with nothing to propose."""
_WARMUP = 5
"""Steps at the start of a round that are not counted."""


@dataclass(frozen=True)
class Result:
    """What was measured in one scenario; times in microseconds a step."""

    scenario: str
    requests: int
    steps: int
    rounds: int
    plain_us: float
    ssr_us: float
    overhead_us: float
    overhead_low_us: float
    overhead_high_us: float
    overhead_p99_us: float
    tokens_per_step: float
    limit_us: float


def measure(scenario: str, num_requests: int, num_steps: int, rounds: int) -> Result:
    """Measure one scenario.

    Raises:
        BenchmarkError: The two schedulers did not do the same.
    """
    from benchmarks.fake_engine import NUM_SPECULATIVE_TOKENS, Round, SchedulerFactory

    most = (num_steps + _WARMUP + 2) * (NUM_SPECULATIVE_TOKENS + 1)
    cases = [make_case(scenario, most, seed) for seed in range(num_requests)]
    factory = SchedulerFactory(num_requests, NUM_PROMPT + most)
    # Proposals depend on the texts alone: one run tells those of all rounds.
    first = Round(factory, cases)
    steps = [first.step(first.ssr)[1] for _ in range(num_steps + _WARMUP)]
    del first
    times: list[list[tuple[int, int]]] = []
    num_tokens = 0
    for index in range(rounds):
        gc.collect()
        gc.freeze()  # as vLLM's engine does
        each = Round(factory, cases)
        before, pairs = each.num_tokens(), []
        for number, proposals in enumerate(steps):
            each.hand(proposals)
            if (number + index) % 2:
                plain, ssr = each.step(each.plain)[0], each.step(each.ssr)
            else:
                ssr, plain = each.step(each.ssr), each.step(each.plain)[0]
            if ssr[1] != proposals:
                raise BenchmarkError(f"{scenario}: other proposals than before")
            pairs.append((plain, ssr[0]))
        num_tokens = each.num_tokens() - before
        times.append(pairs[_WARMUP:])
        gc.unfreeze()
    means = [statistics.fmean(s - p for p, s in pairs) / 1e3 for pairs in times]
    differences = sorted(s - p for pairs in times for p, s in pairs)
    low, high = interval(means)
    return Result(
        scenario=scenario,
        requests=num_requests,
        steps=num_steps,
        rounds=rounds,
        plain_us=statistics.fmean(p for pairs in times for p, _ in pairs) / 1e3,
        ssr_us=statistics.fmean(s for pairs in times for _, s in pairs) / 1e3,
        overhead_us=statistics.median(means),
        overhead_low_us=low,
        overhead_high_us=high,
        overhead_p99_us=differences[int(0.99 * len(differences))] / 1e3,
        tokens_per_step=num_tokens / len(steps) / num_requests,
        limit_us=IDLE_LIMIT_US if scenario in IDLE else LIMIT_US,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 when `--check` finds too much, 2 when it cannot run."""
    args = _parser().parse_args(argv)
    results = []
    try:
        _prepare(args.steps)
        print(_HEADER)
        for requests in args.requests:
            for scenario in args.scenarios:
                results.append(measure(scenario, requests, args.steps, args.rounds))
                print(_line(results[-1]), flush=True)
        if args.json:
            write_json(args.json, [asdict(result) for result in results])
    except BenchmarkError as error:
        print(f"scheduler_overhead: {error}", file=sys.stderr)
        return 2
    missed = [each for each in results if each.overhead_us > each.limit_us]
    return 1 if missed and args.check else 0


_HEADER = f"""\
{"scenario":12}{"requests":>9}{"plain":>9}{"ssr":>9}{"overhead":>10}\
{"95 %":>20}{"p99":>9}{"tokens":>8}{"limit":>7}"""


def _line(result: Result) -> str:
    of = result
    bounds = f"{of.overhead_low_us:.1f} to {of.overhead_high_us:.1f}"
    missed = "  missed" if of.overhead_us > of.limit_us else ""
    return (
        f"{of.scenario:12}{of.requests:9}{of.plain_us:9.1f}{of.ssr_us:9.1f}"
        f"{of.overhead_us:10.1f}{bounds:>20}{of.overhead_p99_us:9.1f}"
        f"{of.tokens_per_step:8.2f}{of.limit_us:7.0f}{missed}"
    )


def _prepare(num_steps: int) -> None:
    """Import vLLM quietly, and see that the texts fit.

    Raises:
        BenchmarkError: vLLM cannot be imported, or there are too many steps.
    """
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    try:
        from benchmarks.fake_engine import MAX_MODEL_LEN, NUM_SPECULATIVE_TOKENS
    except ImportError as error:
        raise BenchmarkError(
            f"vLLM cannot be imported: {error}. `langchain-ssr doctor` says more."
        ) from error
    room = MAX_MODEL_LEN - NUM_PROMPT
    most = room // (NUM_SPECULATIVE_TOKENS + 1) - _WARMUP - 3
    if num_steps > most:
        raise BenchmarkError(
            f"--steps {num_steps} would overrun the context of {MAX_MODEL_LEN} "
            f"tokens: at most {most}; take more --rounds"
        )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scheduler_overhead",
        description=__doc__,
        epilog=_DEFINITIONS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--json", type=Path, metavar="OUT", help="write the results to this file")
    add("--requests", type=positive, nargs="+", default=[1, 64], metavar="N")
    add("--steps", type=positive, default=200, help="steps a round (default 200)")
    add("--rounds", type=positive, default=11, help="default 11; 6 for an interval")
    add("--scenarios", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    add("--check", action="store_true", help="exit 1 if a limit is missed")
    return parser


if __name__ == "__main__":
    sys.exit(main())
