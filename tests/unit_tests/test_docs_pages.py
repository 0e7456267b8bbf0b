"""Pages of docs/ say what the code says: models, public names, and links."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml

import langchain_ssr
from langchain_ssr import models
from tests.unit_tests.loading import ROOT, load_script

DOCS = ROOT / "docs"
hooks = load_script("docs_hooks")
docs = load_script("docs")


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def rows(text: str) -> dict[str, list[str]]:
    """The rows of tables by their first cell, without marks of code."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [[cell.strip(" `") for cell in line[1:-1].split("|")] for line in lines]
    return {first: rest for first, *rest in cells}


def parser_or_none(name: str | None) -> str:
    return name or "none"


THINKING = {True: "on", False: "off", None: "as the template does"}


INCLUDED = {"readme.md", "changelog.md", "model-card.md"}


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as MkDocs makes them."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    given = set(re.findall(r"\{(?:#|id: )([\w-]+)\}", text))
    plain = [re.sub(r"[^\w\s-]", "", h).strip().lower() for h in headings]
    return given | {re.sub(r"[-\s]+", "-", each) for each in plain}


class TestModels:
    short_names, others = map(rows, page("models.md").split("## Others"))
    table = short_names | others

    def test_every_short_name_is_there_and_no_other(self):
        named = self.short_names.keys() - {"short name"}
        assert named == {models.DEMO, models.SMOLLM2, *models.ALIASES}

    def test_each_row_says_whether_we_loaded_it(self):
        told = {name: cells[-1] for name, cells in self.table.items()}
        headings = [name for name, said in told.items() if said == "loaded by us"]
        assert headings == ["short name", "by name or `model_type"]
        ours = {name for name, said in told.items() if said == "yes"}
        assert ours == {models.DEMO, models.SMOLLM2}
        for name in told.keys() - ours - {*headings}:
            assert told[name].startswith(("no: ", "no real one: ", "the same")), name

    @pytest.mark.parametrize(("name", "hub_id"), models.ALIASES.items())
    def test_a_hub_model_is_as_it_is_resolved(self, name, hub_id):
        family = models.resolve(name).family
        told = self.table[name][:4]
        assert told == [
            hub_id,
            family.reasoning_parser,
            family.tool_parser,
            THINKING[family.thinking],
        ]

    @pytest.mark.parametrize("name", [models.DEMO, models.SMOLLM2])
    def test_models_of_qwen3s_kind(self, name):
        family, thinking = models.QWEN3, models.thinking_default(name)
        told = self.table[name][1:4]
        assert told == [family.reasoning_parser, family.tool_parser, THINKING[thinking]]

    @pytest.mark.parametrize(
        ("name", "family"),
        [
            ("gpt-oss", models.GPT_OSS),
            ("DeepSeek-R1, QwQ", models.DEEPSEEK_R1),
            ("Qwen2", models.BY_MODEL_TYPE["qwen2"]),
            ("Llama 3", models.BY_MODEL_TYPE["llama"]),
            ("Mistral", models.BY_MODEL_TYPE["mistral"]),
            ("anything else", models.PLAIN),
        ],
    )
    def test_other_families(self, name, family):
        assert self.table[name][:3] == [
            parser_or_none(family.reasoning_parser),
            parser_or_none(family.tool_parser),
            THINKING[family.thinking],
        ]


def test_every_public_name_is_in_the_reference():
    documented = set(
        re.findall(r"^::: langchain_ssr\.(\w+)$", page("api.md"), re.MULTILINE)
    )
    public = {*langchain_ssr.__all__, "SpeculationMiddleware"} - {"__version__"}
    assert public <= documented


def navigation(entries: list) -> list[str]:
    """All pages of a part of the navigation."""
    found = []
    for entry in entries:
        (below,) = entry.values()
        found += [below] if isinstance(below, str) else navigation(below)
    return found


def test_the_navigation_has_pages_that_exist():
    named = navigation(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    assert len(set(named)) == len(named) > 15
    for name in named:
        assert (DOCS / name).is_file(), name


class TestHooks:
    class Page:
        def __init__(self, **meta: str) -> None:
            self.meta = meta

    def test_a_page_may_be_a_file_of_the_repository(self):
        text = hooks.on_page_markdown("", page=self.Page(include="CHANGELOG.md"))
        assert text.startswith("# Changelog")

    def test_other_pages_stay_as_they_are(self):
        text = hooks.on_page_markdown("text\n", page=self.Page())
        assert text == f"text\n\n---\n\n{hooks.NOT_MEASURED}\n"

    def test_every_page_says_that_no_gpu_was_measured(self):
        config = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
        assert config["hooks"] == ["scripts/docs_hooks.py"]
        assert "Not measured on a GPU" in hooks.NOT_MEASURED
        for name in navigation(config["nav"]):
            front = re.match(r"---\n(.*?)\n---\n", page(name), re.DOTALL)
            meta = yaml.safe_load(front[1]) if front else {}
            text = hooks.on_page_markdown(page(name), page=self.Page(**meta))
            assert ("include" in meta) == (name in INCLUDED)
            assert text.endswith(f"\n\n---\n\n{hooks.NOT_MEASURED}\n"), name
            assert text.count(hooks.NOT_MEASURED) == 1, name

    def test_every_link_within_the_site_leads_to_a_page_and_a_heading(self):
        """As MkDocs checks it, which the project's own tests do not start."""
        config = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
        pages = {}
        for name in navigation(config["nav"]):
            front = re.match(r"---\n(.*?)\n---\n", page(name), re.DOTALL)
            meta = yaml.safe_load(front[1]) if front else {}
            pages[name] = hooks.on_page_markdown(page(name), page=self.Page(**meta))
        found = 0
        for name, text in pages.items():
            prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
            for target, anchor in re.findall(
                r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)", prose
            ):
                found += 1
                assert (target or name) in pages, (name, target)
                if anchor:
                    assert anchor in anchors(pages[target or name]), (name, anchor)
        assert found > 50

    def test_the_front_matter_of_an_included_file_is_not_shown(self):
        text = hooks.from_root("---\nlicense: mit\n---\n\n# Card\n")
        assert text == "# Card\n"

    def test_links_into_docs_lead_to_pages(self):
        text = "[a](docs/server.md) [b](examples/agent.py#L1) [c](https://x.y/docs/z)"
        assert hooks.from_root(text) == (
            "[a](server.md) [b](examples.md#agent-py) [c](https://x.y/docs/z)"
        )
        text = "[a](examples/deploy/Dockerfile) [b](examples/data/log.jsonl)"
        assert hooks.from_root(text) == (
            "[a](examples.md#deploy-dockerfile) [b](examples.md)"
        )

    def test_links_out_of_docs_lead_to_pages(self):
        text = "[a](../README.md#limits) [b](../CHANGELOG.md) [c](../examples/chain.py)"
        assert hooks.within_site(text) == (
            "[a](readme.md#limits) [b](changelog.md) [c](examples.md#chain-py)"
        )

    def test_links_to_examples_that_are_not_there_are_left_to_mkdocs(self):
        text = "[a](examples/gone.py) [b](examples/deploy)"
        assert hooks.from_root(text) == text
        text = "[a](../examples/gone.py) [b](../examples/x/y.z#L1)"
        assert hooks.within_site(text) == text

    def test_other_links_out_of_docs_are_left_to_mkdocs(self):
        text = "[a](../langchain_ssr/stats.py)"
        assert hooks.within_site(text) == text


def test_the_sites_requirements_are_those_of_the_project():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    assert docs.requirements() == groups["docs"]
    assert any(name.startswith("mkdocs-material") for name in groups["docs"])
