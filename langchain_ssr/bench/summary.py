"""Figures of a run: for each workload and mode, against the baseline.

Two speed-ups, for they can differ much: the *ratio of mean latencies* (long requests
count more; it is what a queue of such requests sees) and the *mean of per-request
speed-ups* (each request counts the same). The same two of the engine steps of the
answers, which do not depend on the machine. A request that was repeated counts once,
with the mean of its rounds.
"""

from __future__ import annotations

import collections
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from langchain_ssr.bench.intervals import bootstrap
from langchain_ssr.bench.modes import BASELINE
from langchain_ssr.bench.record import Pace, Record

Pair = tuple[float, float]
"""Seconds, or answer steps, of one request: the baseline's and the mode's."""
Measure = Callable[[Record], float | None]
"""What is compared of two answers; None where it is not known."""
_TIMES = ("first_reasoning", "first_draft", "first_answer", "total")
_ROW = (
    *("mode", "item", "digest", "round", "workload", "skipped", *_TIMES),
    *("num_input_tokens", "num_cached_tokens", "num_reasoning_tokens"),
    *("num_answer_tokens", "num_reasoning_steps", "num_answer_steps", "num_steps"),
    *("accepted", "num_extra_tokens", "num_drafts", "drafting", "alone", "timeline"),
    *("finish_reason", "score"),
)


def ratio_of_means(pairs: Sequence[Pair]) -> float:
    """Return the baseline's mean over the mode's."""
    return sum(pair[0] for pair in pairs) / sum(pair[1] for pair in pairs)


def mean_of_ratios(pairs: Sequence[Pair]) -> float:
    """Return the mean, over requests, of the baseline's value over the mode's."""
    return statistics.fmean(pair[0] / pair[1] for pair in pairs)


def latency(record: Record) -> float:
    """Return the seconds of an answer, reasoning included."""
    return record.total


def answer_steps(record: Record) -> float | None:
    """Return the engine steps after the reasoning; None if unknown, or no answer came.

    An answer that came whole in the step that ended the reasoning took one.
    """
    if record.num_answer_steps is None:
        return None
    if not (record.content.strip() or record.tool_calls):
        return None
    return max(record.num_answer_steps, 1)


SPEEDUPS: Mapping[str, Callable[[Sequence[Pair]], float]] = {
    "ratio_of_mean_latencies": ratio_of_means,
    "mean_of_per_request_speedups": mean_of_ratios,
}
ANSWER_STEPS: Mapping[str, Callable[[Sequence[Pair]], float]] = {
    "ratio_of_mean_answer_steps": ratio_of_means,
    "mean_of_per_request_answer_step_ratios": mean_of_ratios,
}


def summarize(records: Iterable[Record], peers: Collection[str] = ()) -> dict[str, Any]:
    """Make figures of records.

    Args:
        records: Of any modes and workloads, in any order.
        peers: Modes that the others are compared with, beside the baseline.

    Returns:
        `baseline` (a mode's name), `workloads` (figures by workload and mode) and
        `requests` (the records without their texts; `same_output` compares them with
        the baseline's).
    """
    every = list(records)
    modes = list(dict.fromkeys(record.mode for record in every))
    baseline = BASELINE if BASELINE in modes else next(iter(modes), None)
    by_key = {record.key: record for record in every}
    workloads: dict[str, dict[str, list[Record]]] = {}
    for record in every:
        of_modes = workloads.setdefault(record.workload, {mode: [] for mode in modes})
        of_modes[record.mode].append(record)
    return {
        "baseline": baseline,
        "workloads": {
            workload: {
                mode: {
                    **_figures(own, of_modes[str(baseline)]),
                    "against": {
                        peer: _compared(own, of_modes[peer])
                        for peer in peers
                        if baseline not in (mode, peer) and peer != mode
                        if of_modes.get(peer)
                    },
                }
                for mode, own in of_modes.items()
                if own
            }
            for workload, of_modes in workloads.items()
        },
        "requests": [
            {
                **record.model_dump(include=set(_ROW), exclude_none=True),
                "same_output": _same(
                    record, by_key.get((str(baseline), *record.key[1:]))
                ),
            }
            for record in every
        ],
    }


def _same(record: Record, other: Record | None) -> bool | None:
    """Whether two answers are equal; None if one is missing."""
    if other is None or record.skipped or other.skipped:
        return None
    return record.output == other.output


