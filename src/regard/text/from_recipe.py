"""Builds the tokenizer from ``[text]``; the only file of this room that reads a recipe."""

from collections.abc import Iterable

from regard.errors import RecipeError
from regard.recipe.text import TextSettings
from regard.text.dropout import BpeDropout
from regard.text.tokenizer import Tokenizer
from regard.text.train import train_tokenizer


def tokenizer_from_recipe(text: TextSettings, texts: Iterable[str], *, seed: int) -> Tokenizer:
    """Train the tokenizer of a recipe."""
    if text.tokenizer == "bert":
        raise RecipeError(
            'text.tokenizer "bert" comes with an imported model and cannot be trained',
            "Name the run that `regard import` wrote in model.start.run, or set another tokenizer.",
        )
    return train_tokenizer(
        texts,
        kind=text.tokenizer,
        vocabulary=text.vocabulary,
        lowercase=text.lowercase,
        sample_bytes=text.sample_bytes,
        seed=seed,
    )


def dropout_from_recipe(text: TextSettings, tokenizer: Tokenizer) -> BpeDropout | None:
    """Build the BPE-dropout of a recipe; None if it has none."""
    return BpeDropout(tokenizer, text.dropout) if text.dropout else None
