"""Screenshots are taken as scripts/screenshots.py says; no browser is started."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from langchain_ssr.rendering.pieces import pieces_of
from tests.unit_tests.loading import load_script


@pytest.fixture
def screenshots():
    return load_script("screenshots")


@pytest.fixture
def browser(monkeypatch, screenshots):
    """A browser that draws one page of 700 pixels, and remembers how it was called."""
    calls: list[tuple[str, dict]] = []

    def open_page(_, page, option, **settings):
        calls.append((page.read_text(), {"option": option, **settings}))
        if option == "--dump-dom":
            return '<html lang="en" data-height="700"><body></body></html>'
        Path(option.removeprefix("--screenshot=")).write_bytes(b"a picture")
        return ""

    monkeypatch.setattr(screenshots, "open_page", open_page)
    monkeypatch.setattr(screenshots, "find_browser", lambda: "chromium")
    return calls


def test_pictures_are_named_by_page_and_view(screenshots):
    told = screenshots.pictures_of(["a", "b.c"], Path("out"))
    assert {name: list(views) for name, views in told.items()} == {
        "a": ["light", "dark", "grey"],
        "b.c": ["light", "dark", "grey"],
    }
    assert told["b.c"]["dark"] == Path("out/b.c-dark.png")


def test_pages_of_one_name_are_refused(screenshots, browser, tmp_path):
    files = [tmp_path / folder / "x.html" for folder in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        file.write_text("x")
    with pytest.raises(SystemExit, match="the same name: x, x"):
        screenshots.main(["--html", *map(str, files), "--out", str(tmp_path)])
    assert not browser


def test_pictures_are_as_tall_as_the_page(screenshots, browser, tmp_path, capsys):
    html, out = tmp_path / "mine.html", tmp_path / "new" / "out"
    html.write_text("<p>mine</p>")
    command = ["--html", str(html), "--out", str(out), "--width", "500"]
    assert screenshots.main(command) == 0
    names = ["mine-light.png", "mine-dark.png", "mine-grey.png"]
    assert capsys.readouterr().out.split() == [str(out / name) for name in names]
    assert [call["size"] for _, call in browser] == [(500, 600)] + 3 * [(500, 700)]
    schemes = [call.get("scheme") for _, call in browser]
    assert schemes == [None, "light", "dark", "light"]
    pages = [page for page, _ in browser]
    assert all(
        page.startswith("<p>mine</p>") and "open = true" in page for page in pages
    )
    assert ["grayscale" in page for page in pages] == [False, False, False, True]


def test_a_picture_that_is_not_written_is_an_error(screenshots, monkeypatch, tmp_path):
    dom = '<html data-height="9">'
    monkeypatch.setattr(screenshots, "open_page", lambda *_, **__: dom)
    old = tmp_path / "x-light.png"
    old.write_bytes(b"of an earlier run")
    with pytest.raises(screenshots.BrowserError, match="has not written"):
        list(screenshots.take("chromium", "x", {"light": old}, 500))


@pytest.mark.parametrize(
    ("dom", "height"),
    [
        ('<html lang="en" data-height="1234">', 1234),
        ('<html data-height="99999">', 16_000),
    ],
)
def test_height(screenshots, dom, height):
    assert screenshots.height_of(dom) == height


@pytest.mark.parametrize("dom", ["", '<p data-height="3">', "<html>"])
def test_page_without_a_height(screenshots, dom):
    with pytest.raises(screenshots.BrowserError, match="how tall"):
        screenshots.height_of(dom)


def test_no_browser_ends_with_the_remedy(screenshots, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROME", raising=False)
    with pytest.raises(SystemExit, match="apt-get install chromium"):
        screenshots.main(["--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


class TestSamples:
    def test_every_case_has_a_page_that_says_it_is_a_sample(self, screenshots):
        pages = screenshots.sample_pages()
        assert list(pages) == ["request", "requests", "off", "long", "markup"]
        for html in pages.values():
            assert "no model wrote this, and nothing was measured" in html

    def test_one_request_has_all_sources_in_its_spans(self, screenshots):
        html = screenshots.sample_pages()["request"]
        answer = html.split('class="text output-answer"')[1].split("</div>")[0]
        sources = set(re.findall(r'<span class="(\w+)"', answer))
        assert sources == {
            *("draft_prefix", "draft_suffix", "prompt", "reasoning", "answer"),
            *("prediction", "decoded"),
        }
        assert html.count('class="bar draft') == 2

    def test_markup_of_users_is_text(self, screenshots):
        html = screenshots.sample_pages()["markup"]
        assert "&lt;script&gt;alert(" in html
        assert "<script" not in html

    def test_counts_agree(self):
        sample_pages = load_script("sample_pages")
        for stats in (
            sample_pages.sample(
                sample_pages.PLAYLIST_THINKING,
                sample_pages.PLAYLIST_ANSWER,
                sample_pages.PLAYLIST_DRAFTS,
            ),
            sample_pages._long(),
        ):
            tokens = stats.num_reasoning_tokens + stats.num_answer_tokens
            steps = stats.num_reasoning_steps + stats.num_answer_steps
            pieces = pieces_of(stats)
            assert sum(piece.num_tokens for piece in pieces) == tokens
            assert sum(piece.num_steps for piece in pieces) == steps
            assert steps + stats.num_saved_steps == tokens
            for draft in stats.drafts:
                assert draft["num_accepted_draft_tokens"] <= draft["num_tokens"]
            ended = 0.0
            for event in stats.timeline:
                if event["event"] == "draft_started":
                    assert event["t_ms"] >= ended
                if event["event"] == "draft_ended":
                    ended = event["t_ms"]
