"""What a model that is there settles: its vocabulary, what it can write, its labels."""

from torch import nn

from regard.account.facts import Facts
from regard.models.heads import LabelHead, TokenHead


def observed(model: nn.Module, vocabulary: int) -> Facts:
    """Read off a model what a recipe alone cannot say."""
    written, labels = vocabulary, 2
    for head in model.modules():
        if isinstance(head, TokenHead) and head.written is not None:
            written = len(head.written)
        elif isinstance(head, LabelHead):
            labels = head.to_logits.out_features
    return Facts(vocabulary, written, labels)
