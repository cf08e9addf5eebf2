"""Where weights begin, drawn from torch's generator: seed it, and the model is the same.

    matrix ~ N(0, 1/inputs)      table ~ N(0, 1/width)      last matrix of a part = 0 if quiet

A quiet start lets a deep stack begin as the identity: the first steps train the tables, and no
warm-up is needed (Zhang et al. 2019, "Fixup"; the zero start of GPT-2's speed runs).
"""

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn

from regard.errors import RunError
from regard.layers.attention import Attention
from regard.layers.embedding import Embedding
from regard.layers.feed_forward import FeedForward
from regard.models.heads import TokenHead


def draw_weights(model: nn.Module, *, width: int, quiet: bool) -> None:
    """Draw every matrix and table of ``model`` anew."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, Embedding):
            nn.init.normal_(module.table, std=width**-0.5)
    if not quiet:
        return
    for module in model.modules():
        if isinstance(module, Attention | FeedForward):
            nn.init.zeros_(module.to_output.weight)


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Every weight by name, once: a table used in two places is stored under its first name."""
    weights = {name: weight.detach() for name, weight in model.named_parameters()}
    for name, head in _limited(model):
        assert head.written is not None
        weights[f"{name}.written"] = head.written
    return weights


def put_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy weights in by name; refuse what is missing, left over or of another shape."""
    own = dict(model.named_parameters())
    weights = dict(weights)
    for name, head in model.named_modules():
        if isinstance(head, TokenHead) and f"{name}.written" in weights:
            head.write_only(weights.pop(f"{name}.written"))
    missing, left = sorted(own.keys() - weights.keys()), sorted(weights.keys() - own.keys())
    if missing or left:
        raise RunError(
            f"weights must be those of the model. Missing: {missing[:3]}; left over: {left[:3]}.",
            "Take weights and config from the same run.",
        )
    for name, weight in own.items():
        if weight.shape != weights[name].shape:
            raise RunError(
                f"weights must have the model's shapes. {name} is {tuple(weights[name].shape)}; "
                f"the model needs {tuple(weight.shape)}.",
                "Take weights, recipe and tokenizer from the same run.",
            )
    with torch.no_grad():
        for name, weight in own.items():
            weight.copy_(weights[name])


def _limited(model: nn.Module) -> Iterator[tuple[str, TokenHead]]:
    for name, part in model.named_modules():
        if isinstance(part, TokenHead) and part.written is not None:
            yield name, part
