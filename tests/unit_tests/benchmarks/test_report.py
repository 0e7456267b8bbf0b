"""Tables in Markdown files, made of committed figures, and fresh runs beside them."""

import json

import pytest

from benchmarks.places import place
from benchmarks.report import RESULTS, main
from langchain_ssr.bench.figures import figures_of
from langchain_ssr.bench.options import fixed_settings as settings_of
from langchain_ssr.bench.options import make_options, make_plan
from langchain_ssr.bench.runner import run
from langchain_ssr.bench.store import Store
from tests.unit_tests.bench_fakes import FakeEngines
from tests.unit_tests.benchmarks.figures_fakes import figures_of_a_run
from tests.unit_tests.messages import ROOT

PAGE = f"# Title\n\n{place('ci')}\n\nText: `<!-- figures: NAME -->`.\n"


class Folder:
    """A page and the committed figures, with the command."""

    def __init__(self, path, capsys):
        self.page, self.results = path / "page.md", path / "results"
        self.path, self.capsys = path, capsys
        self.page.write_text(PAGE, encoding="utf-8")
        self.results.mkdir()
        self.commit("ci", figures_of_a_run())

    def commit(self, name, figures):
        text = json.dumps(figures)
        (self.results / f"{name}.json").write_text(text, encoding="utf-8")

    def run(self, figures):
        path = self.path / "b.json"
        path.write_text(json.dumps(figures), encoding="utf-8")
        return path

    @property
    def text(self):
        return self.page.read_text(encoding="utf-8")

    @text.setter
    def text(self, text):
        self.page.write_text(text, encoding="utf-8")

    def report(self, option, *runs):
        words = [*map(str, runs), option, str(self.page)]
        code = main([*words, "--results", str(self.results)])
        self.out, self.err = self.capsys.readouterr()
        return code


@pytest.fixture
def folder(tmp_path, capsys):
    return Folder(tmp_path, capsys)


def test_the_projects_own_page_is_made_of_its_own_figures(capsys):
    code = main(["--check", str(ROOT / "docs" / "benchmarks.md")])
    assert code == 0, capsys.readouterr().err
    assert RESULTS == ROOT / "benchmarks" / "results"


def test_tables_are_written_and_checked(folder):
    assert folder.report("--check") == 1
    assert "page.md: ci: not what its figures make" in folder.err
    assert folder.text == PAGE  # it only compares
    assert folder.report("--write") == 0
    assert "| ssr | 2 | 1.00 | - | - | - | 5.00 (5.00 to 5.00) |" in folder.text
    assert "- aim: demo code: steps in the answer of `plain`" in folder.text
    assert folder.text.startswith("# Title\n")
    assert folder.text.endswith(PAGE.rsplit("-->\n\nText", 1)[1])
    written = folder.text
    assert folder.report("--check") == 0
    assert folder.report("--write") == 0
    assert folder.text == written


def test_what_is_edited_by_hand_is_found(folder):
    folder.report("--write")
    written = folder.text
    folder.text = written.replace("5.00 to 5.00", "9.00 to 9.00")
    assert folder.report("--check") == 1
    assert "page.md: ci: not what its figures make" in folder.err
    folder.text = written.replace("Title", "Other title")
    assert folder.report("--check") == 0


