"""What tasks that learn from whole documents have in common."""

from abc import abstractmethod
from collections.abc import Sequence

import torch

from regard.data.batch import Batch
from regard.errors import UsageError
from regard.tasks.task import ModelT, Prediction, Task, Texts
from regard.text import special

TOLD = 8  # words told of a text


class WholeDocuments(Task[ModelT]):
    """A body learns from documents, and tells words that go with one.

    Args:
        recipe: The whole recipe.
        tokenizer: Between texts and ids.

    """

    fields = texts = 1

    @property
    def longest(self) -> int | None:
        return None

    @property
    def encoding_key(self) -> tuple[str, ...]:
        return ("whole documents",)

    def encode(self, examples: list[Texts]) -> list[tuple[list[int], ...]]:
        return [(ids,) for ids in self.tokenizer.encode_batch([text for (text,) in examples])]

    def encode_text(self, text: str) -> Batch:
        return self.pad([(closed(self._fitted(text, truncate=True)[0]),)])

    @abstractmethod
    def tell(self, model: ModelT, rows: Sequence[list[int]]) -> list[str]:
        """Name words that go with each text, those that go best first."""

    @torch.inference_mode()
    def answer(
        self,
        model: ModelT,
        texts: Sequence[str],
        *,
        quick: bool = False,
        truncate: bool = False,
    ) -> list[Prediction]:
        """Tell words that go with each text; a blank line is answered with a blank."""
        model.eval()
        answers = [Prediction("", 0.0, 0)] * len(texts)
        for place, text in enumerate(texts):
            if text.strip():
                ids, lost = self._fitted(text, truncate=truncate)
                answers[place] = Prediction(self.tell(model, [closed(ids)])[0], 0.0, lost)
        return answers

    def _fitted(self, text: str, *, truncate: bool) -> tuple[list[int], int]:
        (((ids),),) = self.encode([(text,)])
        most = self.recipe.text.max_length - 2
        if len(ids) > most and not truncate:
            raise UsageError(
                f"a text must fit what the model reads. Got {len(ids)} tokens; this model reads "
                f"at most {most}.",
                "Shorten the text, or allow cutting it with --truncate.",
            )
        return ids[:most], max(0, len(ids) - most)

    def words(self, ids: Sequence[int]) -> str:
        """Write tokens one by one."""
        return ", ".join(self.tokenizer.decode([id]).strip() for id in ids)


def closed(ids: Sequence[int]) -> list[int]:
    """Put the special tokens around a text."""
    return [special.CLS, *ids, special.SEP]
