"""Denoising: an encoder-decoder learns from plain documents, by writing what was taken out.

What it learns is carried into a summarizer or translator by ``[model.start]``: encoder, decoder
and, if both copy, the pointer.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.batch import Batch
from regard.data.gaps import MaskedText, mask_sentences, mask_spans
from regard.data.store import Store
from regard.device import device_of
from regard.errors import UsageError
from regard.models.transformer import Transformer
from regard.randomness import Purpose, derive_generator
from regard.recipe.recipe import Recipe
from regard.tasks.foreign import Export
from regard.tasks.pretraining.fill_masks import MASK, encode_with_masks
from regard.tasks.pretraining.scores import count_frequencies
from regard.tasks.task import Evaluation, Examples, Sample, Texts
from regard.tasks.writing.cost import DocumentWritingCost
from regard.tasks.writing.documents import fold_space, truncate_for_inference, truncate_for_training
from regard.tasks.writing.text_to_text import TextToText
from regard.text import special
from regard.text.sentences import split_sentences
from regard.text.tokenizer import Tokenizer

QUICK, MOST = 1 << 15, 1 << 18  # tokens measured on, while training and at the end
AT_ONCE = 1 << 12  # tokens
SHOWN = 8  # documents written out


class Denoising(DocumentWritingCost, TextToText):
    """An encoder-decoder learns from plain documents.

    Args:
        recipe: The whole recipe.
        tokenizer: Between texts and ids.

    """

    fields = texts = 1
    metric = "loss"
    baseline = "every token by how often it is written"

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        super().__init__(recipe, tokenizer)
        self.settings = recipe.denoising
        self.frequencies: Tensor | None = None

    @property
    def longest(self) -> int:
        """The most ids a document may have in the store: all of it is written again, and ended."""
        return self.positions - 1

    @property
    def encoding_key(self) -> tuple[str, ...]:
        return ("sentences, ids", self.recipe.text.overlong, str(self.positions))

    def encode(self, examples: list[tuple[str, ...]]) -> list[tuple[list[int], ...]]:
        """Lengths of the sentences, and the ids of all of them, as much as is to be read.

        Return a document with masks and the generated text, both in readable form.
        """
        if len(examples[0]) == 2:
            sides = zip(*examples, strict=True)
            both = [[[*ids, special.END] for ids in self.encode_sources(side)] for side in sides]
            return list(zip(*both, strict=True))
        cut = [split_sentences(document) for (document,) in examples]
        encoded = iter(self.tokenizer.encode_batch([one for each in cut for one in each]))
        rows: list[tuple[list[int], ...]] = []
        for sentences in cut:
            own = [next(encoded) for _ in sentences]
            # A place for the end is kept, so that all of it can be written again.
            ids = truncate_for_training(
                [id for each in own for id in each], self.positions - 1, self.recipe.text
            )
            ends = [min(end, len(ids)) for end in accumulate(map(len, own))]
            lengths = np.diff([0, *ends])
            rows.append((lengths[lengths > 0].tolist(), ids))
        return rows

    def batch(
        self,
        store: Store,
        numbers: NDArray[np.int64],
        key: tuple[int, ...],
        *,
        progress: float = 0.0,
    ) -> Batch:
        rng = np.random.default_rng(list(key))
        rows = [tuple(field.tolist() for field in store[int(number)]) for number in numbers]
        return self._taken_out(rows, rng)._replace(numbers=numbers)

    def _taken_out(self, rows: Sequence[tuple[list[int], ...]], rng: np.random.Generator) -> Batch:
        found = [self._remove_gaps(lengths, ids, rng) for lengths, ids in rows]
        return self.pad([([*a, special.END], [*b, special.END]) for a, b in found])

    def _remove_gaps(
        self, lengths: list[int], ids: list[int], rng: np.random.Generator
    ) -> MaskedText:
        settings = self.settings
        if settings.gaps == "sentences" and len(lengths) > 1:
            return mask_sentences(ids, lengths, share=settings.share, rng=rng)
        return mask_spans(ids, share=settings.share, mean=settings.span, rng=rng)

    def encode_sources(self, texts: Sequence[str]) -> list[list[int]]:
        return [encode_with_masks(self.tokenizer, fold_space(text)) for text in texts]

    def export(self) -> Export:
        return super().export()._replace(reads="masked")

    def truncate_source(self, ids: list[int], most: int, *, truncate: bool) -> list[int]:
        found = truncate_for_inference(ids, most, self.recipe.text, truncate=truncate)
        if ids and special.MASK not in found:
            raise UsageError(
                f"a text must hold a {MASK} where something is to be written, among the first "
                f"{most} tokens. Got none.",
                f"Write {MASK} where something was taken out.",
            )
        return found

    def encode_truncated(self, examples: Sequence[Texts]) -> list[tuple[list[int], ...]]:
        """Take gaps out of the documents, always the same ones, and put back what was there."""
        rng = derive_generator(self.recipe.seed, Purpose.DENOISING_EVALUATION)
        rows = self.encode(list(examples))
        found = [self._remove_gaps(lengths, ids, rng) for lengths, ids in rows if ids]
        return [([*read, special.END], [*whole, special.END]) for read, whole in found]

    def fit_baseline(self, source: Examples) -> dict[str, Tensor]:
        return count_frequencies(source, self.encode, tokens=self.tokenizer.size)

    def load_baseline(self, parameters: Mapping[str, Tensor]) -> None:
        self.frequencies = parameters["frequencies"]

    def measure(
        self, model: Transformer, examples: Sequence[tuple[str, ...]], *, quick: bool
    ) -> Evaluation:
        """Say what is lost on the examples, always with the same gaps."""
        batches = self._questions(examples, QUICK if quick else MOST)
        lost, tokens = 0.0, 0
        model.eval()
        with torch.inference_mode():
            for batch in batches:
                loss = self.loss(model, batch.to(device_of(model)))
                lost, tokens = lost + loss.plain, tokens + loss.tokens
        loss_of_each = lost / max(1, tokens)
        signature = (
            f"gaps:{self.settings.gaps}|share:{self.settings.share:g}|seed:{self.recipe.seed}"
        )
        return Evaluation(
            _scores(loss_of_each),
            self._baseline(batches),
            dict.fromkeys(_scores(0.0), signature),
            sum(len(batch.numbers) for batch in batches),
            [] if quick else self._samples(model, batches[0]),
        )

    def _questions(self, examples: Sequence[tuple[str, ...]], most: int) -> list[Batch]:
        rng = derive_generator(self.recipe.seed, Purpose.DENOISING_EVALUATION)
        rows = self.encode(list(examples))
        ends = list(accumulate(len(ids) for _, ids in rows))
        rows = rows[: max(1, sum(end <= most for end in ends))]
        at_once = max(1, AT_ONCE // self.positions)
        return [
            self._taken_out(rows[at : at + at_once], rng) for at in range(0, len(rows), at_once)
        ]

    def _baseline(self, batches: list[Batch]) -> dict[str, float]:
        if self.frequencies is None:
            return {}
        ids, lengths = zip(*(batch.fields[1] for batch in batches), strict=True)
        real = [
            row[:n]
            for rows, each in zip(ids, lengths, strict=True)
            for row, n in zip(rows, each, strict=True)
        ]
        return _scores(float(-self.frequencies[torch.cat(real)].log().mean()))

    def _samples(self, model: Transformer, batch: Batch) -> list[Sample]:
        rows = [
            [row[:n].tolist() for row, n in zip(*field, strict=True)][:SHOWN]
            for field in batch.fields
        ]
        answers = self.decode_greedily(model, rows[0])
        asked, expected = ([self._show(row[:-1]) for row in side] for side in rows)
        return [Sample(*each) for each in zip(asked, expected, answers, strict=True)]

    def _show(self, ids: list[int]) -> str:
        return "".join(self.tokenizer.tokens(ids)).replace("▁", " ").strip()


def _scores(loss: float) -> dict[str, float]:
    return {"loss": loss, "perplexity": math.exp(min(loss, 700.0))}
