"""What a step of a task costs, by formula: what tasks and the account share, without torch."""

from typing import ClassVar

from regard.errors import UsageError
from regard.ledger.entry import Ledger
from regard.ledger.load import DOCUMENT, TYPICAL, Facts, Load
from regard.recipe.recipe import Recipe


class Cost:
    """What is known of a task's steps from its recipe."""

    has_labels: ClassVar[bool] = False
    """Whether the last field is a label or a score."""
    writes: ClassVar[bool] = False
    """Whether answers are written token by token."""
    writes_target: ClassVar[bool] = False
    """Whether a second text is written from the first, by an encoder and a decoder."""
    continues_text: ClassVar[bool] = False
    queries: ClassVar[bool] = False
    """Whether queries are compared with documents."""
    windows: ClassVar[bool] = False
    """Whether windows of ``text.max_length`` tokens are read, whatever the texts are."""
    long_texts: ClassVar[bool] = False
    """Whether documents of any length are expected."""

    @classmethod
    def ledger(cls, recipe: Recipe, facts: Facts, load: Load) -> Ledger:
        """Enter what one shard of a training step computes and keeps, part by part."""
        raise UsageError(
            f'the account of task "{recipe.task}" is not written yet.',
            "Ask for the account of another task, such as classification.",
        )

    @classmethod
    def typical_length(cls, recipe: Recipe) -> int:
        """Return how long texts are expected to be, in tokens.

        Windows are as long as they may be. Documents are what is read as such, and what is
        expected to be too long to be read whole.
        """
        longest = recipe.text.max_length
        if cls.windows:
            return longest
        documents = cls.long_texts or recipe.text.overlong in ("head-tail", "windows")
        documents = documents or recipe.model.documents.read == "sentences"
        return min(longest, DOCUMENT if documents else TYPICAL)

    @classmethod
    def answer_length(cls, recipe: Recipe, length: int) -> int:
        """Return how long an answer to a text of ``length`` tokens is."""
        return length

    @classmethod
    def typical_load(cls, recipe: Recipe, length: int) -> Load:
        """Say what one shard of a step holds, of texts with ``length`` tokens."""
        return Load(
            rows_of_shard(recipe, length), length, written=cls.answer_length(recipe, length)
        )


def rows_of_shard(recipe: Recipe, length: int) -> int:
    """Return how many texts of ``length`` tokens one shard of a step holds, at least one."""
    rows = max(1, recipe.training.batch_tokens // length)
    return max(1, rows // recipe.training.shards)
