"""What to propose next for one request, and from which source.

All sources are token sequences in one `SuffixIndex`. A *cursor* says which one is
followed and where. While the verified tokens agree with it, a proposal is a slice; only
a mismatch searches for a new cursor. Prefix verification and the resumption of drafts
of "Self-Speculation for Faster Reasoning Models" (Valluri, Nguyen, Grover, arXiv
2608.20359) are cases of it; that a longer match earns a longer proposal is from
SuffixDecoding (Oliaro et al., arXiv 2411.04975).

Every place that can be followed has a *confidence*, counted in tokens: the tokens of
context that match there plus, in the answer, up to `_NEAR` for a place near which a
draft is expected to go on. The place of highest confidence is followed, and its
confidence decides how much is proposed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from math import log2

from langchain_ssr.engine.pace import Pace
from langchain_ssr.engine.suffix_index import Match, SuffixIndex, common_prefix
from langchain_ssr.sources import SOURCES, Source

_NEAR = 6.0
"""Confidence, in matching tokens, of the place at which a trusted draft should go on.
It falls by a half with each doubling of the distance: most edits are short."""
_BEHIND, _AHEAD = 8, 32
"""Tokens before and after that place where a single matching token counts."""
_TRUST_STEP = 0.3
"""Weight of the latest proposal in a guide's running acceptance rate."""
_MIN_MATCH = 2
"""Tokens that must match in the thinking phase."""
_THINKING_FACTOR, _ANSWER_FACTOR, _GUIDE_FACTOR = 2.0, 4.0, 8.0
"""Tokens proposed per token of confidence: in the thinking phase, in the answer, and in
the answer from a draft or prediction. Round numbers: results depend little on them."""


@dataclass(frozen=True)
class Proposal:
    """Tokens that may come next and the source that they were copied from."""

    tokens: list[int]
    source: Source
    draft: int | None = field(default=None, compare=False)
    """Which draft, if it is one."""


@dataclass
class _Guide:
    """A draft or prediction: a text along which the answer is expected to run."""

    sequence: int
    agreed: int = 0
    """Length of its common prefix with the answer."""
    shift: int = 0
    """Its next token is expected at the length of the answer plus this."""
    trust: float = 1.0
    """Running acceptance rate of what was proposed from it, in the answer."""


