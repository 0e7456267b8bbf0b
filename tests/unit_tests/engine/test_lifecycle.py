"""Where reasoning begins and ends, and which draft runs beside it."""

from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ssr.engine.lifecycle import (
    OPENING_TOKENS,
    DraftEnd,
    Lifecycle,
    Markers,
    Phase,
)

START, END, TOOL = 50, 51, 52
MARKERS = Markers((START,), (END,), frozenset({TOOL}), close=(9, 9, END, 8, 8))
LONG = Markers((START, 53, 53), (END, 54, END), frozenset({TOOL}), close=(END, 54, END))
OPENED, CLOSED, FRESH = [1, START], [1, START, END, 2], [1, 2]
ORDER = list(Phase)

prompts = st.sampled_from([OPENED, CLOSED, FRESH])
outputs = st.lists(st.sampled_from([1, 2, 3, START, END, TOOL]), max_size=30)
pieces = st.sampled_from([[1], [2], [TOOL], [START, 53, 53], [END, 54, END], [END, 54]])
long_outputs = st.lists(pieces, max_size=15).map(lambda parts: [*chain(*parts)])
sizes = st.lists(st.integers(0, 5), max_size=40)


def bursts(tokens, sizes):
    """Split tokens into bursts of these sizes and a last one with the rest."""
    start = 0
    for size in sizes:
        yield tokens[start : start + size]
        start += size
    yield tokens[start:]


def follow(cycle, parts):
    """Advance by each part; the (phase, token) pairs of all spans."""
    return [
        (span.phase, token)
        for part in parts
        for span in cycle.advance(part)
        for token in span.tokens
    ]


def expected(markers, phase, tokens):
    """The last phase and the (phase, token) pairs, markers left out: by brute force."""
    pairs, at = [], 0
    start, end = list(markers.start), list(markers.end)
    while at < len(tokens):
        if phase is Phase.OPENING and tokens[at:OPENING_TOKENS][: len(start)] == start:
            phase, at = Phase.REASONING, at + len(start)
            continue
        if phase is Phase.REASONING and tokens[at : at + len(end)] == end:
            phase, at = Phase.ANSWER, at + len(end)
            continue
        if tokens[at] in markers.implicit:
            phase = Phase.ANSWER
        reasoning = phase is Phase.REASONING
        pairs.append((Phase.REASONING if reasoning else Phase.ANSWER, tokens[at]))
        at += 1
        if phase is Phase.OPENING and at >= OPENING_TOKENS:
            phase = Phase.ANSWER
    return phase, pairs


class TestPrompt:
    @pytest.mark.parametrize(
        ("prompt", "phase", "num_opened"),
        [
            ([], Phase.OPENING, 0),
            (FRESH, Phase.OPENING, 0),
            (OPENED, Phase.REASONING, 0),
            ([*OPENED, 3, 4], Phase.REASONING, 2),
            (CLOSED, Phase.ANSWER, 0),
            ([START, END], Phase.ANSWER, 0),
            # Old turns hold old markers; only the last one says something.
            ([START, 7, END, *range(20)], Phase.OPENING, 0),
            ([START, 7, END, *range(20), START, 5], Phase.REASONING, 1),
            ([START, 7, END, *range(20), START, END, 5], Phase.ANSWER, 0),
            ([START, 7, START, 6, END, *range(20), START], Phase.REASONING, 0),
        ],
    )
    def test_says_where_a_request_begins(self, prompt, phase, num_opened):
        cycle = Lifecycle(MARKERS, prompt)
        assert (cycle.phase, cycle.num_opened_tokens) == (phase, num_opened)
        assert cycle.has_reasoned is (phase is Phase.REASONING)

    @pytest.mark.parametrize("rest", [0, 1, 5])
    def test_opened_tokens_are_counted_after_a_long_marker(self, rest):
        cycle = Lifecycle(LONG, [1, START, 53, 53, *[7] * rest])
        assert (cycle.phase, cycle.num_opened_tokens) == (Phase.REASONING, rest)

    def test_a_part_of_a_marker_is_none(self):
        assert Lifecycle(LONG, [1, START, 53]).phase is Phase.OPENING
        assert Lifecycle(LONG, [*LONG.start, END, 54]).phase is Phase.REASONING

    def test_a_tool_call_of_an_old_turn_ended_its_reasoning(self):
        cycle = Lifecycle(MARKERS, [START, 7, 7, TOOL, 7, *range(20)])
        assert (cycle.has_reasoned, cycle.num_opened_tokens) == (False, 0)

    def test_a_model_without_markers_only_answers(self):
        cycle = Lifecycle(None, OPENED)
        assert {phase for phase, _ in follow(cycle, [[1, END], [START]])} == {"answer"}
        assert (cycle.num_answer_tokens, cycle.has_reasoned) == (3, False)


