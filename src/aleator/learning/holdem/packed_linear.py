"""Linear layers whose weights lie in memory as the processor's matrix product wants them.

A product of a few rows with a large matrix spends most of its time on bringing the matrix into that layout. oneDNN,
which torch's builds for x86 contain, does it once: three times as fast for a dozen rows and a matrix of 1,120 by 1,120.
Where torch has no oneDNN the layer is torch's own.
"""

from __future__ import annotations

import torch
from torch import nn

from aleator.caching import cache

Tensor = torch.Tensor


@cache
def _is_there() -> bool:
    """Returns whether this torch has what packs and multiplies; the operations are those of its own compiler."""
    try:
        packed = torch.ops.mkldnn._reorder_linear_weight(torch.eye(2))
        return bool(torch.ops.mkldnn._linear_pointwise(torch.eye(2), packed, None, "none", [], "").trace() == 2.0)
    except (AttributeError, RuntimeError, NotImplementedError, TypeError):
        return False


class PackedLinear(nn.Module):
    """`nn.Linear` on a CPU in float32 that only answers.

    Args:
        weight: ``[outputs, inputs]``.
        bias: ``[outputs]``, or none.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__()
        self._packs = _is_there() and weight.device.type == "cpu" and weight.dtype == torch.float32
        weight = weight.detach()
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous()) if self._packs else weight
        self._bias = None if bias is None else bias.detach()

    def forward(self, rows: Tensor) -> Tensor:
        """Returns [..., outputs] of rows [..., inputs]."""
        if not self._packs:
            return nn.functional.linear(rows, self._weight, self._bias)
        answers: Tensor = torch.ops.mkldnn._linear_pointwise(rows, self._weight, self._bias, "none", [], "")
        return answers


def pack_linear_layers(module: nn.Module) -> None:
    """Replaces all linear layers of a network by packed ones."""
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, PackedLinear(child.weight, child.bias))
        else:
            pack_linear_layers(child)
