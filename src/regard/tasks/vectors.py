"""Texts to vectors, whatever task a model was trained for.

A searcher has vectors of its own. From any other model with a body, a text's vector is the mean of
the body's last states over all that it read, special tokens included.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.data.batch import cut_batches, pad
from regard.device import device_of
from regard.errors import UsageError
from regard.tasks.task import Task
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


@torch.inference_mode()
def body_vectors(task: Task, model: Any, texts: Sequence[str]) -> Float[Tensor, "text width"]:  # noqa: ANN401
    """Give the mean of the body's last states for each text; 0 for a blank one."""
    body = getattr(model, "body", None)
    if not isinstance(body, nn.Module):
        raise UsageError(
            f"only a model with a body gives vectors. A run of {task.recipe.task} has none.",
            "Train a run of retrieval, classification, masked-pretraining or language-modelling.",
        )
    model.eval()
    heard: list[Tensor] = []
    hook = body.register_forward_hook(lambda _body, _given, states: heard.append(states))
    try:
        for text in texts:
            if text.strip():
                task.states(model, task.asked(text).to(device_of(model)))
            else:
                heard.append(torch.zeros(1, 1, task.recipe.model.width))
    finally:
        hook.remove()
    return torch.stack([states[0].float().mean(dim=0).cpu() for states in heard])
