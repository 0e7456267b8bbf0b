"""Test that speculation leaves the distribution of sampled answers as it is.

A tiny random model thinks for a few tokens, drafts meanwhile, and answers; drafts are
verified and resumed as ever. The first three tokens of each answer are compared with
the model's exact probabilities, computed by transformers in float32, given all tokens
before them: chi-square tests, corrected for their number by Holm's method.

Exits with 0 if every corrected p-value is above 0.01 and drafts were at work, with 1 if
not, and with 2 if the test could not be made.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import mixing_model
from benchmarks.common import BenchmarkError, positive, write_json
from benchmarks.distribution_cases import BY_NAME, CASES, Case
from benchmarks.distribution_check import Outcome, check
from benchmarks.distribution_samples import draw
from benchmarks.exact_probabilities import Reference
from benchmarks.goodness_of_fit import holm
from langchain_ssr import ChatSSR
from langchain_ssr.errors import EngineNotInstalledError

_DEFINITIONS = """\
columns, the first five in percent of the samples:
  verified   draft tokens were proposed at the beginning of the answer
  accepted   at least one draft token was accepted
  rejected   at least one draft token was rejected
  resumed    draft tokens were proposed elsewhere, as after a rejected one
  stratum    prefix: tokens before which the whole answer came from a draft, the first
             token included; resumed: all others
  draws      tokens that were tested
  chi2, df   statistic and degrees of freedom
  p, Holm    p-value, and the same corrected for the number of tests
"""
SAMPLES, LEAST_P = 5000, 0.01
_ENGINE: dict[str, Any] = {
    "dtype": "float32",
    "max_model_len": 256,
    "max_num_seqs": 128,
    "kv_cache_memory_bytes": 128 << 20,
}


def run(
    llm: ChatSSR,
    reference: Reference,
    case: Case,
    *,
    num_samples: int,
    seed: int,
) -> list[Outcome]:
    """Draw and check the samples of one case.

    Args:
        llm: A chat model on an engine that speculates.
        reference: The same model.
        case: What to ask for.
        num_samples: Samples of each kind of request.
        seed: Where the requests' seeds come from.
    """
    samples = draw(llm, case, num_samples, seed)
    return [check(asked, samples[asked.name], reference.logits) for asked in case.asked]


def correct(outcomes: Sequence[Outcome]) -> list[dict[str, float]]:
    """Return Holm's p-values of all tests, for each outcome by stratum."""
    pairs = [(at, name) for at, each in enumerate(outcomes) for name in each.fits]
    values = [outcomes[at].fits[name].p_value for at, name in pairs]
    corrected: list[dict[str, float]] = [{} for _ in outcomes]
    for (at, name), value in zip(pairs, holm(values), strict=True):
        corrected[at][name] = value
    return corrected


def failures(
    outcomes: Sequence[Outcome], corrected: Sequence[dict[str, float]], least_p: float
) -> list[str]:
    """Say what speaks against the samples."""
    messages = []
    for outcome, values in zip(outcomes, corrected, strict=True):
        name = outcome.asked.name
        if not outcome.exercise.suffices:
            messages.append(f"{name}: drafts were hardly at work: {outcome.exercise}")
        if outcome.malformed:
            messages.append(f"{name}: {outcome.malformed} samples are malformed")
        for stratum, value in values.items():
            if outcome.fits[stratum].df == 0:
                messages.append(f"{name}, {stratum}: too few samples to test")
            elif value <= least_p:
                messages.append(f"{name}, {stratum}: another distribution, p={value:g}")
    return messages


def main(argv: Sequence[str] | None = None) -> int:
    """Run the test; see the module for the exit code."""
    args = _parser().parse_args(argv)
    outcomes: list[Outcome] = []
    start = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="distribution-") as folder:
            for each in _outcomes(args, Path(folder)):
                outcomes += each
                print(*map(_lines, each), sep="\n", flush=True)
        corrected = correct(outcomes)
        failed = failures(outcomes, corrected, LEAST_P)
        if args.json:
            write_json(args.json, _report(args, outcomes, corrected, failed, start))
    except (BenchmarkError, EngineNotInstalledError) as error:
        print(f"distribution: {error}", file=sys.stderr)
        return 2
    smallest = min(value for each in corrected for value in each.values())
    print(f"smallest p-value, corrected: {smallest:.3g}")
    for message in failed:
        print(f"distribution: {message}", file=sys.stderr)
    return 1 if failed else 0


def _outcomes(args: argparse.Namespace, folder: Path) -> Iterator[list[Outcome]]:
    model = mixing_model.make(folder)
    reference = Reference(model)
    engine = _ENGINE | {"seed": args.seed}
    print(_HEADER)
    with ChatSSR(model=str(model), engine_kwargs=engine) as llm:
        for name in args.case or BY_NAME:
            yield run(
                llm,
                reference,
                BY_NAME[name],
                num_samples=args.samples,
                seed=args.seed,
            )


def _report(
    args: argparse.Namespace,
    outcomes: Sequence[Outcome],
    corrected: Sequence[dict[str, float]],
    failed: Sequence[str],
    start: float,
) -> dict[str, Any]:
    results = []
    for outcome, values in zip(outcomes, corrected, strict=True):
        result = outcome.to_dict()
        for stratum, value in values.items():
            result["strata"][stratum]["p_value_holm"] = value
        results.append(result)
    return {
        "samples": args.samples,
        "seed": args.seed,
        "least_p": LEAST_P,
        "passed": not failed,
        "failures": list(failed),
        "seconds": round(time.monotonic() - start, 1),
        "results": results,
    }


_HEADER = f"""\
{"":52}{"verified":>9}{"accepted":>9}{"rejected":>9}{"resumed":>8}\
  {"stratum":8}{"draws":>7}{"chi2":>8}{"df":>5}{"p":>9}"""


def _lines(outcome: Outcome) -> str:
    did = outcome.exercise
    shares = (did.verified, did.accepted, did.rejected, did.resumed)
    widths = (9, 9, 9, 8)
    left = f"{outcome.asked.name:52}" + "".join(
        f"{100 * share / did.samples:{width}.0f}"
        for share, width in zip(shares, widths, strict=True)
    )
    lines = []
    for stratum, fit in outcome.fits.items():
        lines.append(
            f"{left}  {stratum:8}{fit.draws:7}{fit.statistic:8.1f}{fit.df:5}"
            f"{fit.p_value:9.2g}"
        )
        left = " " * len(left)
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.distribution",
        description=__doc__,
        epilog=_DEFINITIONS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--samples",
        type=positive,
        default=SAMPLES,
        help=f"samples of each kind of request (default {SAMPLES})",
    )
    add("--seed", type=int, default=0, help="seed of engine and requests (default 0)")
    add("--json", type=Path, metavar="OUT", help="write the results to this file")
    add(
        "--case",
        action="append",
        choices=[case.name for case in CASES],
        help="run only this case; may be repeated",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
