"""``[text]``: the tokenizer and the length of texts."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from regard.recipe.settings import Billions, Millions, Refused, Settings


class TextSettings(Settings):
    """The tokenizer and the length of texts."""

    tokenizer: Literal["bpe", "wordpiece", "unigram", "characters", "words", "bert"] = "bpe"
    """Subwords (BPE, WordPiece or unigram), characters or words; ``bert`` for the tokenizer of a
    BERT that `regard import` converted."""
    vocabulary: Millions = 4000
    """Vocabulary size: the maximum number of tokens; characters and words may need fewer."""
    lowercase: bool = False
    """Whether text is lowercased; case-sensitive scores then suffer."""
    dropout: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    """BPE-dropout: share of the merges skipped at random in training (subword regularization)."""
    sample_bytes: Billions = 50_000_000
    """Maximum amount of text, sampled evenly, that the tokenizer is trained on."""
    max_length: Millions = 256
    """Maximum number of tokens of a text, or the context window of a language model."""
    overlong: Literal["leave-out", "head", "head-tail", "windows"] = "leave-out"
    """Truncation of longer texts in training: leave them out and count them; for labelled texts and
    documents to be summarized also keep the head, or head and tail; for labelled texts also sample
    a random window each time."""

    @model_validator(mode="after")
    def _check_dropout_is_bpe(self) -> "TextSettings":
        if self.dropout and self.tokenizer != "bpe":
            raise Refused(
                f"text.dropout = {self.dropout} is BPE-dropout, but text.tokenizer is "
                f'"{self.tokenizer}"',
                'Set text.tokenizer to "bpe", or text.dropout to 0',
            )
        return self
