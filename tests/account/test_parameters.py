"""The formula equals torch's own count, for whatever settings are drawn."""

import torch
from hypothesis import given
from hypothesis import strategies as some

from regard.account.facts import facts_of
from regard.account.parameters import parameters
from regard.models.build.labels import classifier
from regard.models.build.pretraining import pretraining_model
from regard.models.build.writing import language_model, transformer
from regard.recipe.recipe import MAY_BE_IDLE, Recipe

ATTENTION = some.fixed_dictionaries(
    {
        "kind": some.just("attention"),
        "heads": some.sampled_from([1, 2, 3, 4]),
        "score": some.sampled_from(["scaled-dot", "additive"]),
        "normed": some.booleans(),
        "biases": some.booleans(),
    }
)
MIXERS = some.one_of(
    ATTENTION,
    some.sampled_from([{"kind": "recurrent", "cell": cell} for cell in ("gru", "lstm")]),
    some.builds(lambda k: {"kind": "convolution", "kernel": k}, some.integers(1, 5)),
)
POSITIONS = some.sampled_from(
    [
        {"kind": "sinusoidal"},
        {"kind": "none"},
        {"kind": "learned", "positions": 37},
        {"kind": "learned", "positions": 37, "joined": "concatenated"},
        {"kind": "sinusoidal", "joined": "concatenated"},
        {"kind": "relative", "positions": 37},
        {"kind": "relative", "positions": 37, "buckets": 16},
        {"kind": "rotary"},
        {"kind": "alibi"},
    ]
)
HEADS = some.fixed_dictionaries(
    {
        "bias": some.booleans(),
        "transform": some.booleans(),
        "pooling": some.sampled_from(["cls", "first", "mean", "mean-max", "attention"]),
    }
)


@some.composite
def recipes(draw):
    mixer, position = draw(MIXERS), draw(POSITIONS)
    if mixer["kind"] != "attention" and position["kind"] in ("relative", "rotary", "alibi"):
        position = {"kind": "none"}
    model = {
        "width": 24,
        "depth": draw(some.integers(1, 3)),
        "decoder_depth": draw(some.integers(1, 3)),
        "feed_forward": draw(some.integers(1, 31)),
        "activation": draw(some.sampled_from(["relu", "gelu", "swiglu", "relu2"])),
        "norm": draw(some.sampled_from(["layer", "rms"])),
        "norm_order": draw(some.sampled_from(["pre", "post"])),
        "biases": draw(some.booleans()),
        "tied": draw(some.booleans()) and "joined" not in position,
        "mixer": mixer,
        "position": position,
        "embedding": {"ngrams": draw(some.integers(1, 3)), "segments": 2, "norm": True},
        "head": draw(HEADS),
    }
    task = draw(some.sampled_from(["translation", "language-modelling", "classification"]))
    on_states = position["kind"] in ("sinusoidal", "learned")
    tables = {"task": task, "data": {"train": ["x"]}, "model": model}
    tables["text"] = {"vocabulary": 293, "max_length": 31}
    if draw(some.booleans()):
        objectives = ["masked", "replaced", *(["autoencoder"] if on_states else [])]
        tables["task"] = "masked-pretraining"
        tables["pretraining"] = {"objective": draw(some.sampled_from(objectives))}
    return Recipe.model_validate(tables, context={MAY_BE_IDLE: True})


def built(recipe, facts):
    settings, tokens = recipe.model, facts.vocabulary
    if recipe.task == "translation":
        return transformer(settings, tokens)
    if recipe.task == "language-modelling":
        return language_model(settings, tokens)
    if recipe.task == "classification":
        return classifier(settings, tokens, facts.labels)
    return pretraining_model(settings, tokens, recipe.pretraining)


@given(recipes())
def test_the_formula_is_torchs_own_count(recipe):
    facts = facts_of(recipe)
    with torch.device("meta"):
        model = built(recipe, facts)
    found = parameters(recipe, facts)
    assert found.total == sum(parameter.numel() for parameter in model.parameters())
    assert found.body <= found.total == sum(found.parts.values())
