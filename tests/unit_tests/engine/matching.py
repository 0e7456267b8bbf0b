"""What tests of the matcher share."""

from hypothesis import strategies as st

from langchain_ssr.engine.matcher import Matcher
from langchain_ssr.engine.suffix_index import common_prefix
from langchain_ssr.sources import SOURCES

# Few different tokens, so that texts repeat themselves and each other.
token_lists = st.lists(st.integers(0, 3), max_size=40)


@st.composite
def calls(draw):
    """A random life of a request, as (method, argument) pairs."""
    step = st.one_of(
        st.tuples(
            st.sampled_from(["extend", "add_draft", "extend_draft"]), token_lists
        ),
        st.tuples(st.just("accept"), st.integers(0, 8)),
        st.tuples(st.just("propose"), st.integers(0, 9)),
    )
    steps = draw(st.lists(step, max_size=30))
    steps.insert(draw(st.integers(0, len(steps))), ("start_answer", None))
    return steps


def live(matcher, steps):
    """Lead a life of `calls`; returns the proposals."""
    answers, num_drafts, proposed, proposals = False, 0, [], []
    for method, argument in steps:
        if method == "start_answer":
            matcher.start_answer()
            answers, proposed = True, []
        elif method in {"extend", "accept"}:
            tokens = proposed[:argument] if method == "accept" else argument
            extend = matcher.extend_answer if answers else matcher.extend_reasoning
            extend(tokens)
            proposed = []
        elif method == "add_draft":
            matcher.add_draft(argument)
            num_drafts += 1
        elif method == "extend_draft" and num_drafts:
            matcher.extend_draft(0, argument)
        elif method == "propose":
            proposals.append(matcher.propose(argument))
            proposed = proposals[-1].tokens if proposals[-1] else []
    return proposals


def answering(*drafts, prompt=(), prediction=None, sources=SOURCES):
    matcher = Matcher(prompt, prediction, sources)
    for draft in drafts:
        matcher.add_draft(draft)
    matcher.start_answer()
    return matcher


def decode(matcher, answer, max_tokens=32):
    """Decode a known answer; returns the proposals, one a step."""
    proposals = []
    done = 0
    while done < len(answer):
        proposal = matcher.propose(max_tokens)
        tokens = proposal.tokens if proposal else []
        rest = answer[done:]
        accepted = common_prefix(tokens, rest)
        matcher.extend_answer(rest[: accepted + 1])
        proposals.append(proposal)
        done += accepted + 1
    return proposals
