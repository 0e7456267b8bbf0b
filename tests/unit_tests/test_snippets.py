"""Code on pages is collected, marked and run as scripts/snippets.py says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit_tests.loading import load_script

snippets = load_script("snippets")


@pytest.fixture
def page(tmp_path):
    def write(text: str, name: str = "page.md") -> Path:
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return file

    return write


def told(blocks) -> list[tuple]:
    return [(b.line, b.language, b.code, b.reason) for b in blocks]


def test_python_blocks_are_collected_with_their_lines(page):
    file = page(
        "# Title\n\n```python\na = 1\n```\n\n```text\nb\n```\n\n```py\nc\n```\n"
    )
    assert told(snippets.blocks_of(file)) == [
        (4, "python", "a = 1\n", None),
        (12, "python", "c\n", None),
    ]


def test_a_mark_gives_the_reason_and_holds_for_one_block(page):
    mark = "<!-- not run: needs a GPU -->"
    file = page(f"{mark}\n\n```python\na\n```\n```python\nb\n```\n")
    assert [b.reason for b in snippets.blocks_of(file)] == ["needs a GPU", None]


def test_mdx_comments_are_marks_too(page):
    file = page("{/* not run: needs a key */}\n```python title\na\n```\n", "p.mdx")
    assert told(snippets.blocks_of(file)) == [(3, "python", "a\n", "needs a key")]


def test_shell_blocks_are_run_or_say_why_not(page):
    file = page(
        "<!-- not run: removes x -->\n```bash\nrm -r x\n```\n"
        "<!-- run -->\n```bash\ntrue\n```\n"
    )
    assert told(snippets.blocks_of(file)) == [
        (3, "shell", "rm -r x\n", "removes x"),
        (7, "shell", "true\n", None),
    ]


def test_code_that_nothing_runs_says_why(page):
    file = page("<!-- not run: needs a cluster -->\n```yaml\na: 1\n```\n")
    assert told(snippets.blocks_of(file)) == [(3, "other", "a: 1\n", "needs a cluster")]


def test_setup_is_hidden_and_has_the_right_line(page):
    file = page("text\n<!-- setup\na = 1\nb = 2\n-->\n```python\nc\n```\n")
    assert [block.hidden for block in snippets.blocks_of(file)] == [True, False]
    assert told(snippets.blocks_of(file)) == [
        (3, "python", "a = 1\nb = 2\n", None),
        (7, "python", "c\n", None),
    ]


def test_indented_blocks_lose_the_indentation_of_the_page(page):
    file = page('=== "Tab"\n\n    ```python\n    if a:\n        b\n\n    ```\n')
    assert told(snippets.blocks_of(file)) == [(4, "python", "if a:\n    b\n\n", None)]


def test_blocks_inside_a_longer_fence_are_text(page):
    file = page("````markdown\n```python\na\n```\n````\n~~~python\nb\n~~~\n")
    assert told(snippets.blocks_of(file)) == [(7, "python", "b\n", None)]


def test_other_comments_mean_nothing(page):
    file = page("<!-- Written by a script -->\n<!-- a\nb\n-->\n```python\na\n```\n")
    assert told(snippets.blocks_of(file)) == [(6, "python", "a\n", None)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- not run: x -->\ntext\n```python\na\n```\n", ":1: no block follows"),
        ("\n<!-- run -->\n", ":2: no block follows"),
        ("<!-- not run: -->\n```python\na\n```\n", ":1: the reason is missing"),
        ("<!-- run -->\n```text\na\n```\n", ":1: this block cannot be marked"),
        ("\n```bash\ntrue\n```\n", ":2: this block needs `run`, or why it is not"),
        ("```yaml\na: 1\n```\n", ":1: nothing runs this block: say why not"),
        ("<!-- run -->\n```json\n{}\n```\n", ":2: nothing runs this block"),
        ("```python\na\n", ":1: this block does not end"),
        ("\n```\na\n```\n", ":2: this block names no language"),
        ("<!-- not run: x -->\n~~~\na\n~~~\n", ":2: this block names no language"),
    ],
)
def test_what_a_page_gets_wrong_is_an_error(page, text, message):
    with pytest.raises(snippets.PageError, match=message):
        snippets.blocks_of(page(text))


@given(st.lists(st.sampled_from(["python", "bash", "yaml", "text"]), max_size=6))
def test_every_block_of_code_is_run_or_has_a_reason(tmp_path_factory, languages):
    marks = {"bash": ["<!-- run -->"], "yaml": ["<!-- not run: it -->"]}
    lines: list[str] = []
    for language in languages:
        lines += [*marks.get(language, []), f"```{language}", "x", "```", "text"]
    file = tmp_path_factory.mktemp("page") / "page.md"
    file.write_text("\n".join(lines))
    blocks = snippets.blocks_of(file)
    assert len(blocks) == len(languages) - languages.count("text")
    reasons = [block.reason for block in blocks if block.reason is not None]
    assert reasons == ["it"] * languages.count("yaml")


def counts(capsys) -> dict:
    return json.loads(capsys.readouterr().out)


def test_blocks_of_a_page_share_a_namespace(page, capsys):
    file = page("```python\na = 1\n```\n```python\nassert a == 1\nprint(a)\n```\n")
    assert snippets.main([str(file)]) == 0
    assert counts(capsys) == {"run": 2, "setup": 0, "skipped": 0, "failed": 0}


def test_setup_is_counted_apart(page, capsys):
    file = page(
        "<!-- setup\na = 1\n-->\n```python\nassert a\n```\n<!-- setup\n1/0\n-->\n"
    )
    assert snippets.main([str(file)]) == 1
    assert counts(capsys) == {"run": 1, "setup": 2, "skipped": 0, "failed": 1}


def test_pages_do_not_share_a_namespace(page, capsys):
    one = page("```python\na = 1\n```\n", "one.md")
    other = page("```python\nassert 'a' not in globals()\n```\n", "other.md")
    assert snippets.main([str(one), str(other)]) == 0
    assert counts(capsys) == {"run": 2, "setup": 0, "skipped": 0, "failed": 0}


def test_a_block_that_fails_is_counted_and_shown_with_its_line(page, capsys):
    file = page(
        "<!-- not run: it -->\n```python\n1 / 0\n```\n\n```python\n\nmissing\n```\n"
    )
    assert snippets.main([str(file)]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out) == {"run": 1, "setup": 0, "skipped": 1, "failed": 1}
    assert f'"{file}", line 8' in err
    assert "NameError: name 'missing' is not defined" in err


def test_leaving_the_interpreter_is_a_failure(page, capsys):
    assert snippets.main([str(page("```python\nraise SystemExit(0)\n```\n"))]) == 1
    assert counts(capsys) == {"run": 1, "setup": 0, "skipped": 0, "failed": 1}


def test_await_may_stand_outside_of_functions(page, capsys):
    code = "import asyncio\nb = await asyncio.sleep(0, 3)\n"
    assert snippets.main([str(page(f"```python\n{code}assert b == 3\n```\n"))]) == 0
    assert counts(capsys)["failed"] == 0


def test_annotations_of_classes_are_found(page, capsys):
    code = """\
