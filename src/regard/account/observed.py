"""What a model and a batch that are there settle, and what a step really multiplies.

The formulas are held against these: tests at toy size, ``bench/account.py`` at full size.
"""

from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from regard.account.facts import Facts, Load, Sentences
from regard.account.ledger import Seq
from regard.models.build.labels import MARKS
from regard.models.han import side_by_side, unfold
from regard.models.heads import LabelHead, TokenHead
from regard.recipe.recipe import ENCODER_DECODERS, Recipe


def observed(model: nn.Module, vocabulary: int) -> Facts:
    """Read off a model what a recipe alone cannot say."""
    written, labels = vocabulary, 2
    for head in model.modules():
        if isinstance(head, TokenHead) and head.written is not None:
            written = len(head.written)
        elif isinstance(head, LabelHead):
            labels = head.to_logits.out_features
    return Facts(vocabulary, written, labels)


def load_of_batch(recipe: Recipe, batch: Any) -> Load:  # noqa: ANN401 - data's own, behind another door
    """Say what a real batch holds, in the account's words."""
    task, fields = recipe.task, batch.fields
    rows, length = fields[0].ids.shape
    if task in ENCODER_DECODERS:
        real = int(fields[1].lengths.sum())
        return Load(rows, length, written=fields[1].ids.shape[1], asked=real)
    if task == "language-modelling":
        apart = recipe.training.softmax == "sampled"
        told = len(fields[0].ids[:, 1:].unique()) if apart else 0
        return Load(rows, length - 1, told=told)
    if task == "masked-pretraining":
        asked = fields[1].ids >= 0
        kept = int((fields[0].lengths - asked.sum(dim=1)).max())
        return Load(rows, length, asked=int(asked.sum()), kept=kept)
    if task == "document-pretraining":
        return Load(rows, length)
    if task == "retrieval":
        answers, tokens = fields[1].ids.shape
        return Load(answers, tokens, asking=Seq(rows, length))
    load = Load(*fields[1].ids.shape)  # a label stands first
    by_sentences = recipe.model.documents.read == "sentences"
    return load._replace(sentences=_sentences(fields[1])) if by_sentences else load


def _sentences(texts: Any) -> Sentences:  # noqa: ANN401
    """Take documents apart as :class:`regard.models.han.Han` does."""
    unfolded = unfold(texts.ids, texts.lengths, marks=MARKS)
    if not len(unfolded.ids):
        return Sentences((Seq(0, 0),), ())
    groups = [unfolded.lengths[rows] for rows in side_by_side(unfolded)]
    return Sentences(
        tuple(Seq(len(lengths), int(lengths.max())) for lengths in groups),
        tuple(unfolded.place.bincount().tolist()),
    )


class Products(TorchDispatchMode):
    """Counts every matrix product by the shapes that torch itself is given."""

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
        if packet is torch.ops.aten.addmm_:  # torch's own table does not know it
            self.flops += 2 * args[1].shape[0] * args[1].shape[1] * args[2].shape[1]
        elif packet in flop_registry:
            self.flops += flop_registry[packet](*args, **(kwargs or {}), out_val=out)
        return out
