"""Facts of a real model, and a counter of its matrix products.

The formulas are compared with them: in tests at toy size, in ``bench/account.py`` at full size.
"""

from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from regard.ledger.load import Facts
from regard.models.heads import LabelHead, TokenHead
from regard.models.tagger import TagHead


def facts_of_model(model: nn.Module, vocabulary: int) -> Facts:
    """Return what a model determines and its recipe does not."""
    outputs, labels = vocabulary, 2
    for head in model.modules():
        if isinstance(head, TokenHead) and head.written is not None:
            outputs = len(head.written)
        elif isinstance(head, LabelHead | TagHead):
            labels = head.to_logits.out_features
    return Facts(vocabulary, outputs, labels)


class FlopCounter(TorchDispatchMode):
    """Counts the FLOPs of every matrix product that torch executes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.flops = 0

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401 - as torch calls it
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        out = func(*args, **(kwargs or {}))
        packet = func._overloadpacket
        if packet is torch.ops.aten.addmm_:  # missing in torch's own table
            self.flops += 2 * args[1].shape[0] * args[1].shape[1] * args[2].shape[1]
        elif packet in flop_registry:
            self.flops += flop_registry[packet](*args, **(kwargs or {}), out_val=out)
        return out
