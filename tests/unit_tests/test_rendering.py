"""Statistics as tables and as HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from langchain_ssr.rendering.looks import LOOKS
from langchain_ssr.rendering.page import answer_html, fragment, page
from langchain_ssr.rendering.pieces import pieces_of
from langchain_ssr.rendering.style import PAPER, TEXT, style_sheet
from langchain_ssr.sources import SOURCES
from langchain_ssr.stats import SourceStats, SpeculationStats

DRAFTS = [
    {
        "index": 0,
        "num_reasoning_tokens": 2,
        "num_tokens": 9,
        "num_steps": 9,
        "num_accepted_draft_tokens": 3,
        "finish_reason": "cut",
        "duration_ms": 40.0,
    }
]
TIMELINE = [
    {"event": "draft_started", "t_ms": 10.0, "index": 0},
    {"event": "draft_ended", "t_ms": 50.0, "index": 0, "finish_reason": "cut"},
    {"event": "reasoning_ended", "t_ms": 50.0, "num_tokens": 4},
    {"event": "verified", "t_ms": 70.0, "source": "draft_prefix", "num_tokens": 3},
]
STATS = SpeculationStats(
    mode="ssr",
    num_reasoning_tokens=3,
    num_answer_tokens=6,
    num_reasoning_steps=4,
    num_answer_steps=3,
    num_saved_steps=3,
    sources={
        **SpeculationStats().sources,
        "draft_prefix": SourceStats(num_draft_tokens=4, num_accepted_draft_tokens=3),
    },
    drafts=DRAFTS,
    timing={"reasoning_time_ms": 50.0, "answer_time_ms": 50.0},
    spans=[["decoded", 4], ["draft_prefix", 3], ["decoded", 3]],
    span_texts=["Hm, <b>.", "def <f>", "(): 1"],
    timeline=TIMELINE,
)

some_text = st.one_of(
    st.text(max_size=12),
    st.text("<>&;\"'/#!-x0a\r\n\0 ", max_size=12),
    st.sampled_from(["<b>", "</div>", "&lt;", "<!--", "</span><script>", "&#13;"]),
)
some_spans = st.lists(
    st.tuples(st.sampled_from([*SOURCES, "decoded"]), st.integers(1, 9), some_text),
    max_size=12,
)


def stats_of(thinking: list[tuple], answer: list[tuple]) -> SpeculationStats:
    spans = [*thinking, *answer]
    before = sum(count for _, count, _ in thinking)
    return SpeculationStats(
        mode="ssr",
        spans=[[source, count] for source, count, _ in spans],
        span_texts=[text for _, _, text in spans],
        timeline=[{"event": "reasoning_ended", "t_ms": 1.0, "num_tokens": before}],
    )


class Reader(HTMLParser):
    """Reads texts by the class of the element around them, and remembers all tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.tags: list[tuple[str, dict]] = []
        self._open: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        assert not self._open, "an element is not closed"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self._open.append((tag, dict(attrs).get("class") or ""))

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        for _, name in self._open:
            for one in name.split():
                self.texts[one] = self.texts.get(one, "") + data


def visible(text: str) -> str:
    return text.replace("\0", "\ufffd")


def answer_text(html: str) -> str:
    return Reader(html).texts.get("output-answer", "")


@given(some_spans, some_spans)
def test_visible_text_is_the_output(thinking, answer):
    texts = Reader(page("t", [stats_of(thinking, answer)])).texts
    for name, spans in (("thinking", thinking), ("answer", answer)):
        whole = "".join(text for _, _, text in spans)
        assert texts.get(f"output-{name}", "") == visible(whole)


@given(some_spans, some_spans)
def test_each_span_is_marked_by_its_source(thinking, answer):
    tags = Reader(answer_html(stats_of(thinking, answer))).tags
    marked = [a for tag, a in tags if tag == "span" and "tabindex" in a]
    names = [a["class"] for a in marked if a["class"] in LOOKS]
    assert names == [source for source, _, _ in [*thinking, *answer]]
    for attributes, (_, count, _) in zip(
        (a for a in marked if a["class"] in LOOKS), [*thinking, *answer], strict=True
    ):
        assert f": {count} token" in attributes["title"]


@given(some_text, some_text, some_text)
def test_no_text_becomes_markup(title, prompt, said):
    def tags(*texts: str) -> list:
        stats = stats_of([], [("decoded", 1, texts[2])])
        return Reader(page(texts[0], [(texts[0], texts[1]), stats])).tags

    attacks = ("</title><script>", "</div><img src=x>", '"><b onclick="x">')
    assert tags(title, prompt, said) == tags("", "", "") == tags(*attacks)


@pytest.mark.parametrize(
    "text", ["\r\n", "a\rb", "&amp;", "&#60;", "\n", "]]>", "<!--"]
)
def test_awkward_text_survives(text):
    assert answer_text(answer_html(stats_of([], [("prompt", 1, text)]))) == text


