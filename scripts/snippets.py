"""Runs the code of README.md, docs/, the model card and docstrings, or it says why not.

    python scripts/snippets.py [PAGE ...] [--model MODEL]

The Python blocks of a page run in order in one namespace, and so in one process with
the engine that they start. Comments before a block, which readers do not see, steer it:

    <!-- not run: REASON -->    skip the next block
    <!-- run -->                run the next shell block
    <!-- setup
    CODE                        run this here, though the page does not show it
    -->

`{/* ... */}` does the same in MDX. A shell block without a mark is an error, since most
must not be run by chance; so is one of a language that nothing here runs, and one that
names none. Only blocks of `text` and `markdown` are no code. Commands find `examples/`
where they run, as in the repository.

It prints counts as JSON, those of hidden setup apart: a block that fails, one that says
neither `run` nor why not, and a mark that belongs to no block make it exit with 1.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import contextlib
import dataclasses
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import docstrings
from fences import Fence, PageError, fence_at

ROOT = Path(__file__).resolve().parents[1]
PYTHON = frozenset({"python", "py"})
SHELL = frozenset({"bash", "sh", "shell", "console"})
NO_CODE = frozenset({"text", "markdown"})
CARD = ROOT / "langchain_ssr" / "demo" / "model" / "README.md"
_COMMENT = re.compile(r" *(?:<!--|\{/\*)(?P<text>.*?)(?:-->|\*/\}) *", re.DOTALL)
_MARK = re.compile(r"(?P<kind>not run:|run$|setup\n)(?P<rest>.*)", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Block:
    """A piece of code of a page.

    Attributes:
        page: The file.
        line: Number of its first line, from 1.
        language: `"python"`, `"shell"`, or `"other"`: nothing here runs it.
        code: The code, without the indentation that the page adds.
        reason: Why it is not run; `None` if it is.
        hidden: Whether it is setup, which the page does not show.
    """

    page: Path
    line: int
    language: Literal["python", "shell", "other"]
    code: str
    reason: str | None = None
    hidden: bool = False


def blocks_of(page: Path) -> list[Block]:
    """Collect the blocks of code of a page.

    Args:
        page: A Markdown or MDX file.

    Raises:
        PageError: If a mark belongs to no block or gives no reason, a block does not
            end or names no language, or one that is not of Python is neither run nor
            says why.
    """
    try:
        return list(_scan(page, page.read_text(encoding="utf-8").splitlines()))
    except PageError as error:
        raise PageError(f"{page}:{error}") from None


def _scan(page: Path, lines: Sequence[str]) -> Iterator[Block]:
    at, mark, marked_at = 0, "", 0
    while at < len(lines):
        if fence := fence_at(lines, at):
            if fence.language not in NO_CODE:
                yield _block(page, fence, mark)
            elif mark:
                raise PageError(f"{marked_at}: this block cannot be marked")
            at, mark = fence.end + 1, ""
            continue
        comment, end = _comment(lines, at)
        found = _MARK.fullmatch(comment.strip()) if comment is not None else None
        if found and found["kind"] == "setup\n":
            yield Block(page, at + 2, "python", found["rest"] + "\n", hidden=True)
        elif found:
            mark, marked_at = comment.strip() if comment else "", at + 1
            if mark == "not run:":
                raise PageError(f"{marked_at}: the reason is missing")
        elif mark and lines[at].strip():
            raise PageError(f"{marked_at}: no block follows this mark")
        at = end + 1
    if mark:
        raise PageError(f"{marked_at}: no block follows this mark")


def _comment(lines: Sequence[str], start: int) -> tuple[str | None, int]:
    """Return the text of a comment that begins here, and where its last line is."""
    if not lines[start].lstrip().startswith(("<!--", "{/*")):
        return None, start
    for end in range(start, len(lines)):
        if found := _COMMENT.fullmatch("\n".join(lines[start : end + 1])):
            return found["text"], end
    return None, start


def _block(page: Path, fence: Fence, mark: str) -> Block:
    line = fence.start + 2
    if not fence.language:
        raise PageError(f"{fence.start + 1}: this block names no language: `text`?")
    reason = mark.removeprefix("not run:").strip() if mark[:3] == "not" else None
    if fence.language in PYTHON:
        return Block(page, line, "python", fence.code, reason)
    if reason is None and fence.language not in SHELL:
        raise PageError(f"{fence.start + 1}: nothing runs this block: say why not")
    if not mark:
        raise PageError(f"{fence.start + 1}: this block needs `run`, or why it is not")
    kind: Literal["shell", "other"] = "shell" if fence.language in SHELL else "other"
    return Block(page, line, kind, fence.code, reason)


@dataclasses.dataclass
class Counts:
    """What became of blocks.

    Attributes:
        run: Blocks that readers see and that were run.
        setup: Hidden blocks that were run.
        skipped: Blocks that say why they are not run.
        failed: Blocks that were run, hidden or not, and have failed.
    """

    run: int = 0
    setup: int = 0
    skipped: int = 0
    failed: int = 0


class Runner:
    """Runs the blocks of one page.

    Args:
        page: The file.
        model: Stands in for the model `"demo"`.

    Attributes:
        namespace: The names that the page's Python code has defined.
        counts: What became of its blocks.
    """

    def __init__(self, page: Path, model: str = "demo") -> None:
        """Begin with an empty namespace."""
        self._page, self._model = page, model
        # A real module, since pydantic looks annotations up where a class was made.
        module = types.ModuleType(f"snippets_of_{page.stem.replace('-', '_')}")
        sys.modules[module.__name__] = module
        self.namespace: dict[str, Any] = module.__dict__
        self.counts = Counts()

    def run(self) -> Counts:
        """Run all blocks in a folder of their own; say on stderr what fails."""
        with (
            tempfile.TemporaryDirectory(prefix="snippets-") as folder,
            contextlib.chdir(folder),
            contextlib.redirect_stdout(sys.stderr),
        ):
            Path("examples").symlink_to(ROOT / "examples")
            for block in blocks_of(self._page):
                self._try(block)
        return self.counts

    def _try(self, block: Block) -> None:
        where = f"{block.page.name}:{block.line}"
        if block.reason is not None:
            self.counts.skipped += 1
            return
        if block.hidden:
            self.counts.setup += 1
        else:
            self.counts.run += 1
        print(f"snippets: {where}", file=sys.stderr, flush=True)
        try:
            if block.language == "python":
                run_python(self._with_model(block), self.namespace)
            else:
                run_shell(block)
        except (Exception, SystemExit):  # noqa: BLE001 - whatever a page does
            self.counts.failed += 1
            traceback.print_exc()
            print(f"snippets: {where} failed", file=sys.stderr, flush=True)

    def _with_model(self, block: Block) -> Block:
        code = block.code.replace('"demo"', json.dumps(self._model))
        return dataclasses.replace(block, code=code)


def compile_block(block: Block) -> types.CodeType:
    """Compile a block so that tracebacks show the page's own lines.

    `await` may stand outside of functions, as in a notebook.
    """
    code: types.CodeType = compile(
        "\n" * (block.line - 1) + block.code,
        str(block.page),
        "exec",
        ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
        dont_inherit=True,
    )
    return code


def run_python(block: Block, namespace: dict[str, Any]) -> None:
    """Run a block in a namespace."""
    result = eval(compile_block(block), namespace)  # noqa: S307 - what it is for
    if inspect.iscoroutine(result):
        asyncio.run(result)


def run_shell(block: Block) -> None:
    """Run a block by bash, with this Python's commands first.

    Raises:
        subprocess.CalledProcessError: If a command fails.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.code],  # noqa: S607 - by PATH
        check=False,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    print(done.stdout, end="", file=sys.stderr)
    done.check_returncode()


def pages() -> list[Path]:
    """Return README.md, the pages of docs/ and the model card, which is one of them."""
    found = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/**/*.mdx")]
    return [ROOT / "README.md", *sorted(found), CARD]


def everything() -> Iterator[Path]:
    """Yield the pages, and pages of the docstrings, which go away afterwards."""
    yield from pages()
    with docstrings.pages() as written:
        yield from written


def main(argv: Sequence[str] | None = None) -> int:
    """Run the blocks; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="default: all")
    parser.add_argument("--model", default="demo", help="instead of the demo model")
    arguments = parser.parse_args(argv)
    total = Counts()
    try:
        for page in arguments.pages or everything():
            counts = Runner(page.resolve(), arguments.model).run()
            _close_engines()
            for name, count in dataclasses.asdict(counts).items():
                setattr(total, name, getattr(total, name) + count)
    except PageError as error:
        sys.exit(f"snippets: {error}")
    print(json.dumps(dataclasses.asdict(total)))
    return 1 if total.failed else 0


def _close_engines() -> None:
    """End the engines of a page: two at a time slow each other down."""
    if embedded := sys.modules.get("langchain_ssr.backends.embedded"):
        embedded.REGISTRY.close_all()


if __name__ == "__main__":
    sys.exit(main())
