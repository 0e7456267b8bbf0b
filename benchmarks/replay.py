"""Replay recorded answers through the matcher and count engine steps.

No model runs: the recorded answer stands in for it. In each step the matcher proposes,
the longest correct prefix is accepted, and the engine adds one token of its own.

Input: JSON lines (`.jsonl` or `.jsonl.gz`), one case a line, with lists of token ids in
`prompt_ids`, `final_ids` and `drafts_ids` (a list of lists). All drafts are available
from the first answer token on; there is no reasoning.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, cast

from langchain_ssr.engine.matcher import Matcher
from langchain_ssr.engine.suffix_index import common_prefix

_DEFINITIONS = """\
tokens_per_step      answer tokens over engine steps, both summed over all cases
verified_per_token   proposed tokens, accepted or not, over answer tokens; the engine's
                     own token of each step, which plain decoding computes as well, is
                     not counted (so vLLM's suffix decoding scores 1.04 on the
                     ClassEval pairs)
us_per_proposal      CPU time of one Matcher.propose, in microseconds
us_per_extension     CPU time of taking in one step's outcome, in microseconds
"""


class ReplayError(Exception):
    """The input cannot be replayed; the message says why."""


@dataclass(frozen=True)
class Case:
    """A recorded answer and what was known before it, as token ids."""

    prompt: list[int]
    drafts: list[list[int]]
    answer: list[int]


@dataclass
class Counts:
    """What happened while answers were replayed."""

    tokens: int = 0
    steps: int = 0
    proposed: int = 0
    propose_seconds: float = 0.0
    """CPU time for proposing."""
    extend_seconds: float = 0.0
    """CPU time for taking in the outcome: cursors and index."""


@dataclass(frozen=True)
class Report:
    """The benchmark's result; its fields are the keys of the JSON output."""

    cases: int
    max_spec: int
    drafts: int
    tokens_per_step: float
    tokens_per_step_case_mean: float
    verified_per_token: float
    us_per_proposal: float
    us_per_extension: float


def read_cases(path: Path) -> list[Case]:
    """Read the cases of a `.jsonl` or `.jsonl.gz` file.

    Raises:
        ReplayError: The file is missing, empty or malformed.
    """
    try:
        with _open(path) as file:
            lines = file.readlines()
    except FileNotFoundError as error:
        raise ReplayError(f"{path} does not exist") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ReplayError(f"cannot read {path}: {error}") from error
    cases = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            cases.append(_parse(json.loads(line)))
        except (ValueError, TypeError) as error:
            raise ReplayError(f"{path}, line {number}: {error}") from error
    if not cases:
        raise ReplayError(f"{path} has no cases")
    return cases


def replay(case: Case, max_spec: int) -> Counts:
    """Replay one answer, proposing at most `max_spec` tokens a step."""
    matcher = Matcher(case.prompt)
    for draft in case.drafts:
        matcher.add_draft(draft)
    matcher.start_answer()
    counts = Counts()
    while counts.tokens < len(case.answer):
        rest = case.answer[counts.tokens : counts.tokens + max_spec + 1]
        start = time.thread_time()
        proposal = matcher.propose(max_spec)
        counts.propose_seconds += time.thread_time() - start

        proposed = proposal.tokens if proposal else []
        emitted = rest[: common_prefix(proposed, rest) + 1]

        start = time.thread_time()
        matcher.extend_answer(emitted)
        counts.extend_seconds += time.thread_time() - start
        counts.tokens += len(emitted)
        counts.steps += 1
        counts.proposed += len(proposed)
    return counts


def run(cases: Sequence[Case], max_spec: int, drafts: int) -> Report:
    """Replay all cases with the first `drafts` drafts of each.

    Raises:
        ReplayError: A case has fewer drafts.
    """
    fewest = min(len(case.drafts) for case in cases)
    if fewest < drafts:
        raise ReplayError(f"{drafts} drafts wanted, but a case has only {fewest}")
    each = [
        replay(Case(case.prompt, case.drafts[:drafts], case.answer), max_spec)
        for case in cases
    ]
    tokens = sum(counts.tokens for counts in each)
    steps = sum(counts.steps for counts in each)
    return Report(
        cases=len(cases),
        max_spec=max_spec,
        drafts=drafts,
        tokens_per_step=tokens / steps,
        tokens_per_step_case_mean=sum(c.tokens / c.steps for c in each) / len(each),
        verified_per_token=sum(counts.proposed for counts in each) / tokens,
        us_per_proposal=1e6 * sum(counts.propose_seconds for counts in each) / steps,
        us_per_extension=1e6 * sum(counts.extend_seconds for counts in each) / steps,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 when a threshold is missed, 2 when the input is bad."""
    args = _parser().parse_args(argv)
    try:
        cases = read_cases(args.pairs)
        report = run(cases, args.max_spec, args.drafts)
        if args.json:
            _write(args.json, report)
    except ReplayError as error:
        print(f"replay: {error}", file=sys.stderr)
        return 2
    for key, value in asdict(report).items():
        print(
            f"{key:26} {value:.2f}" if isinstance(value, float) else f"{key:26} {value}"
        )
    missed = _missed(report, args.min_tokens_per_step, args.max_verified)
    for message in missed:
        print(f"replay: {message}", file=sys.stderr)
    return 1 if missed else 0


def _missed(
    report: Report, min_tokens_per_step: float | None, max_verified: float | None
) -> list[str]:
    """Return a message for each threshold that the report misses."""
    messages = []
    steps, verified = report.tokens_per_step, report.verified_per_token
    if min_tokens_per_step is not None and steps < min_tokens_per_step:
        messages.append(f"{steps:.2f} tokens per step, wanted {min_tokens_per_step}")
    if max_verified is not None and verified > max_verified:
        messages.append(f"{verified:.2f} verified per token, allowed {max_verified}")
    return messages


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.replay",
        description=__doc__,
        epilog=_DEFINITIONS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--pairs", type=Path, required=True, help="file of cases")
    parser.add_argument("--max-spec", type=_positive, default=32, help="default 32")
    parser.add_argument(
        "--drafts", type=_natural, default=1, help="drafts used per case (default 1)"
    )
    parser.add_argument("--json", type=Path, help="write the report to this file")
    parser.add_argument("--min-tokens-per-step", type=float, help="exit 1 below this")
    parser.add_argument("--max-verified", type=float, help="exit 1 above this")
    return parser


def _natural(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value


def _positive(text: str) -> int:
    value = _natural(text)
    if value == 0:
        raise argparse.ArgumentTypeError("must be positive")
    return value


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return cast("IO[str]", gzip.open(path, "rt", encoding="utf-8"))
    return path.open(encoding="utf-8")


def _parse(row: Any) -> Case:
    """Check one decoded line."""
    if not isinstance(row, dict):
        raise TypeError("not a JSON object")
    for key in ("prompt_ids", "drafts_ids", "final_ids"):
        if not isinstance(row.get(key), list):
            raise TypeError(f"{key} is missing or not a list")
    prompt, drafts, answer = row["prompt_ids"], row["drafts_ids"], row["final_ids"]
    if not answer:
        raise ValueError("final_ids is empty")
    for tokens in (prompt, answer, *drafts):
        if not isinstance(tokens, list) or any(
            type(token) is not int for token in tokens
        ):
            raise TypeError("token ids must be lists of integers")
    return Case(prompt, drafts, answer)


def _write(path: Path, report: Report) -> None:
    try:
        path.write_text(json.dumps(asdict(report), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise ReplayError(f"cannot write {path}: {error}") from error


if __name__ == "__main__":
    sys.exit(main())
