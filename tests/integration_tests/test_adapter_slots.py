"""The defect of vLLM's LoRA kernels for CPUs that `backends/adapters.py` avoids."""

from __future__ import annotations

import pytest
import torch
from vllm.lora.ops.torch_ops import bgmv_expand, bgmv_shrink

SIZE, RANK = 6, 2
ADAPTER, ITSELF = 0, -1
"""What vLLM calls the adapter of the first slot, and the model itself."""


def added(num_slots: int, rows: list[int]) -> torch.Tensor:
    """Return what LoRA adds to each row of a batch; the adapter is in slot 0."""
    generator = torch.Generator().manual_seed(0)
    a = torch.zeros(num_slots, 1, RANK, SIZE)
    b = torch.zeros(num_slots, 1, SIZE, RANK)
    for weights in (a, b):
        weights[0].normal_(generator=generator)
    buffer = torch.zeros(len(rows), RANK)
    output = torch.zeros(len(rows), SIZE)
    indices = torch.tensor(rows)
    bgmv_shrink(torch.ones(len(rows), SIZE), a, buffer, indices)
    bgmv_expand(buffer, b, output, indices)
    return output.abs().sum(dim=1)


def test_without_an_empty_slot_an_adapter_changes_the_model_itself() -> None:
    adapted, itself = added(1, [ADAPTER, ITSELF])
    assert itself == adapted > 0  # when this fails, the default can go


@pytest.mark.parametrize("num_slots", [2, 3])
def test_an_empty_last_slot_leaves_it_alone(num_slots: int) -> None:
    adapted, itself, again = added(num_slots, [ADAPTER, ITSELF, ADAPTER])
    assert itself == 0
    assert adapted == again > 0
