"""Common parts of the tasks that pretrain on whole documents."""

from abc import abstractmethod
from collections.abc import Sequence

import torch

from regard.data.batch import Batch
from regard.errors import UsageError
from regard.tasks.task import ModelT, Prediction, Task, Texts
from regard.text import special

KEYWORDS = 8  # of a text


class WholeDocuments(Task[ModelT]):
    """Pretraining on documents; the prediction for a text is its keywords.

    Args:
        recipe: The whole recipe.
        tokenizer: Converts texts to ids and back.

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
        return self.pad([(special.frame(self._encode(text, truncate=True)[0]),)])

    @abstractmethod
    def keywords(self, model: ModelT, rows: Sequence[list[int]]) -> list[str]:
        """Return the keywords of each text, best first."""

    @torch.inference_mode()
    def answer(
        self,
        model: ModelT,
        texts: Sequence[str],
        *,
        quick: bool = False,
        truncate: bool = False,
    ) -> list[Prediction]:
        """Return the keywords of each text."""
        model.eval()
        answers = [Prediction("", 0.0, 0)] * len(texts)
        for place, text in enumerate(texts):
            if text.strip():
                ids, truncated = self._encode(text, truncate=truncate)
                words = self.keywords(model, [special.frame(ids)])[0]
                answers[place] = Prediction(words, 0.0, truncated)
        return answers

    def _encode(self, text: str, *, truncate: bool) -> tuple[list[int], int]:
        (((ids),),) = self.encode([(text,)])
        most = self.recipe.text.max_length - 2
        if len(ids) > most and not truncate:
            raise UsageError(
                f"a text must fit the model's input. Got {len(ids)} tokens; this model reads at "
                f"most {most}.",
                "Shorten the text, or truncate it with --truncate.",
            )
        return ids[:most], max(0, len(ids) - most)

    def words(self, ids: Sequence[int]) -> str:
        """Decode tokens one by one."""
        return ", ".join(self.tokenizer.decode([id]).strip() for id in ids)
