"""Takes the scheduler's reports out of what the engine hands back."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any

from langchain_ssr.engine.draft_text import DraftReader
from langchain_ssr.engine.lifecycle import DraftEnd
from langchain_ssr.engine.report_history import report_at
from langchain_ssr.engine.span_text import span_texts

if TYPE_CHECKING:
    from vllm.outputs import RequestOutput

KEY = "ssr"
"""Where reports come in `kv_transfer_params`, and stand in a response's metrics."""
COUNTED = "counted"
"""The name of a report that is not for the client, only to be counted."""

_CUT = str(DraftEnd.CUT)

logger = logging.getLogger(__name__)


def prediction_usage(report: Mapping[str, Any]) -> dict[str, int]:
    """Return what became of a prediction, under OpenAI's names, in tokens.

    Counted is what was proposed from it. A token that the engine decoded by itself is
    in neither number, also where the prediction says the same.

    Args:
        report: The scheduler's report (`engine/report.py`).
    """
    count = report["sources"]["prediction"]
    accepted = count["num_accepted_draft_tokens"]
    return {
        "accepted_prediction_tokens": accepted,
        "rejected_prediction_tokens": count["num_draft_tokens"] - accepted,
    }


class Reports:
    """Reads one request's outputs.

    Args:
        source: The engine's outputs.
        count: Takes the last report and the number of output tokens at that time.
        tokenizer: Reads the texts of drafts and spans; needed where they may come.
    """

    def __init__(
        self,
        source: AsyncIterator[RequestOutput],
        count: Callable[[Mapping[str, Any], int], None],
        tokenizer: Any = None,
    ) -> None:
        """Begin with no report."""
        self._source = source
        self._count = count
        self._tokenizer = tokenizer
        self._reader = DraftReader(tokenizer)
        self._drafts: list[tuple[int, str]] = []
        self._token_ids: list[int] = []
        self._texts: list[str] = []
        self.last: dict[str, Any] | None = None
        """The last report for the client."""
        self.counted: dict[str, Any] | None = None
        """The last report of any kind."""
        self._num_counted_tokens = 0
        self.finish_reasons: dict[int, str] = {}

    def take_drafts(self) -> list[tuple[int, str]]:
        """Return new draft text since the last call: number and text."""
        drafts, self._drafts = self._drafts, []
        return drafts

    def whole(self) -> dict[str, Any] | None:
        """Return the client's report, its spans with their texts; None if none came."""
        if self.last is None or "spans" not in self.last or not self._tokenizer:
            return self.last
        try:
            texts = span_texts(
                self.last["spans"],
                self._token_ids,
                "".join(self._texts),
                self._tokenizer,
            )
        except Exception:
            logger.warning("the texts of spans are left out", exc_info=True)
            return self.last
        return {**self.last, "span_texts": texts}

    async def outputs(self) -> AsyncGenerator[RequestOutput, None]:
        """Yield the engine's outputs without reports; remember the last one."""
        try:
            async for output in self._source:
                for one in output.outputs:
                    self._token_ids += one.token_ids  # of several: nothing is shown
                    self._texts.append(one.text)
                    if one.finish_reason is not None:
                        self.finish_reasons[one.index] = one.finish_reason
                self._take_report(output)
                yield output
        finally:
            self._count_last()

    def _take_report(self, output: RequestOutput) -> None:
        params = output.kv_transfer_params
        if not params or KEY not in params:
            return
        report = params[KEY]
        if draft := report.pop("draft", None):
            new = self._reader.read(draft)
            self._drafts += [new] if new else []
        counted = report.pop(COUNTED, None)
        if counted or report:
            self._num_counted_tokens = len(self._token_ids)
        if counted:
            self.counted = self._at_end(counted, output)
        if report:
            self.counted = self.last = self._at_end(report, output)
        rest = {k: v for k, v in params.items() if k != KEY}
        output.kv_transfer_params = rest or None

    def _at_end(self, report: dict[str, Any], output: RequestOutput) -> dict[str, Any]:
        """Return the report of the output's last step; a stop may come before it."""
        stopped = [one for one in output.outputs if isinstance(one.stop_reason, str)]
        num_tokens = len(self._token_ids) if stopped else None
        report, spec_decode = report_at(report, num_tokens)
        if spec_decode is not None:
            from vllm.v1.metrics.stats import RequestSpecDecodeMetrics

            for one in stopped:
                one.spec_decode_metrics = RequestSpecDecodeMetrics(**spec_decode)
        return report

    def _count_last(self) -> None:
        if self.counted is None:
            return
        try:
            self._count(_cut_drafts(self.counted), self._num_counted_tokens)
        except Exception:  # no counter is worth an answer
            logger.exception("a request was not counted")


def _cut_drafts(report: dict[str, Any]) -> dict[str, Any]:
    """End the drafts that ran at the last report: the request's end has cut them."""
    drafts = report.get("drafts", ())
    if all(draft["finish_reason"] for draft in drafts):
        return report
    ends = ({"finish_reason": draft["finish_reason"] or _CUT} for draft in drafts)
    return {**report, "drafts": [{**d, **e} for d, e in zip(drafts, ends, strict=True)]}