from pydantic import BaseModel
class Inner(BaseModel):
    a: int
class Outer(BaseModel):
    inner: "Inner"
assert Outer.model_validate({"inner": {"a": 1}}).inner.a == 1
"""
    assert snippets.main([str(page(f"```python\n{code}```\n"))]) == 0, (
        capsys.readouterr()
    )


def test_files_go_to_a_folder_that_goes_away(page, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    file = page("```python\nopen('left.txt', 'w').close()\n```\n")
    assert snippets.main([str(file)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.md"]


def test_another_model_stands_in_for_the_demo(page, capsys):
    file = page('```python\nassert "demo" == "/a/folder"\n```\n')
    assert snippets.main([str(file)]) == 1
    assert snippets.main([str(file), "--model", "/a/folder"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith('"failed": 0}')


def test_shell_blocks_find_the_commands_of_this_python(page, capsys):
    name = Path(sys.executable).name
    code = f"command -v {name} | grep -qx {sys.executable}"
    file = page(
        f"<!-- run -->\n```bash\n{code}\n```\n<!-- run -->\n```sh\nfalse\n```\n"
    )
    assert snippets.main([str(file)]) == 1
    assert counts(capsys) == {"run": 2, "setup": 0, "skipped": 0, "failed": 1}


def test_commands_find_the_examples(page, capsys):
    file = page("<!-- run -->\n```bash\ntest -f examples/data/log.jsonl\n```\n")
    assert snippets.main([str(file)]) == 0, capsys.readouterr()


def test_a_page_with_a_wrong_mark_ends_it(page):
    with pytest.raises(SystemExit, match="no block follows"):
        snippets.main([str(page("<!-- run -->\n"))])


def test_the_pages_of_the_site_are_read():
    site = set(snippets.ROOT.glob("docs/*.md"))
    included = [snippets.ROOT / "README.md", snippets.CARD]
    assert {*site, *included} < set(snippets.pages())
    assert all(file.is_file() for file in snippets.pages())


@pytest.mark.parametrize("file", snippets.pages(), ids=lambda file: file.name)
def test_every_block_of_the_real_pages_compiles(file):
    for block in snippets.blocks_of(file):
        if block.language == "python":
            snippets.compile_block(block)
