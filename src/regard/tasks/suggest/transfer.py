"""A recipe that begins from another run: what is carried over settles the tokenizer and the shape.

How it then learns follows from what that run had learned:

    vectors of a document's words    kept as they are below a few thousand labels, else learning on
    vectors of documents             what enters a new block, pushed to where labels suffer most
    states of tokens                 the whole body learns on, at half the rate of a fresh one
    others' long training            the whole body learns on, slowly (Devlin et al. 2019)
"""

from copy import deepcopy
from typing import Any

from regard.recipe.recipe import Recipe
from regard.tasks.suggest.survey import Choices, DataSurvey
from regard.tasks.transfer import MAY_DIFFER, TEXT, Origin, shape_from

FEW = 5_000  # labels below which what whole documents taught is better kept as it is
LABELLED = ("classification", "sentence-pair")

Tables = dict[str, Any]


def adapt_choices(choices: Choices, origin: Origin, seen: DataSurvey) -> Choices:
    """Leave to the other run what is its to say, and choose how what it learned learns on."""
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
        "model.start.run": "what it learned is carried over; a new head answers.",
        "text.tokenizer": "that run's own, as everything about pieces: its vectors know no other.",
        "model.width": "that run's own: what is carried over fits no other.",
    }
    if origin.recipe.text.tokenizer != "bpe":
        tables["text"].pop("dropout", None)
        kept.pop("text.dropout", None)
    if tables["task"] in LABELLED:
        reasons |= _learn_on(tables, origin.recipe, seen)
    return Choices(tables, kept | reasons)


def _text_from(other: Recipe) -> set[str]:
    """Name the settings of ``[text]`` that are the other run's to say."""
    # Learned from windows, attention over more places than these is a guess.
    any_length = other.model.depth == 0 or other.model.mixer.kind == "recurrent"
    return set(TEXT) - ({"max_length"} if any_length else set())


def _learn_on(tables: Tables, other: Recipe, seen: DataSurvey) -> dict[str, str]:
    """Choose how labels are learned from; return the reasons."""
    model, training = tables["model"], tables["training"]
    reasons: dict[str, str] = {}
    if other.task == "document-pretraining":
        model["head"] = {"pooling": "mean", "norm": True, "dropout": 0.5}
        reasons["model.head.pooling"] = "the mean is what that run learned to tell words by."
        few = seen.examples < FEW
        model["start"]["freeze"] = few
        reasons["model.start.freeze"] = (
            f"{seen.examples:,} labels are {'few' if few else 'many'}: "
            + ("learning on from so few, it would learn them by heart." if few else "it may learn.")
        )
        training["budget"] = "20 epochs" if few else "2 epochs"
        reasons["training.budget"] = "seconds." if few else "more, and they are learned by heart."
        rate = 5e-3 if few else 2e-3
        training["optimizer"] = {"kind": "adamw", "rate": rate, "weight_decay": 0.0}
    elif other.task == "document-vectors":
        model["head"] = {"pooling": "mean-max", "dropout": 0.5}
        model["embedding"] = {**model.get("embedding", {}), "ngram_dropout": 0.3}
        fitting = (heads for heads in (4, 3, 2) if other.model.width % (2 * heads) == 0)
        model["mixer"] = {"kind": "attention", "heads": next(fitting, 1)}
        training["adversarial"] = 0.03
        reasons["training.adversarial"] = "runs of tokens are many, and soon learned by heart."
        training["optimizer"] = {"kind": "adamw", "rate": 2e-3, "weight_decay": 0.3}
    elif other.model.start.imported is not None:
        training["budget"] = "3 epochs"
        reasons["training.budget"] = "it has read so much that a few looks at the labels do."
        training["batch_tokens"] = 1024
        reasons["training.batch_tokens"] = "slow steps have to be many."
        training["optimizer"] = {"kind": "adamw", "rate": 5e-5, "weight_decay": 0.01}
        reasons["training.optimizer.rate"] = "a fast one would undo what took others days."
    else:
        training["optimizer"] = {"kind": "adamw", "rate": 1e-3, "weight_decay": 0.1}
        reasons["training.optimizer.rate"] = "half of a fresh one's: less of it is forgotten."
    return reasons


def _within(path: str, settings: set[str]) -> bool:
    return any(f"{path}.".startswith(f"{setting}.") for setting in settings)
