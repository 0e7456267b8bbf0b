"""The matcher in random lives of a request."""

from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_ssr.engine.matcher import Matcher
from langchain_ssr.sources import Source
from tests.unit_tests.engine.matching import answering, calls, decode, token_lists


def is_span(tokens, text):
    size = len(tokens)
    return any(text[i : i + size] == tokens for i in range(len(text) - size + 1))


OWN_TEXT = {Source.REASONING, Source.ANSWER}


class TestAnyLife:
    @given(token_lists, st.none() | token_lists, calls())
    @settings(max_examples=300)
    def test_proposals_are_spans_of_their_source(self, prompt, prediction, steps):
        matcher = Matcher(prompt, prediction)
        texts = {Source.PROMPT: [prompt], Source.PREDICTION: [prediction or []]}
        drafts, reasoning, answer = [], [], []
        texts[Source.DRAFT_PREFIX] = texts[Source.DRAFT_SUFFIX] = drafts
        texts[Source.REASONING], texts[Source.ANSWER] = [reasoning], [answer]
        answers, proposed = False, []
        for method, argument in steps:
            if method == "start_answer":
                matcher.start_answer()
                answers, proposed = True, []
            elif method in {"extend", "accept"}:
                tokens = proposed[:argument] if method == "accept" else argument
                (answer if answers else reasoning).extend(tokens)
                extend = matcher.extend_answer if answers else matcher.extend_reasoning
                extend(tokens)
                proposed = []
            elif method == "add_draft":
                assert matcher.add_draft(argument) == len(drafts)
                drafts.append(list(argument))
            elif method == "extend_draft" and drafts:
                matcher.extend_draft(0, argument)
                drafts[0].extend(argument)
            elif method == "propose":
                proposal = matcher.propose(argument)
                if proposal is None:
                    continue
                proposed = proposal.tokens
                assert 1 <= len(proposed) <= argument
                assert all(type(token) is int for token in proposed)
                # The text itself may be copied on over its end.
                own = proposed if proposal.source in OWN_TEXT else []
                assert any(
                    is_span(proposed, [*text, *own]) for text in texts[proposal.source]
                )
                if proposal.source is Source.DRAFT_PREFIX:
                    assert any(
                        draft[: len(answer) + len(proposed)] == answer + proposed
                        for draft in drafts
                    )

    @given(token_lists, token_lists, st.lists(st.integers(1, 5), max_size=40))
    def test_a_draft_in_pieces_equals_a_whole_one(self, draft, answer, sizes):
        whole = answering(draft)
        pieces = Matcher([])
        index = pieces.add_draft([])
        start = 0
        for size in sizes:
            pieces.extend_draft(index, draft[start : start + size])
            start += size
        pieces.extend_draft(index, draft[start:])
        pieces.start_answer()
        assert decode(whole, answer) == decode(pieces, answer)
