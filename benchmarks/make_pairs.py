"""Rebuild draft/final pairs for `benchmarks.replay` from ClassEval's published outputs.

    git clone https://github.com/FudanSELab/ClassEval
    python -m benchmarks.make_pairs --classeval ClassEval --tokenizer DIR --out FILE
    python -m benchmarks.replay --pairs FILE

ClassEval (FudanSELab/ClassEval, MIT licence, copyright 2023 NLP Group, NTU) publishes
what models answered to its 100 tasks. Two of them, GPT-3.5-Turbo and Gemini-Pro, were
asked for each whole class five times at temperature 0.2. Such samples stand in for the
drafts and the answer of one model; they are no drafts of SSR. Nothing is downloaded.

One case a task and model: the five samples are shuffled; the first is the answer
(`final_ids`), the next three are the drafts (`drafts_ids`), the last is left out. The
prompt (`prompt_ids`) is a sentence and the class skeleton of the output file. All are
tokenized without special tokens. The first 50 tasks of each model are written; the
others (`--half second`) are for judging what was tuned on the first.

The 100 pairs that the matcher was developed on were made before this script, from the
same outputs; how the samples were chosen was not written down. Checked on them:

- The same: models, tasks and their order, tokens without special ones (all 400 answers
  and drafts come out equal when they are decoded and tokenized again), and the prompt.
  In 94 cases it is the sentence and the skeleton of the repository's data file; the
  skeletons of tasks 0, 5 and 17 differ there, and the output file has that of task 0.
- The shuffle was found by comparing cases with the outputs. In all four of them (tasks
  0 and 1 of GPT-3.5-Turbo, 0 and 47 of Gemini-Pro) the samples are those of a
  `random.Random(7)` that shuffles all 100 tasks of one model after those of the other.
- Not checked: the other cases. This script was run on a made-up folder of the same
  layout only.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common import BenchmarkError
from langchain_ssr.bench.files import FormatError, read_json
from langchain_ssr.errors import SettingsError

OUTPUTS = Path("output", "model_output_v1.0.0")
"""Where the repository has what models answered."""
SAMPLED = "_class_H_t0.2.json"
"""How a file's name ends whose model wrote whole classes ("holistic"), five samples of
each at temperature 0.2; before it stands the model's name."""
PROMPT = "Please complete the class in the following code.\n\n{skeleton}"
NUM_DRAFTS = 3
SEED = 7
HALVES = ("first", "second")
_WANTED = "ClassEval's model outputs"


class Samples(NamedTuple):
    """What one model answered to one task, in the order of the file."""

    id: str
    skeleton: str
    texts: list[str]


def read_outputs(root: Path) -> list[list[Samples]]:
    """Read what models answered, one list a model.

    Args:
        root: A clone of the ClassEval repository.

    Raises:
        BenchmarkError: There is no such folder, or it is laid out in another way.
        SettingsError: A file of it cannot be read or is of another form.
    """
    if not root.is_dir():
        raise BenchmarkError(
            f"{root} is no folder. --classeval takes a clone of the repository: "
            "git clone https://github.com/FudanSELab/ClassEval"
        )
    files = sorted((root / OUTPUTS).glob(f"*{SAMPLED}"))
    if not files:
        raise BenchmarkError(
            f"{root / OUTPUTS} has no file *{SAMPLED}. --classeval takes the root of a "
            "whole clone of FudanSELab/ClassEval, the folder that has output/ and data/"
        )
    return [_read_model(file) for file in files]


def _read_model(path: Path) -> list[Samples]:
    tasks = read_json(path)
    if not isinstance(tasks, list) or not tasks:
        raise FormatError(path, _WANTED, "it is not a list of tasks")
    model = path.name.removesuffix(SAMPLED)
    return [_read_task(path, model, i, task) for i, task in enumerate(tasks)]


def _read_task(path: Path, model: str, number: int, task: Any) -> Samples:
    try:
        name, skeleton, texts = task["task_id"], task["skeleton"], task["predict"]
    except (TypeError, KeyError) as error:
        problem = f"entry {number} lacks task_id, skeleton or predict"
        raise FormatError(path, _WANTED, problem) from error
    if not all(isinstance(text, str) for text in (name, skeleton)):
        raise FormatError(path, _WANTED, f"entry {number}: no text")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise FormatError(path, _WANTED, f"{name}: predict is not a list of texts")
    if len(texts) <= NUM_DRAFTS:
        problem = f"{name}: {len(texts)} samples, a case needs {NUM_DRAFTS + 1}"
        raise FormatError(path, _WANTED, problem)
    return Samples(f"{model}/{name}", skeleton, texts)


def make_pairs(
    models: Sequence[Sequence[Samples]], tokenizer: Any, half: str = HALVES[0]
) -> Iterator[dict[str, Any]]:
    """Make the cases of one half of each model's tasks.

    Args:
        models: As `read_outputs` returns them.
        tokenizer: A `tokenizers.Tokenizer`.
        half: One of `HALVES`.

    Yields:
        Cases as `benchmarks.replay` reads them, with an `id` of model and task.
    """
    rng = random.Random(SEED)

    def tokenize(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    for tasks in models:
        for number, task in enumerate(tasks):
            texts = list(task.texts)
            rng.shuffle(texts)  # of the tasks that are not wanted, too
            if half != HALVES[number >= len(tasks) / 2]:
                continue
            final, *drafts = texts[: NUM_DRAFTS + 1]
            if not final:  # nothing to replay
                continue
            yield {
                "id": task.id,
                "prompt_ids": tokenize(PROMPT.format(skeleton=task.skeleton)),
                "drafts_ids": [tokenize(draft) for draft in drafts],
                "final_ids": tokenize(final),
            }


def load_tokenizer(folder: Path) -> Any:
    """Load the tokenizer of a model's folder.

    Raises:
        BenchmarkError: There is none, or its library is missing.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise BenchmarkError("a tokenizer needs: pip install tokenizers") from error
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise BenchmarkError(
            f"{path} does not exist. --tokenizer takes a folder that has it: "
            "`langchain-ssr models get smollm2` prepares one"
        )
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # of a plain `Exception`, in Rust
        raise BenchmarkError(f"{path} is no tokenizer: {error}") from error


def write_cases(path: Path, cases: Sequence[dict[str, Any]]) -> None:
    """Write cases as JSON lines, equal ones as equal bytes.

    Args:
        path: The file; one whose name ends in `.gz` is compressed.
        cases: The cases.

    Raises:
        BenchmarkError: The file cannot be written.
    """
    data = "".join(f"{json.dumps(case)}\n" for case in cases).encode()
    try:
        path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    except OSError as error:
        raise BenchmarkError(f"cannot write {path}: {error}") from error


def main(argv: Sequence[str] | None = None) -> int:
    """Rebuild the pairs; 2 when the input is bad."""
    args = _parser().parse_args(argv)
    try:
        models = read_outputs(args.classeval)
        tokenizer = load_tokenizer(args.tokenizer)
        cases = list(make_pairs(models, tokenizer, args.half))
        write_cases(args.out, cases)
    except (BenchmarkError, SettingsError) as error:
        print(f"make_pairs: {error}", file=sys.stderr)
        return 2
    print(f"{len(cases)} cases of {len(models)} models: {args.out}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.make_pairs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--classeval", type=Path, required=True, help="clone of FudanSELab/ClassEval"
    )
    parser.add_argument(
        "--tokenizer", type=Path, required=True, help="folder with a tokenizer.json"
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="JSON lines; .gz is compressed"
    )
    parser.add_argument(
        "--half", choices=HALVES, default=HALVES[0], help="of each model's tasks"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
