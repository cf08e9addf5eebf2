"""``[text]``: how strings become ids."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from regard.recipe.settings import Refused, Settings


class TextSettings(Settings):
    """How strings become ids."""

    tokenizer: Literal["bpe", "wordpiece", "unigram", "characters", "words", "bert"] = "bpe"
    """What a token is: a learned piece of a word (three ways), a character or a whole word; or
    what it is to a BERT that `regard import` took over."""
    vocabulary: PositiveInt = 4000
    """The most tokens there may be; characters and words may need fewer."""
    lowercase: bool = False
    """Whether capitals are folded away; a cased score then suffers."""
    dropout: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    """BPE-dropout: the share of merges skipped at random while training, so pieces vary."""
    sample_bytes: PositiveInt = 50_000_000
    """The most text the tokenizer is trained on, drawn evenly from the whole."""
    max_length: PositiveInt = 256
    """The most tokens one text may have, or the length of a language model's windows."""
    overlong: Literal["leave-out", "head", "head-tail", "windows"] = "leave-out"
    """What is done with a longer text in training: it is left out and counted; for labelled texts
    and documents to be summarized also: keep its beginning, or its beginning and end; for labelled
    texts also a part of it drawn anew each time."""

    @model_validator(mode="after")
    def _dropout_drops_merges(self) -> "TextSettings":
        if self.dropout and self.tokenizer != "bpe":
            raise Refused(
                f"text.dropout = {self.dropout} skips merges of BPE, but text.tokenizer is "
                f'"{self.tokenizer}"',
                'Set text.tokenizer to "bpe", or text.dropout to 0',
            )
        return self
