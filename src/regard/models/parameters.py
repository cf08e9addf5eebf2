"""Initialise, collect and load parameters.

    matrix ~ N(0, 1/inputs)      table ~ N(0, 1/width)      last matrix of a layer = 0 if zero_init

With zero initialisation a deep stack starts as the identity: the first steps train the embeddings,
and no warm-up is needed (Zhang et al. 2019, "Fixup"; also in GPT-2's speed runs).
"""

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn

from regard.errors import RunError
from regard.layers.attention import Attention
from regard.layers.embedding import Embedding, Ngrams
from regard.layers.feed_forward import FeedForward
from regard.models.heads import TokenHead


def initialise_parameters(model: nn.Module, *, width: int, zero_init: bool) -> None:
    """Initialise every matrix and table of ``model`` from torch's generator."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, Embedding):
            nn.init.normal_(module.table, std=width**-0.5)
    if not zero_init:
        return
    for module in model.modules():
        if isinstance(module, Attention | FeedForward):
            nn.init.zeros_(module.to_output.weight)


def collect_parameters(model: nn.Module) -> dict[str, Tensor]:
    """Return every parameter by name; one that is used twice is stored under its first name."""
    parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}
    for name, head in _limited_heads(model):
        assert head.written is not None
        parameters[f"{name}.written"] = head.written
    return {**parameters, **collect_known_ngrams(model)}


def collect_known_ngrams(model: nn.Module) -> dict[str, Tensor]:
    """Return which n-grams have embeddings, for layers where not all have."""
    return {
        f"{name}.known": part.known
        for name, part in model.named_modules()
        if isinstance(part, Ngrams) and part.known is not None
    }


def load_known_ngrams(model: nn.Module, known: Mapping[str, Tensor]) -> None:
    """Load which n-grams have embeddings."""
    for name, part in model.named_modules():
        if isinstance(part, Ngrams) and f"{name}.known" in known:
            part.restrict(known[f"{name}.known"])


def load_parameters(model: nn.Module, parameters: Mapping[str, Tensor]) -> None:
    """Load parameters by name; refuse missing or unknown names and wrong shapes."""
    own = dict(model.named_parameters())
    parameters = dict(parameters)
    for name, head in model.named_modules():
        if isinstance(head, TokenHead) and f"{name}.written" in parameters:
            head.restrict_vocabulary(parameters.pop(f"{name}.written"))
    load_known_ngrams(model, parameters)
    for name in collect_known_ngrams(model):
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


def has_hooks(model: nn.Module) -> bool:
    """Return whether hooks watch or change a model, beyond its parameters."""
    return any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())


def _limited_heads(model: nn.Module) -> Iterator[tuple[str, TokenHead]]:
    for name, part in model.named_modules():
        if isinstance(part, TokenHead) and part.written is not None:
            yield name, part
