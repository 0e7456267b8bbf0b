"""What the parts of the SSR scheduler share: its state."""

from __future__ import annotations

from typing import Any

from vllm.v1.request import Request

from langchain_ssr.engine.draft_policy import DraftPolicies
from langchain_ssr.engine.lifecycle import DraftEnd
from langchain_ssr.engine.markers import find_markers, is_hybrid
from langchain_ssr.engine.owner import follow_owner
from langchain_ssr.engine.reporting import Reporting
from langchain_ssr.engine.request_state import RequestState
from langchain_ssr.operator_settings import OperatorSettings

KEY = "ssr"
"""Where settings come in (`extra_args`) and reports go out (`kv_transfer_params`)."""


class SSRBase(Reporting):
    """State beside a vLLM scheduler.

    Attributes:
        _parent_of: The parent of each draft, by the draft's request id.
        _drafters: What a draft is proposed from, by the draft's request id.
        _to_cut: Drafts that end at the next quiet moment, and why.
        _waited: Drafts that waited through a whole step.
        _ended: Requests that ended since the last quiet moment.
        _updating: Whether vLLM is in the middle of `update_from_output`.
        _policies: What was learned of drafts' costs and gains, by model.
        _token_cost: What verifying one more token costs in this step.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Create vLLM's scheduler and what SSR keeps beside it."""
        super().__init__(*args, **kwargs)
        if self.use_pp:
            raise ValueError(
                "SSR does not work with pipeline parallelism: several steps are in "
                "flight at once. Use tensor or data parallelism."
            )
        follow_owner()
        self._parent_of: dict[str, str] = {}
        self._drafters: dict[str, RequestState] = {}
        self._to_cut: dict[str, DraftEnd] = {}
        self._waited: set[str] = set()
        self._ended: list[str] = []
        self._updating = False
        self._policies = DraftPolicies()
        self._token_cost = 0.0
        self._markers = find_markers(
            self.vllm_config,
            getattr(self.structured_output_manager, "tokenizer", None),
        )
        self._vocab_size = self.vllm_config.model_config.get_vocab_size()
        self._hybrid = is_hybrid(self.vllm_config)
        options = self.vllm_config.additional_config or {}
        # Settings that are none end the start, with the name of the field.
        self._operator = OperatorSettings.read(
            options.get(KEY, {}) if isinstance(options, dict) else {}
        )
        # vLLM would pad one-token requests with K proposals of -1.
        self.dynamic_sd_lookup = [self.num_spec_tokens] * (
            self.max_num_running_reqs + 1
        )

    def _give_up(self, request_id: str, error: Exception) -> None:
        super()._give_up(request_id, error)
        state = self._states.get(request_id)
        if state is None:
            return
        if (child_id := state.child_id) and child_id in self.requests:
            self._to_cut[child_id] = DraftEnd.DROPPED
        if request := self.requests.get(request_id):
            request.spec_token_ids = []

    def _state_of(self, request: Request) -> RequestState | None:
        request_id = request.request_id
        return self._states.get(request_id) or self._drafters.get(request_id)
