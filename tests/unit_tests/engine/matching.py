"""What tests of the matcher share."""

from hypothesis import strategies as st

from langchain_ssr.engine.matcher import Matcher, common_prefix

# Few different tokens, so that texts repeat themselves and each other.
token_lists = st.lists(st.integers(0, 3), max_size=40)


def answering(*drafts, prompt=(), prediction=None):
    matcher = Matcher(prompt, prediction)
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
