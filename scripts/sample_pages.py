"""Pages to look at: samples, made up to show what a page can hold.

No model wrote the answers, and nothing was measured; each page says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from sample_statistics import SampleDraft, Span, sample

from langchain_ssr.rendering.page import page
from langchain_ssr.rendering.pieces import DECODED
from langchain_ssr.stats import SpeculationStats

_NOTE = "A sample: no model wrote this, and nothing was measured."
Part = SpeculationStats | tuple[str, str]

PLAYLIST_TASK = (
    "Write a Python class `Playlist` with `add`, `remove` and `total_seconds`."
)
PLAYLIST_THINKING: Sequence[Span] = (
    (DECODED, "The user wants a class"),
    ("prompt", " `Playlist` with `add`, `remove`"),
    (
        DECODED,
        " and a sum. I keep the songs in a list.\n\nclass Playlist:\n    def add",
    ),
    ("prompt", "(self, song"),
    (DECODED, "): self.songs.append(song)\n    def remove"),
    ("reasoning", "(self, song): self.songs"),
    (DECODED, ".remove(song)\n\nThat is all."),
)
PLAYLIST_ANSWER: Sequence[Span] = (
    ("draft_prefix", "class Playlist:\n    def __init__(self):\n        self.songs"),
    (DECODED, ": list[Song] ="),
    ("draft_suffix", " []\n\n    def add(self, song"),
    (DECODED, ": Song"),
    ("reasoning", "): self.songs.append(song"),
    (DECODED, ")\n\n    def"),
    ("answer", " add(self, song: Song"),
    (DECODED, "):\n        pass\n\n    def"),
    ("prompt", " total_seconds"),
    (DECODED, "(self) -> int:\n        return"),
    ("prediction", " sum(song.seconds for song in self.songs)"),
    (DECODED, "\n"),
)
PLAYLIST_DRAFTS = (
    SampleDraft(8, 13, "cut"),
    SampleDraft(30, 24, "stop"),
)


def sample_pages() -> dict[str, str]:
    """Return the HTML of each sample page, by a name for its pictures."""
    playlist = sample(PLAYLIST_THINKING, PLAYLIST_ANSWER, PLAYLIST_DRAFTS)
    pages: dict[str, Sequence[Part]] = {
        "request": [("One request", PLAYLIST_TASK), playlist],
        "requests": _requests(playlist),
        "off": [("Speculation is off", PLAYLIST_TASK), _off()],
        "long": [("A long answer", "Write the whole module."), _long()],
        "markup": _markup(),
    }
    return {
        name: page(f"Sample: {name}", [("Sample", _NOTE), *parts])
        for name, parts in pages.items()
    }


def _off() -> SpeculationStats:
    usage = {
        "completion_tokens": 220,
        "completion_tokens_details": {"reasoning_tokens": 89},
    }
    return SpeculationStats.off("disabled", usage, {"generation_time_ms": 5500.0})


def _requests(playlist: SpeculationStats) -> Sequence[Part]:
    """Return what `langchain-ssr demo --html` has: answer after answer."""
    short = sample((), ((DECODED, "The capital of France is Paris."),))
    without_details = {"spans": None, "span_texts": None, "timeline": None}
    return [
        ("short answer", "What is the capital of France?"),
        short,
        ("class", PLAYLIST_TASK),
        playlist,
        ("class, asked without details", PLAYLIST_TASK),
        playlist.model_copy(update=without_details),
        ("class, plain engine", PLAYLIST_TASK),
        _off(),
    ]


def _long() -> SpeculationStats:
    """Return an answer of many spans, lines, drafts and a line without a blank."""
    thinking: list[Span] = []
    answer: list[Span] = []
    for number in range(40):
        thinking += [
            (DECODED, f"Step {number} needs a function that loads the table and"),
            ("prompt", " checks each row against the schema"),
            (DECODED, " before it is written.\n"),
        ]
        answer += [
            ("draft_suffix" if number else "draft_prefix", "def load_table_"),
            (DECODED, f"{number}(path"),
            ("answer", ": Path) -> Table:\n    rows = read_rows(path)\n    return "),
            (DECODED, "Table(rows)\n\n"),
        ]
    answer.append(("reasoning", "KEY = '" + "0123456789abcdef" * 24 + "'"))
    answer.append((DECODED, "\n"))
    ends = ("cut", "cut", "dropped", "preempted", "length", "cut", "cut", "stop")
    drafts = [
        SampleDraft(20 + 80 * number, 180 if end == "stop" else 55, end)
        for number, end in enumerate(ends)
    ]
    return sample(thinking, answer, drafts)


def _markup() -> Sequence[Part]:
    """Return texts of a user and a model that have HTML and other scripts in them."""
    prompt = (
        'Why does <b>this</b> not work? </div><script>alert("x")</script>\n'
        '<img src=x onerror="document.body.remove()"> &lt;escaped&gt; &amp;amp;'
    )
    answer = sample(
        ((DECODED, "</style></title><h1>They want to know about <script>.</h1>"),),
        (
            (DECODED, "Write it as"),
            ("prompt", ' </div><script>alert("x")</script>'),
            (DECODED, "\n<!-- a comment -->\n\ta tab, "),
            ("draft_prefix", "שלום עולם, مرحبا"),
            (DECODED, ", 漢字, 👩‍🚀, é, "),
            ("prediction", "&lt;escaped&gt; &amp;amp;"),
            (DECODED, " and \0 a null.\n"),
        ),
        [SampleDraft(4, 6, "cut")],
    )
    return [('Markup <script>alert("x")</script>', prompt), answer]