class Matcher:
    """Proposes the next tokens of one request and learns from what was verified.

    A request thinks until `start_answer` and answers after it. In the thinking phase
    the end of the reasoning is looked up in prompt, reasoning and drafts. In the answer
    all sources are looked up, and the answer is expected to run along the drafts and
    the prediction: short matches count near the place where one of them was left, and
    so does no match at all, as if one token had been substituted there. A deletion in
    the draft shows as such a short match at once, an insertion one token later.

    Token lists that are passed in are copied. A call costs time in proportion to the
    tokens passed, plus a bounded search; it does not grow with the sources.

    Args:
        prompt: Token ids of the prompt.
        prediction: Token ids of the answer that the user expects.
        sources: Names of the sources that may be proposed from. Without "draft_suffix"
            a draft is followed only while the answer agrees with it from its first
            token on. Without "draft_prefix" its beginning is found as any other place
            is, by what the answer ends with: not before the answer has a token.
    """

    def __init__(
        self,
        prompt: Sequence[int],
        prediction: Sequence[int] | None = None,
        sources: Collection[str] = SOURCES,
    ) -> None:
        self._sources = sources
        self._index = SuffixIndex()
        self._kinds: list[Source] = []
        self._guides: dict[int, _Guide] = {}
        self._from_start: list[_Guide] = []  # followed while the answer agrees
        self._nearby: list[_Guide] = []  # searched near the expected place
        # In ascending priority: of two equal places, the later sequence's is followed.
        self._add(Source.PROMPT, prompt)
        self._reasoning = self._add(Source.REASONING)
        self._answer = self._add(Source.ANSWER)
        if prediction:
            self._add_guide(Source.PREDICTION, prediction)
        self._drafts: list[int] = []

        self._answering = False
        self._text = self._index.sequences[self._reasoning]
        self._pace = Pace()
        # What is followed: the sequence and the position of its next token.
        self._cursor: tuple[int, int] | None = None
        self._confidence = 0.0
        self._num_proposed = 0  # tokens that are being verified

    def add_draft(self, tokens: Sequence[int]) -> int:
        """Add a draft, which gets priority over those before it.

        Returns:
            Its index for `extend_draft`: 0, 1, ...
        """
        self._drafts.append(self._add_guide(Source.DRAFT_SUFFIX, tokens))
        return len(self._drafts) - 1

    def extend_draft(self, index: int, tokens: Sequence[int]) -> None:
        """Append tokens to a draft that is still being written."""
        sequence = self._drafts[index]
        self._index.extend(sequence, tokens)
        self._compare(self._guides[sequence])

    def extend_reasoning(self, tokens: Sequence[int]) -> None:
        """Append verified tokens to the reasoning."""
        self._extend(self._reasoning, tokens)

    def start_answer(self) -> None:
        """End the reasoning: the next tokens are the answer's."""
        self._answering = True
        self._text = self._index.sequences[self._answer]
        self._pace = Pace()
        self._cursor = None
        self._num_proposed = 0

    def extend_answer(self, tokens: Sequence[int]) -> None:
        """Append verified tokens to the answer."""
        self._extend(self._answer, tokens)
        for guide in self._guides.values():
            self._compare(guide)

    def propose(self, max_tokens: int, cost: float = 0.0) -> Proposal | None:
        """Propose next tokens.

        Args:
            max_tokens: The most that this step can verify. A proposal that the caller
                cuts afterwards counts as partly rejected, so better ask for less.
            cost: Measured cost of verifying a token, in what an accepted one saves;
                above 0.2 proposals get shorter.

        Returns:
            At least one token; None where nothing is likely enough.
        """
        guide = self._agreeing_guide()
        if guide is not None:
            self._cursor = (guide.sequence, guide.agreed)
            self._confidence = guide.agreed + _NEAR * guide.trust
        elif self._cursor is None:
            self._search()
        self._num_proposed = 0
        if self._cursor is None:
            return None

        number, position = self._cursor
        factor = self._factor(number)
        length = min(max_tokens, self._pace.length(self._confidence, factor, cost))
        if length <= 0:
            return None
        followed = self._index.sequences[number]
        tokens = followed[position : position + length]
        if followed is self._text and len(tokens) < length:
            # The text repeats itself: copy on over its end, as LZ77 does.
            period = len(followed) - position
            tokens = [followed[position + i % period] for i in range(length)]
        self._num_proposed = len(tokens)
        source = self._kinds[number]
        if guide is not None and source is Source.DRAFT_SUFFIX:
            source = Source.DRAFT_PREFIX
        draft = self._drafts.index(number) if number in self._drafts else None
        return Proposal(tokens, source, draft)

    def _agreeing_guide(self) -> _Guide | None:
        """Return the first guide that begins with the whole answer and goes on."""
        if not self._answering:
            return None
        size = len(self._text)
        for guide in reversed(self._from_start):
            if guide.agreed == size < len(self._index.sequences[guide.sequence]):
                return guide
        return None

    def _search(self) -> None:
        """Set the cursor to the place of highest confidence, if there is one."""
        best: tuple[float, int] = (0.0, 0)
        for number, position, length in self._places():
            key = (length + self._nearness(number, position), number)
            if key > best:
                best = key
                self._cursor = (number, position)
        self._confidence = best[0]

    def _places(self) -> Iterator[Match]:
        """Yield the places that may be followed from here."""
        if not self._answering:
            for match in self._index.matches(self._text):
                if match.length >= _MIN_MATCH:
                    yield match
            return
        yield from self._index.matches(self._text)
        for guide in self._nearby:
            yield from self._places_nearby(guide)

    def _places_nearby(self, guide: _Guide) -> Iterator[Match]:
        """Yield the places near the one where a guide should go on, and that one."""
        if not self._text:
            return
        number = guide.sequence
        sequence = self._index.sequences[number]
        expected = len(self._text) + guide.shift
        if 0 <= expected < len(sequence):
            # A mismatch before it speaks against a place as one match speaks for it.
            yield Match(number, expected, -1)
        last = self._text[-1]
        # The token after a match must exist, so the last one cannot be matched.
        end = min(expected + _AHEAD, len(sequence) - 1)
        position = max(0, expected - _BEHIND)
        while position < end:
            try:
                position = sequence.index(last, position, end) + 1
            except ValueError:
                return
            length = self._index.common(number, position, self._text)
            yield Match(number, position, length)

    def _nearness(self, number: int, position: int) -> float:
        """Return the confidence that a place has from being near an expected one."""
        guide = self._guides.get(number)
        if guide is None or not self._answering:
            return 0.0
        distance = abs(position - len(self._text) - guide.shift)
        return guide.trust * max(0.0, _NEAR - log2(1 + distance) / 2)

    def _factor(self, number: int) -> float:
        """Return how many tokens of a sequence to propose per token of confidence."""
        if not self._answering:
            return _THINKING_FACTOR
        return _GUIDE_FACTOR if number in self._guides else _ANSWER_FACTOR

    def _extend(self, number: int, tokens: Sequence[int]) -> None:
        """Append verified tokens to the text and move the cursor along."""
        self._index.extend(number, tokens)
        self._pace.record(self._num_proposed, len(tokens))
        if self._cursor is None:
            return
        followed, position = self._cursor
        source = self._index.sequences[followed]
        agreed = common_prefix(tokens, source[position : position + len(tokens)])
        if self._answering and followed in self._guides:
            guide = self._guides[followed]
            if self._num_proposed:
                rate = min(1.0, agreed / self._num_proposed)
                guide.trust += _TRUST_STEP * (rate - guide.trust)
            if agreed:
                # After a rejection this expects a substitution: the place of the
                # engine's own token is skipped in the guide.
                guide.shift = position - (len(self._text) - len(tokens))
        self._num_proposed = 0
        position += agreed
        self._confidence += agreed
        goes_on = agreed == len(tokens) and position < len(source)
        self._cursor = (followed, position) if goes_on else None

    def _compare(self, guide: _Guide) -> None:
        """Bring up to date how far a guide and the answer agree."""
        answer = self._index.sequences[self._answer]
        sequence = self._index.sequences[guide.sequence]
        start, end = guide.agreed, min(len(answer), len(sequence))
        # Once they differ they do so for good, at a cost of one comparison a call.
        if start < end and answer[start] == sequence[start]:
            guide.agreed += common_prefix(answer[start:end], sequence[start:end])

    def _add(self, kind: Source, tokens: Sequence[int] = ()) -> int:
        self._kinds.append(kind)
        return self._index.add(tokens, searched=kind in self._sources)

    def _add_guide(self, kind: Source, tokens: Sequence[int]) -> int:
        number = self._add(kind, tokens)
        guide = self._guides[number] = _Guide(number)
        at_start = Source.DRAFT_PREFIX if kind is Source.DRAFT_SUFFIX else kind
        if at_start in self._sources:
            self._from_start.append(guide)
        if kind in self._sources:
            self._nearby.append(guide)
        self._compare(guide)
        return number
