"""Translation: a text in one language in, the same in another out."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.batch import Batch, Padded, collate, pad
from regard.data.lexicon import learn_lexicon
from regard.data.store import Store
from regard.decoding.beam import beam
from regard.decoding.sampling import Choice, sample
from regard.decoding.search import greedy
from regard.decoding.steps import Answer, Limits
from regard.errors import UsageError
from regard.models.from_recipe import transformer
from regard.models.lexical_start import start_from_lexicon
from regard.models.transformer import Transformer
from regard.recipe.model import LearnedSettings, RelativeSettings
from regard.recipe.recipe import Recipe
from regard.tasks.losses import Loss, consistency, cross_entropy, head_loss
from regard.tasks.metrics import translation_metrics
from regard.tasks.task import Answered, Measured, Sample, Task
from regard.text import special
from regard.text.dropout import BpeDropout
from regard.text.from_recipe import dropout_from_recipe
from regard.text.tokenizer import Tokenizer

ANSWERED_AT_ONCE = 64  # texts decoded side by side
NEVER = (special.PAD, special.BEGIN, special.UNKNOWN, special.CLS, special.SEP, special.MASK)


class Pair(NamedTuple):
    """A batch as the translator sees it."""

    source: Tensor
    source_lengths: Tensor
    target_in: Tensor
    target_lengths: Tensor


class Translation(Task):
    """Translation by an encoder-decoder.

    Args:
        recipe: The whole recipe.
        tokenizer: One vocabulary for both languages.

    """

    fields = texts = 2
    metric = "bleu"
    baseline = "copying the source"

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        super().__init__(recipe, tokenizer)
        self.dropout = dropout_from_recipe(recipe.text, tokenizer)

    def build(self) -> Transformer:
        return transformer(self.recipe.model, self.tokenizer.size)

    def begin(self, model: Transformer, store: Store) -> None:
        """Let what the training pairs show shape the model before its first step."""
        if self.recipe.model.writes == "seen" and self.dropout is None:
            model.head.write_only(self._written(store))
        if self.recipe.model.start.lexicon:
            lexicon = learn_lexicon(store, tokens=self.tokenizer.size)
            start_from_lexicon(model, *map(torch.from_numpy, lexicon))

    def _written(self, store: Store) -> Tensor:
        """Tokens seen on the target side, and every single byte, so that all can be spelled."""
        seen = store.seen(1, tokens=self.tokenizer.size)
        seen[self.tokenizer.single_bytes] = True
        seen[special.END] = True
        return torch.from_numpy(np.flatnonzero(seen))

    def encode(self, examples: list[tuple[str, ...]]) -> list[tuple[list[int], ...]]:
        """Both sides, each closed by the token of ending."""
        sides = [
            [[*ids, special.END] for ids in self.tokenizer.encode_batch(list(texts))]
            for texts in zip(*examples, strict=True)
        ]
        return list(zip(*sides, strict=True))

    def batch(
        self,
        store: Store,
        numbers: NDArray[np.int64],
        key: tuple[int, ...],
        *,
        progress: float = 0.0,
    ) -> Batch:
        batch = collate(store, numbers, filler=special.PAD)
        if self.dropout is None:
            return batch
        rng = np.random.default_rng(list(key))
        sides = [self._recut(self.dropout, padded, rng) for padded in batch.fields]
        return self.pad(list(zip(*sides, strict=True)))._replace(numbers=numbers)

    def _recut(
        self, dropout: BpeDropout, padded: Padded, rng: np.random.Generator
    ) -> list[list[int]]:
        """Cut one side anew; a text that no longer fits the model keeps its usual pieces."""
        usual = [row[:n] for row, n in zip(padded.ids.tolist(), padded.lengths, strict=True)]
        anew = ([*ids, special.END] for ids in dropout.recut(padded.ids.tolist(), rng))
        most = self._positions()
        return [a if len(a) <= most else u for a, u in zip(anew, usual, strict=True)]

    def pad(self, rows: Sequence[tuple[list[int], ...]]) -> Batch:
        """Put encoded examples side by side."""
        fields = tuple(pad(list(side), filler=special.PAD) for side in zip(*rows, strict=True))
        return Batch(fields, np.arange(len(rows)))

    def loss(self, model: Transformer, batch: Batch) -> Loss:
        """Sum over the target's tokens; one that cannot be written is left out of the count."""
        target = batch.fields[1]
        places = model.head.places(target.ids)
        counted = torch.arange(target.ids.shape[1])[None] < target.lengths[:, None]
        counted &= places >= 0
        settings = self.recipe.training
        smoothing = settings.label_smoothing if model.training else 0.0
        if model.training and settings.consistency:
            return self._drawn_together(model, batch, counted, places[counted])
        states = self.states(model, batch)[counted]
        return head_loss(model.head, states, places[counted], smoothing=smoothing)

    def _drawn_together(
        self, model: Transformer, batch: Batch, counted: Tensor, targets: Tensor
    ) -> Loss:
        """Pass twice, each time with other dropout, and draw the two answers together."""
        settings = self.recipe.training
        first, second = (model.head.logits(self.states(model, batch)[counted]) for _ in range(2))
        each = [
            cross_entropy(logits, targets, smoothing=settings.label_smoothing)
            for logits in (first, second)
        ]
        apart = consistency(first, second)
        smoothed = (each[0].smoothed + each[1].smoothed) / 2 + settings.consistency * apart
        return Loss(smoothed, (each[0].plain + each[1].plain) / 2, len(targets))

    def states(self, model: Transformer, batch: Batch) -> Tensor:
        """Run the model: the decoder's state before every token of the target."""
        pair = shift(batch)
        return model(
            pair.source,
            pair.target_in,
            source_lengths=pair.source_lengths,
            target_lengths=pair.target_lengths,
        )

    def measure(
        self, model: Transformer, examples: Sequence[tuple[str, ...]], *, quick: bool
    ) -> Measured:
        """Translate and score; ``quick`` decodes greedily."""
        sources, references = (list(side) for side in zip(*examples, strict=True))
        answers = [answered.text for answered in self.answer(model, sources, quick=quick, cut=True)]
        metrics = translation_metrics(answers, references)
        copied = translation_metrics(sources, references)
        samples = [Sample(*row) for row in zip(sources, references, answers, strict=True)]
        return Measured(metrics.scores, copied.scores, metrics.signature, len(samples), samples)

    @torch.inference_mode()
    def answer(
        self, model: Transformer, texts: Sequence[str], *, quick: bool = False, cut: bool = False
    ) -> list[Answered]:
        """Translate texts; one that does not fit is refused, or shortened if ``cut``."""
        model.eval()
        encoded = self.tokenizer.encode_batch(list(texts))
        fitted = [self._fit(ids, cut=cut) for ids in encoded]
        answers = [Answered("", 0.0, 0)] * len(texts)  # what a blank text is answered with
        asked = [place for place, text in enumerate(texts) if text.strip()]
        by_length = sorted(asked, key=lambda place: len(fitted[place]))
        for begin in range(0, len(by_length), ANSWERED_AT_ONCE):
            places = by_length[begin : begin + ANSWERED_AT_ONCE]
            found = self._decode(model, [[*fitted[place], special.END] for place in places], quick)
            for place, answer in zip(places, found, strict=True):
                lost = len(encoded[place]) - len(fitted[place])
                text = self.tokenizer.decode(answer.ids)
                answers[place] = Answered(text, answer.log_probability, lost)
        return answers

    def _decode(self, model: Transformer, rows: list[list[int]], quick: bool) -> list[Answer]:
        settings = self.recipe.decoding
        source, lengths = pad(rows, filler=special.PAD)
        steps = model.steps(source, source_lengths=lengths)
        most = min(settings.longest, self._positions() - 1)
        limits = Limits(
            special.BEGIN,
            special.END,
            [min(most, len(row) + settings.extra_length) for row in rows],
            NEVER,
        )
        if quick or settings.method == "greedy":
            return greedy(steps, len(rows), limits=limits)
        if settings.method == "sample":
            choice = Choice(settings.temperature, settings.top_k, settings.top_p)
            generator = torch.Generator().manual_seed(self.recipe.seed)
            return sample(steps, len(rows), limits=limits, choice=choice, generator=generator)
        found = beam(
            steps,
            len(rows),
            limits=limits,
            width=settings.beam,
            length_penalty=settings.length_penalty,
        )
        return [best[0] for best in found]

    def _fit(self, ids: list[int], *, cut: bool) -> list[int]:
        most = self._positions() - 1
        if len(ids) <= most:
            return ids
        if cut:
            return ids[:most]
        raise UsageError(
            f"a text must fit the model's positions. Got {len(ids)} tokens; this model reads "
            f"at most {most}.",
            "Split the text into sentences, or allow cutting it short with --truncate.",
        )

    def _positions(self) -> int:
        """How many tokens one text may have, its end included."""
        position, longest = self.recipe.model.position, self.recipe.text.longest
        if isinstance(position, LearnedSettings) or (
            isinstance(position, RelativeSettings) and position.buckets is None
        ):
            return min(position.positions, longest)
        return longest


def shift(batch: Batch) -> Pair:
    """Let the decoder read the target one token late: begin + y[:-1] speaks for y (§3.1)."""
    source, target = batch.fields
    begin = torch.full_like(target.ids[:, :1], special.BEGIN)
    target_in = torch.cat([begin, target.ids[:, :-1]], dim=1)
    return Pair(source.ids, source.lengths, target_in, target.lengths)