def test_without_figures_there_is_no_place(folder):
    (folder.results / "ci.json").unlink()
    assert folder.report("--check") == 1
    assert "ci: it has a place, but no figures" in folder.err
    folder.text = "# Title\n"
    assert folder.report("--check") == 0
    folder.results.rmdir()
    assert folder.report("--check") == 0
    assert folder.report("--write") == 0
    assert folder.text == "# Title\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# Title\n", "ci: it has figures, but no place `<!-- figures: ci -->`"),
        (PAGE + place("ci"), "ci: it has 2 places"),
        (PAGE + place("more"), "more: it has a place, but no figures"),
        ("<!-- figures: ci -->\n", "ci: its place has no end"),
        (f"<!-- figures: x -->\n\n{PAGE}", "x: its place has no end"),
        (PAGE.replace("NAME", "ci") + "\n<!-- end of figures -->", "1 places, but 2"),
    ],
)
def test_places_and_figures_belong_to_each_other(folder, text, problem):
    folder.text = text
    assert folder.report("--check") == 1
    assert problem in folder.err
    assert folder.report("--write") == 1
    assert problem in folder.err
    assert folder.text == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [("[]", "no figures"), ("{}", "no figures"), ("{", "cannot read")],
)
def test_a_file_that_holds_no_figures_is_named(folder, text, problem):
    bad = folder.run({})
    bad.write_text(text, encoding="utf-8")
    assert folder.report("--check", bad) == 2
    assert f"{bad}" in folder.err
    assert problem in folder.err
    (folder.results / "ci.json").write_text(text, encoding="utf-8")
    assert folder.report("--check") == 2
    assert "ci.json" in folder.err


def test_a_fresh_run_may_be_slower(folder):
    folder.report("--write")
    run = folder.run(figures_of_a_run(seconds=30.0))
    assert folder.report("--check", run) == 0
    assert "b.json, against ci: 2 requests, modes ngram, plain, ssr" in folder.out
    assert "b.json, against ci: the same (seconds were not compared)" in folder.out


def test_a_fresh_run_may_not_differ(folder):
    folder.report("--write")
    run = folder.run(figures_of_a_run(content="other"))
    assert folder.report("--check", run) == 1
    problem = "b.json: against ci: demo code, ssr: the output of b is no longer plain's"
    assert problem in folder.err


def ci_run(folder, seconds, text="right"):
    """The figures of `bench --preset ci`, with engines that are made up."""
    engines = FakeEngines()
    engines.seconds["ssr"], engines.texts["ssr"] = seconds, text
    options = make_options("ci", {})
    plan, store = make_plan(options), Store(folder)
    store.settle(settings_of(options), plan.modes)
    run(plan, store, engines.open, lambda _: None)
    return json.loads(json.dumps(figures_of(store)))


def test_the_ci_preset_is_compared_with_its_committed_figures(folder, tmp_path):
    folder.commit("ci", ci_run(tmp_path / "one", 5.0))
    assert folder.report("--write") == 0
    assert folder.report("--check", folder.run(ci_run(tmp_path / "two", 6.0))) == 0
    assert "against ci: the same" in folder.out
    other = folder.run(ci_run(tmp_path / "three", 5.0, "other"))
    assert folder.report("--check", other) == 1
    assert "demo data, ssr: the output of data-0-" in folder.err


def test_a_wrong_page_fails_beside_a_good_run(folder):
    assert folder.report("--check", folder.run(figures_of_a_run())) == 1


def test_a_run_of_other_settings_has_nothing_to_be_compared_with(folder):
    folder.report("--write")
    run = folder.run(figures_of_a_run(model="smollm2"))
    assert folder.report("--check", run) == 2
    assert '0 of the committed figures (ci) have its settings {"model": "smollm2"' in (
        folder.err
    )


def test_of_several_like_runs_that_of_the_same_requests_counts(folder):
    folder.commit("long", figures_of_a_run(items=("a", "b", "c")))
    folder.text = PAGE + place("long")
    folder.report("--write")
    run = folder.run(figures_of_a_run(items=("a", "b", "c")))
    assert folder.report("--check", run) == 0
    assert "against long: 3 requests" in folder.out
    assert folder.report("--check", folder.run(figures_of_a_run(items=("a",)))) == 2
    assert "2 of the committed figures (ci, long)" in folder.err


def test_missing_files(folder, tmp_path):
    folder.report("--write")
    assert folder.report("--check", tmp_path / "none.json") == 2
    assert "none.json does not exist" in folder.err
    folder.page.unlink()
    assert folder.report("--check") == 2


@pytest.mark.parametrize("words", [[], ["a.json"], ["a.json", "--write", "b.md"]])
def test_the_command_line_is_checked(words):
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
