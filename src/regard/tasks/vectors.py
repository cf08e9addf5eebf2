"""Rows of tokens to vectors: likes together, several rows of one text as their mean."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.data.batch import cut_batches, pad
from regard.device import device_of
from regard.text import special

READ_AT_ONCE = 8192  # tokens side by side


@torch.inference_mode()
def read_rows(
    model: nn.Module, texts: Sequence[Sequence[Sequence[int]]], *, features: int
) -> Float[Tensor, "text feature"]:
    """Read texts of one or several rows, like lengths together; a text is the mean of its rows.

    ``model(ids, lengths=...)`` gives a vector per row. A text without a row is 0, which is like
    nothing.
    """
    flat = [(text, row) for text, rows in enumerate(texts) for row in rows]
    order = sorted(range(len(flat)), key=lambda at: len(flat[at][1]))
    lengths = np.asarray([len(flat[at][1]) for at in order], dtype=np.int64)
    device, total = device_of(model), torch.zeros(len(texts), features)
    for begin, end in pairwise(cut_batches(lengths, budget=READ_AT_ONCE)):
        some = [flat[at] for at in order[begin:end]]
        if some:
            ids, counts = pad([list(row) for _, row in some], filler=special.PAD).to(device)
            owners = torch.tensor([text for text, _ in some])
            total.index_add_(0, owners, model(ids, lengths=counts).float().cpu())
    return torch.nn.functional.normalize(total, dim=-1)
