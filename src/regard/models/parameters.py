"""Where parameters begin, drawn from torch's generator: seed it, and the model is the same.

    matrix ~ N(0, 1/inputs)      table ~ N(0, 1/width)      last matrix of a part = 0 if quiet

A quiet start lets a deep stack begin as the identity: the first steps train the tables, and no
warm-up is needed (Zhang et al. 2019, "Fixup"; the zero start of GPT-2's speed runs).
"""

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn

from regard.errors import RunError
from regard.layers.attention import Attention
from regard.layers.embedding import Embedding, Ngrams
from regard.layers.feed_forward import FeedForward
from regard.models.heads import TokenHead


def draw_parameters(model: nn.Module, *, width: int, quiet: bool) -> None:
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


def parameters_of(model: nn.Module) -> dict[str, Tensor]:
    """Every parameter by name, once: a table used in two places is stored under its first name."""
    parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}
    for name, head in _limited(model):
        assert head.written is not None
        parameters[f"{name}.written"] = head.written
    return {**parameters, **known_of(model)}


def known_of(model: nn.Module) -> dict[str, Tensor]:
    """Which runs of tokens have vectors, where not every one has."""
    return {
        f"{name}.known": part.known
        for name, part in model.named_modules()
        if isinstance(part, Ngrams) and part.known is not None
    }


def put_known(model: nn.Module, known: Mapping[str, Tensor]) -> None:
    """Take up which runs have vectors."""
    for name, part in model.named_modules():
        if isinstance(part, Ngrams) and f"{name}.known" in known:
            part.know(known[f"{name}.known"])


def put_parameters(model: nn.Module, parameters: Mapping[str, Tensor]) -> None:
    """Copy parameters in by name; refuse what is missing, left over or of another shape."""
    own = dict(model.named_parameters())
    parameters = dict(parameters)
    for name, head in model.named_modules():
        if isinstance(head, TokenHead) and f"{name}.written" in parameters:
            head.write_only(parameters.pop(f"{name}.written"))
    put_known(model, parameters)
    for name in known_of(model):
        parameters.pop(name, None)
    missing, left = sorted(own.keys() - parameters.keys()), sorted(parameters.keys() - own.keys())
    if missing or left:
        raise RunError(
            f"parameters must be the model's own. Missing: {missing[:3]}; left over: {left[:3]}.",
            "Take parameters and config from the same run.",
        )
    for name, parameter in own.items():
        if parameter.shape != parameters[name].shape:
            raise RunError(
                f"parameters must have the model's shapes. {name} is "
                f"{tuple(parameters[name].shape)}; the model needs {tuple(parameter.shape)}.",
                "Take parameters, recipe and tokenizer from the same run.",
            )
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(parameters[name])


def _limited(model: nn.Module) -> Iterator[tuple[str, TokenHead]]:
    for name, part in model.named_modules():
        if isinstance(part, TokenHead) and part.written is not None:
            yield name, part