class TestTokens:
    @given(prompts, outputs, sizes)
    def test_no_token_is_lost_however_they_arrive(self, prompt, tokens, sizes):
        cycle = Lifecycle(MARKERS, prompt)
        phase, pairs = expected(MARKERS, cycle.phase, tokens)
        assert follow(cycle, bursts(tokens, sizes)) == pairs
        assert cycle.phase is phase
        of = [phase for phase, _ in pairs]
        assert cycle.num_reasoning_tokens == of.count(Phase.REASONING)
        assert cycle.num_answer_tokens == of.count(Phase.ANSWER)

    @given(st.sampled_from([OPENED, FRESH]), long_outputs, sizes, sizes)
    def test_bursts_change_nothing_with_long_markers(self, prompt, tokens, one, other):
        if prompt is OPENED:
            prompt = [*LONG.start]
        seen = []
        for sizes in (one, other):
            cycle = Lifecycle(LONG, prompt)
            first, pairs = cycle.phase, follow(cycle, bursts(tokens, sizes))
            assert cycle.phase is expected(LONG, first, tokens)[0]
            counts = (cycle.num_reasoning_tokens, cycle.num_answer_tokens)
            seen.append((pairs, counts, cycle.has_reasoned))
        assert seen[0] == seen[1]

    @pytest.mark.parametrize("sizes", [[], [1] * 9, [2, 1], [3], [4], [5]])
    @pytest.mark.parametrize(
        ("prompt", "marker", "phases"),
        [
            (LONG.start, LONG.end, [Phase.REASONING, Phase.ANSWER]),
            (FRESH, LONG.start, [Phase.ANSWER, Phase.REASONING]),
        ],
    )
    def test_a_long_marker_belongs_to_neither_side(self, prompt, marker, phases, sizes):
        cycle = Lifecycle(LONG, prompt)
        pairs = follow(cycle, bursts([1, *marker, 2], sizes))
        assert pairs == [*zip(phases, (1, 2), strict=True)]
        assert cycle.phase is phases[1]
        assert (cycle.num_reasoning_tokens, cycle.num_answer_tokens) == (1, 1)

    @given(long_outputs, sizes)
    def test_a_long_marker_that_does_not_go_on_is_text(self, tokens, sizes):
        tokens = [t for t in tokens if t != TOOL] + [1, END, 54, 2, *LONG.end, 3]
        cycle = Lifecycle(LONG, LONG.start)
        pairs = follow(cycle, bursts(tokens, sizes))
        assert pairs == expected(LONG, Phase.REASONING, tokens)[1]

    def test_reasoning_that_never_opens_is_an_answer(self):
        cycle = Lifecycle(MARKERS, FRESH)
        assert len(cycle.advance([1] * (OPENING_TOKENS - 1))) == 1
        assert cycle.phase is Phase.OPENING
        cycle.advance([1, START, 1])
        assert (cycle.phase, cycle.has_reasoned) == (Phase.ANSWER, False)
        assert cycle.num_answer_tokens == OPENING_TOKENS + 2

    @pytest.mark.parametrize("before", range(OPENING_TOKENS))
    def test_reasoning_may_open_late(self, before):
        cycle = Lifecycle(MARKERS, FRESH)
        cycle.advance([1] * before + [START, 2, 3])
        assert (cycle.phase, cycle.has_reasoned) == (Phase.REASONING, True)
        assert (cycle.num_answer_tokens, cycle.num_reasoning_tokens) == (before, 2)
        assert cycle.num_opened_tokens == 0

    @pytest.mark.parametrize("prompt", [OPENED, FRESH])
    def test_a_tool_call_begins_the_answer_and_is_part_of_it(self, prompt):
        cycle = Lifecycle(MARKERS, prompt)
        pairs = follow(cycle, [[1], [TOOL, END]])
        assert pairs[1:] == [(Phase.ANSWER, TOOL), (Phase.ANSWER, END)]
        assert cycle.phase is Phase.ANSWER

    def test_no_draft_begins_after_the_end(self):
        cycle = Lifecycle(MARKERS, OPENED)
        cycle.finish()
        with pytest.raises(RuntimeError):
            cycle.begin_draft(1)

    def test_a_burst_is_split_at_the_boundary(self):
        spans = Lifecycle(MARKERS, OPENED).advance([1, 2, END, 3, 4])
        assert [(s.phase, s.tokens) for s in spans] == [
            (Phase.REASONING, [1, 2]),
            (Phase.ANSWER, [3, 4]),
        ]

    def test_what_follows_the_end_marker_is_known(self):
        assert MARKERS.after_end == (8, 8)
        assert LONG.after_end == ()
        assert Markers((START,), (END,)).after_end == ()