def _figures(own: Sequence[Record], baseline: Sequence[Record]) -> dict[str, Any]:
    """Return the figures of one mode on one workload."""
    answered = [record for record in own if not record.skipped]
    others = {record.key[1:]: record for record in baseline}
    compared = [_same(record, others.get(record.key[1:])) for record in answered]
    scores = [record.score for record in answered if record.score is not None]
    return {
        "num_answers": len(answered),
        "num_skipped": len(own) - len(answered),
        **{
            f"mean_{name}": _mean(getattr(r, name) for r in answered) for name in _TIMES
        },
        **_compared(answered, baseline),
        **_work(answered),
        "thinking_tokens_per_second": thinking_speed(answered),
        "ms_per_step_drafting": _pace(record.drafting for record in answered),
        "ms_per_step_alone": _pace(record.alone for record in answered),
        "mean_score": _mean(scores),
        "num_judged": len(scores),
        "num_same_output": sum(same is True for same in compared),
        "num_compared": sum(same is not None for same in compared),
    }


def _compared(own: Sequence[Record], other: Sequence[Record]) -> dict[str, Any]:
    """Compare a mode's answers with those of another one."""
    pairs, steps = paired(own, other), paired(own, other, answer_steps)
    return {
        "num_pairs": len(pairs),
        "num_answer_step_pairs": len(steps),
        **{name: _with_interval(pairs, speedup) for name, speedup in SPEEDUPS.items()},
        **{name: _with_interval(steps, ratio) for name, ratio in ANSWER_STEPS.items()},
    }


def paired(
    own: Iterable[Record], baseline: Iterable[Record], measure: Measure = latency
) -> list[Pair]:
    """Pair what was measured of requests that both modes answered in the same rounds.

    Args:
        own: The mode's answers.
        baseline: The baseline's.
        measure: What is compared; an answer of which it is not known is left out.
    """
    before = {record.key[1:]: record for record in baseline if not record.skipped}
    rounds: dict[str, list[Pair]] = collections.defaultdict(list)
    for record in own:
        other = before.get(record.key[1:])
        if other is None or record.skipped:
            continue
        before_it, it = measure(other), measure(record)
        if before_it is not None and it is not None:
            rounds[record.item].append((before_it, it))
    return [
        (statistics.fmean(a for a, _ in each), statistics.fmean(b for _, b in each))
        for each in rounds.values()
    ]


def _with_interval(
    pairs: Sequence[Pair], speedup: Callable[[Sequence[Pair]], float]
) -> dict[str, float | None]:
    if not pairs:
        return {"value": None, "low": None, "high": None}
    low, high = bootstrap(pairs, speedup) or (None, None)
    return {"value": speedup(pairs), "low": low, "high": high}


def _work(records: Sequence[Record]) -> dict[str, Any]:
    """Return tokens, steps and where accepted tokens came from."""
    accepted: collections.Counter[str] = collections.Counter()
    for record in records:
        accepted.update(record.accepted)
    tokens = sum(record.num_tokens for record in records)
    answer_tokens = sum(record.num_answer_tokens for record in records)
    steps = _sum(record.num_steps for record in records)
    answer_steps = _sum(record.num_answer_steps for record in records)
    extra = _sum(record.num_extra_tokens for record in records)
    return {
        "num_tokens": tokens,
        "num_reasoning_tokens": tokens - answer_tokens,
        "num_answer_tokens": answer_tokens,
        "num_steps": steps,
        "num_answer_steps": answer_steps,
        "tokens_per_step": tokens / steps if steps else None,
        "tokens_per_answer_step": (
            answer_tokens / answer_steps if answer_steps else None
        ),
        "accepted": dict(accepted),
        "num_extra_tokens": extra,
        "extra_tokens_per_token": extra / tokens
        if tokens and extra is not None
        else None,
        "num_drafts": sum(record.num_drafts for record in records),
    }


def thinking_speed(records: Iterable[Record]) -> float | None:
    """Return reasoning tokens per second, from the first one to the answer."""
    tokens, seconds = 0, 0.0
    for record in records:
        if record.first_reasoning is None or record.first_answer is None:
            continue
        tokens += record.num_reasoning_tokens
        seconds += record.first_answer - record.first_reasoning
    return tokens / seconds if seconds > 0 else None


def _pace(paces: Iterable[Pace | None]) -> float | None:
    known = [pace for pace in paces if pace is not None]
    steps = sum(pace.num_steps for pace in known)
    return sum(pace.ms for pace in known) / steps if steps else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _sum(values: Iterable[int | None]) -> int | None:
    """Add up; None if one is not known."""
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total
