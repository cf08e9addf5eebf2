"""Suggested recipe that fine-tunes another run, which determines tokenizer and shape.

    document pretraining    frozen below a few thousand labels, else fine-tuned
    document vectors        input of a new block, with adversarial training
    token states            the whole body, at half the learning rate of training from scratch
    imported encoders       the whole body, at a low learning rate (Devlin et al. 2019)

The first column is how that run was trained, the second what is fine-tuned here.
"""

from copy import deepcopy
from typing import Any

from regard.recipe.recipe import Recipe
from regard.tasks.suggest.labelled import count_epochs
from regard.tasks.suggest.survey import Choices, DataSurvey
from regard.tasks.transfer import MAY_DIFFER, TEXT, Origin, shape_from

FEW = 5_000  # labels below which a body from document pretraining is better frozen
LABELLED = ("classification", "sentence-pair")

Tables = dict[str, Any]


def adapt_choices(choices: Choices, origin: Origin, seen: DataSurvey) -> Choices:
    """Leave out what the other run determines, and choose how to fine-tune it."""
    tables = deepcopy(choices.tables)
    carry = "embedding" if origin.recipe.task == "document-vectors" else "body"
    shape = shape_from(origin, task=tables["task"], carry=carry)
    carried = {
        "text": _text_from(origin.recipe),
        "model": {"start", *(name for name in shape if f"model.{name}" not in MAY_DIFFER)},
    }
    for table, names in carried.items():
        for name in names & tables[table].keys():
            del tables[table][name]
    model = tables["model"]
    model["start"] = {"run": origin.name, "carry": carry}
    if tables["task"] == "sentence-pair":
        model["embedding"] = {"segments": 4}
    gone = {f"{table}.{name}" for table, names in carried.items() for name in names}
    kept = {path: why for path, why in choices.reasons.items() if not _within(path, gone)}
    reasons = {
        "model.start.run": "its parameters are carried over, below a new head.",
        "text.tokenizer": "that run's own: its embeddings belong to its tokens.",
        "model.width": "that run's own: its parameters have no other shape.",
    }
    if origin.recipe.text.tokenizer != "bpe":
        tables["text"].pop("dropout", None)
        kept.pop("text.dropout", None)
    if tables["task"] in LABELLED:
        reasons |= _fine_tune(tables, origin.recipe, seen)
    return Choices(tables, kept | reasons)


def _text_from(other: Recipe) -> set[str]:
    """Name the settings of ``[text]`` that the other run determines."""
    # Attention trained on windows does not extrapolate to longer texts.
    any_length = other.model.depth == 0 or other.model.mixer.kind == "recurrent"
    return set(TEXT) - ({"max_length"} if any_length else set())


def _fine_tune(tables: Tables, other: Recipe, seen: DataSurvey) -> dict[str, str]:
    """Choose how to fine-tune on labels; return the reasons."""
    model, training = tables["model"], tables["training"]
    training["budget"] = count_epochs(tables["task"], seen.examples)
    reasons: dict[str, str] = {}
    if other.task == "document-pretraining":
        model["head"] = {"pooling": "mean", "norm": True, "dropout": 0.5}
        reasons["model.head.pooling"] = "the mean is the state that the run was pretrained on."
        few = seen.examples < FEW
        model["start"]["freeze"] = few
        reasons["model.start.freeze"] = (
            f"{seen.examples:,} labels are {'few' if few else 'many'}: "
            + ("fine-tuning on so few would overfit." if few else "the body is fine-tuned.")
        )
        training["budget"] = "20 epochs" if few else "2 epochs"
        reasons["training.budget"] = "seconds." if few else "longer training overfits."
        rate = 5e-3 if few else 2e-3
        training["optimizer"] = {"kind": "adamw", "rate": rate, "weight_decay": 0.0}
    elif other.task == "document-vectors":
        model["head"] = {"pooling": "mean-max", "dropout": 0.5}
        model["embedding"] = {**model.get("embedding", {}), "ngram_dropout": 0.3}
        fitting = (heads for heads in (4, 3, 2) if other.model.width % (2 * heads) == 0)
        model["depth"], model["position"] = 1, {"kind": "rotary", "base": 1000.0}
        reasons["model.depth"] = "one new block over the embeddings of that run."
        model["mixer"] = {"kind": "attention", "heads": next(fitting, 1)}
        training["adversarial"] = 0.03
        reasons["training.adversarial"] = "there are many n-gram vectors, which soon overfit."
        training["optimizer"] = {"kind": "adamw", "rate": 2e-3, "weight_decay": 0.3}
    elif other.model.start.imported is not None:
        training["budget"] = "3 epochs"
        reasons["training.budget"] = "a pretrained encoder needs few epochs."
        training["batch_tokens"] = 1024
        reasons["training.batch_tokens"] = "a low learning rate needs many steps."
        training["optimizer"] = {"kind": "adamw", "rate": 5e-5, "weight_decay": 0.01}
        reasons["training.optimizer.rate"] = "a high one would destroy what was pretrained."
    else:
        training["optimizer"] = {"kind": "adamw", "rate": 1e-3, "weight_decay": 0.1}
        reasons["training.optimizer.rate"] = "half of a fresh one's: less is forgotten."
    return reasons


def _within(path: str, settings: set[str]) -> bool:
    return any(f"{path}.".startswith(f"{setting}.") for setting in settings)