events = st.one_of(
    st.tuples(st.just("advance"), outputs),
    st.tuples(st.just("begin"), st.integers(1, 9)),
    st.tuples(st.just("extend"), st.lists(st.integers(0, 3), max_size=3)),
    st.tuples(st.just("end"), st.sampled_from(DraftEnd)),
    st.tuples(st.just("finish"), st.none()),
)


@given(prompts, st.lists(events, max_size=30))
def test_no_order_of_events_reaches_an_impossible_state(prompt, events):
    cycle = Lifecycle(MARKERS, prompt)
    first, fed, pairs, drafted = cycle.phase, [], [], []
    for name, argument in events:
        before, running = cycle.phase, cycle.running
        if name == "advance":
            fed += argument
            pairs += follow(cycle, [argument])
            if before is not Phase.ANSWER and cycle.phase is Phase.ANSWER:
                cycle.end_draft(DraftEnd.CUT)  # as the scheduler does
        elif name == "begin":
            if running or cycle.finished or before is not Phase.REASONING:
                with pytest.raises(RuntimeError):
                    cycle.begin_draft(argument)
            else:
                draft = cycle.begin_draft(argument)
                assert cycle.running is draft
                assert draft.num_reasoning_tokens == cycle.num_reasoning_tokens
                drafted.append([])
        elif name == "extend":
            cycle.extend_draft(argument)
            if running:
                drafted[-1] += argument
        elif name == "end":
            assert cycle.end_draft(argument) is running
            assert running is None or running.end is argument
        else:
            cycle.finish()
            assert running is None or running.end is DraftEnd.CUT

        assert ORDER.index(cycle.phase) >= ORDER.index(before)
        assert (cycle.phase, pairs) == expected(MARKERS, first, fed)
        assert cycle.num_reasoning_tokens + cycle.num_answer_tokens == len(pairs)
        assert cycle.has_reasoned or cycle.phase is not Phase.REASONING
        running = [cycle.running] if cycle.running else []
        assert [draft for draft in cycle.drafts if draft.end is None] == running
        assert not (running and (cycle.finished or cycle.phase is Phase.ANSWER))
        assert [d.index for d in cycle.drafts] == list(range(len(cycle.drafts)))
        assert [d.tokens for d in cycle.drafts] == drafted
        starts = [d.num_reasoning_tokens for d in cycle.drafts]
        assert all(a <= b for a, b in pairwise(starts))
