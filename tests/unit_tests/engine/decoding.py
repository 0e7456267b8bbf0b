"""A request's state, decoded through as the scheduler does it."""

from langchain_ssr.engine.lifecycle import DraftEnd, Markers
from langchain_ssr.engine.report import make_report
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.settings import SpeculationSettings

START, END, TOOL_CALL = 900, 901, 902
MARKERS = Markers((START,), (END,), frozenset({TOOL_CALL}), close=(END, 8, 8))
OPENED, CLOSED, FRESH = [1, START], [1, START, END], [1, 2]
REASONING, ANSWER = list(range(100, 300)), [8, 8, *range(400, 500)]
TEXT = list(range(10, 30))


def state(prompt=OPENED, markers=MARKERS, *, reason=None, prediction=None, **settings):
    """Make the state of a request with these settings."""
    settings = SpeculationSettings(**{"speculation_stats": "detailed", **settings})
    return RequestState(settings, markers, prompt, reason=reason, prediction=prediction)


def decode(of, output, drafts=(), most=32):
    """Decode as the scheduler does, drafts a token a step; the accepted tokens."""
    done = total = 0
    drafts, left = iter(drafts), []
    while done < len(output):
        rest = output[done:]
        proposed = of.propose(min(most, len(rest) - 1))
        assert len(proposed) <= min(most, len(rest) - 1)
        pairs = zip(proposed, rest, strict=False)
        wrong = [i for i, (one, other) in enumerate(pairs) if one != other]
        accepted = min([len(proposed), *wrong])
        if of.lifecycle.running:
            of.extend_draft([left.pop(0)])
            if not left:
                of.end_draft(DraftEnd.STOP)
        of.count_proposal(len(proposed), accepted)
        if of.advance(rest[: accepted + 1], accepted):
            of.end_draft(DraftEnd.CUT)
        done, total = done + accepted + 1, total + accepted
        due = of.draft_due()
        if due is not None and (draft := next(drafts, None)):
            of.end_draft(DraftEnd.CUT)
            of.begin_draft(due, 10)
            left = list(draft)
    return total


def accepted_by_source(of):
    """Return the accepted tokens of the sources that have some."""
    sources = make_report(of)["sources"].items()
    return {k: n for k, v in sources if (n := v["num_accepted_draft_tokens"])}
