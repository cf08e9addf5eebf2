"""Cost of a task's steps, by formula and without torch; tasks inherit it, the account uses it."""

from typing import ClassVar

from regard.errors import UsageError
from regard.ledger.entry import Ledger
from regard.ledger.load import DOCUMENT, TYPICAL, Facts, Load
from regard.recipe.recipe import Recipe


class Cost:
    """What a recipe determines about the steps of its task."""

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
        """Return the entries of one shard of a training step."""
        raise UsageError(
            f'task "{recipe.task}" has no account yet.',
            "Ask for the account of another task, such as classification.",
        )

    @classmethod
    def typical_length(cls, recipe: Recipe) -> int:
        """Return the assumed number of tokens of a text.

        Windows have their maximal length. Texts count as documents if the task reads documents,
        or if the recipe says what to do with texts that are too long.
        """
        longest = recipe.text.max_length
        if cls.windows:
            return longest
        documents = cls.long_texts or recipe.text.overlong in ("head-tail", "windows")
        documents = documents or recipe.model.documents.read == "sentences"
        return min(longest, DOCUMENT if documents else TYPICAL)

    @classmethod
    def answer_length(cls, recipe: Recipe, length: int) -> int:
        """Return the assumed tokens of a target for a text of ``length`` tokens."""
        return length

    @classmethod
    def typical_load(cls, recipe: Recipe, length: int) -> Load:
        """Return the load of one shard of a step, for texts of ``length`` tokens."""
        return Load(
            rows_of_shard(recipe, length), length, target_length=cls.answer_length(recipe, length)
        )


def rows_of_shard(recipe: Recipe, length: int) -> int:
    """Return the number of texts of ``length`` tokens in a shard, at least one."""
    rows = max(1, recipe.training.batch_tokens // length)
    return max(1, rows // recipe.training.shards)