def test_half_a_surrogate_pair_can_be_written(tmp_path):
    stats = stats_of([], [("decoded", 1, "a\ud800b")])
    assert stats.to_html(tmp_path / "x.html") == (tmp_path / "x.html").read_text()


def test_a_source_of_another_version_looks_decoded():
    html = answer_html(stats_of([], [('"><script>', 2, "text")]))
    assert "script" not in html
    assert answer_text(html) == "text"


def test_small_case(snapshot):
    assert answer_html(STATS) == snapshot


def test_pieces_sum_up_to_the_statistics():
    pieces = pieces_of(STATS)
    assert [p.phase for p in pieces] == ["thinking", "answer", "answer"]
    assert [p.num_steps for p in pieces] == [4, 1, 2]


def test_a_step_that_the_answer_begins_in_counts_once():
    stats = stats_of([("prompt", 2, "a")], [("prompt", 3, "b"), ("decoded", 1, "c")])
    assert [p.num_steps for p in pieces_of(stats)] == [1, 0, 0]


@pytest.mark.parametrize(("answered", "phase"), [(0, "thinking"), (5, "answer")])
def test_output_without_an_end_of_reasoning(answered, phase):
    stats = SpeculationStats(
        num_reasoning_tokens=5 - answered,
        num_answer_tokens=answered,
        spans=[["decoded", 5]],
        span_texts=["text"],
        timeline=[],
    )
    assert [piece.phase for piece in pieces_of(stats)] == [phase]


def test_every_source_has_its_own_look_and_a_legend_entry():
    assert list(LOOKS) == [*SOURCES, "decoded"]
    looks = [look for name, look in LOOKS.items() if name != "decoded"]
    for values in zip(*((k.label, k.letter, k.underline) for k in looks), strict=True):
        assert len(set(values)) == len(looks)
    legend = answer_html(STATS).split('<ul class="legend">')[1].split("</ul>")[0]
    entries = re.findall(r'<li><span class="(\w+)">([^<]+)</span> (\d+): ', legend)
    counts = {"draft_prefix": "3", "decoded": "7"}
    assert entries == [(n, k.label, counts.get(n, "0")) for n, k in LOOKS.items()]


def test_marks_do_not_need_colour():
    rules = style_sheet()
    for name, look in LOOKS.items():
        if name != "decoded":
            assert f'.ssr .{name}::before{{content:"{look.letter}"' in rules
            assert f"text-decoration:underline {look.underline}" in rules


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes(scheme):
    first, dark = style_sheet().split("@media (prefers-color-scheme:dark)")
    rules = {"light": first, "dark": dark.split("}}")[0]}[scheme]
    backgrounds = {n: getattr(k, scheme) for n, k in LOOKS.items() if n != "decoded"}
    for name, background in {**backgrounds, "paper": PAPER[scheme]}.items():
        assert f"--{name}:{background}" in rules
        pair = sorted([luminance(TEXT[scheme]), luminance(background)])
        assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 7


def test_page_needs_nothing_else():
    reader = Reader(page("t", [("title", "text"), STATS]))
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in reader.tags}
    for _, attributes in reader.tags:
        assert not {"src", "href"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
    assert "url(" not in style_sheet()
    assert "@import" not in style_sheet()


def test_styles_stay_inside():
    rules = re.sub(r"@media [^{]*\{(.*?\})\}", r"\1", style_sheet(), flags=re.DOTALL)
    selectors = [rule.split("{")[0].strip() for rule in rules.split("}")]
    for selector in filter(None, selectors):
        assert all(part.strip().startswith(".ssr") for part in selector.split(","))


def test_without_details_there_are_tables_and_a_hint():
    summary = STATS.model_copy(
        update={"spans": None, "span_texts": None, "timeline": None}
    )
    html = page("t", [summary])
    assert "speculation_stats=&quot;detailed&quot;" in html
    assert "<table>" in html
    assert 'class="legend"' not in html
    assert "detailed" not in page("t", [STATS])


def test_a_plain_engine_gets_no_hint():
    html = answer_html(SpeculationStats.off("disabled", {}, None))
    assert "detailed" not in html
    assert "without self-speculation" in html


def test_notebooks_show_the_same():
    assert STATS._repr_html_() == fragment(STATS)
    assert fragment(STATS).endswith(answer_html(STATS))


def test_page_of_a_message(tmp_path):
    message = AIMessage("x", response_metadata={"speculation": STATS.to_dict()})
    stats = SpeculationStats.from_message(message)
    assert stats == STATS
    assert stats.to_html(str(tmp_path / "a.html")) == stats.to_html()
    assert answer_text((tmp_path / "a.html").read_text("utf-8")) == "def <f>(): 1"


def test_message_without_statistics_is_refused():
    with pytest.raises(ValueError, match="no speculation statistics"):
        SpeculationStats.from_message(AIMessage("x"))
