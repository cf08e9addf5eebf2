"""Common parts of the encoder-decoder tasks."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.batch import Batch, Padded, collate, pad
from regard.data.lexicon import learn_lexicon
from regard.data.store import Store
from regard.decoding.beam import beam_search
from regard.decoding.engine import Engine
from regard.decoding.rules import repeats
from regard.decoding.sampling import SamplingParameters, sample
from regard.decoding.search import greedy_search
from regard.decoding.steps import Answer, Limits
from regard.device import device_of
from regard.ledger.load import Load
from regard.models.build.writing import transformer
from regard.models.lexical_start import start_from_lexicon
from regard.models.parameters import has_hooks
from regard.models.transformer import Transformer
from regard.recipe.model import LearnedSettings, RelativeSettings
from regard.recipe.recipe import Recipe
from regard.tasks.foreign import TEXT, Export
from regard.tasks.losses import Loss
from regard.tasks.question import AnsweredBatch, Inquiry, Question
from regard.tasks.task import Prediction, Task, Texts
from regard.tasks.writing.cost import WritingCost
from regard.tasks.writing.pairs import copying_loss, states_of, writing_loss
from regard.tasks.writing.question import answer_in_ids, writing_question
from regard.text import special
from regard.text.dropout import BpeDropout
from regard.text.from_recipe import dropout_from_recipe
from regard.text.tokenizer import Tokenizer

AT_ONCE = 64  # texts per batch
NEVER = (special.PAD, special.BEGIN, special.UNKNOWN, special.CLS, special.SEP, special.MASK)


class TextToText(WritingCost, Task[Transformer]):
    """One text in, another out, by an encoder-decoder.

    Args:
        recipe: The whole recipe.
        tokenizer: One vocabulary for both sides.

    """

    engine: Engine | None = None
    """Another library that searches for the answers of :meth:`answer`; None for torch."""
    repeat_guard: int = 0
    """Size of n-grams; an answer of the engine that repeats one is searched again, with
    ``no_repeat``. 0 for no such guard."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        super().__init__(recipe, tokenizer)
        self.dropout = dropout_from_recipe(recipe.text, tokenizer)

    @abstractmethod
    def encode_sources(self, texts: Sequence[str]) -> list[list[int]]:
        """Encode sources without the end token and without truncation."""

    @abstractmethod
    def truncate_source(self, ids: list[int], most: int, *, truncate: bool) -> list[int]:
        """Truncate a source for inference to at most ``most`` ids, or raise an error."""

    def export(self) -> Export:
        """Return an encoder-decoder whose sources end with the end token."""
        return Export("encoder-decoder", "tokens", (TEXT, special.SPECIAL[special.END]))

    def load(self, batch: Batch) -> Load:
        source, target = batch.fields[:2]
        (rows, length), targets = source.ids.shape, int(target.lengths.sum())
        return Load(rows, length, target_length=target.ids.shape[1], targets=targets)

    def build(self) -> Transformer:
        return transformer(self.recipe.model, self.tokenizer.size)

    def prepare_model(self, model: Transformer, store: Store) -> None:
        """Restrict the output vocabulary and initialize from a lexicon, if the recipe says so."""
        if self.recipe.model.writes == "seen" and self.dropout is None:
            model.head.restrict_vocabulary(self._written_tokens(store))
        if self.recipe.model.start.lexicon:
            lexicon = learn_lexicon(store, tokens=self.tokenizer.size)
            start_from_lexicon(model, *map(torch.from_numpy, lexicon))

    def _written_tokens(self, store: Store) -> Tensor:
        """Tokens seen on the target side, and every single byte, so that all can be spelled."""
        seen = store.find_present(1, tokens=self.tokenizer.size)
        seen[self.tokenizer.single_bytes] = True
        seen[special.END] = True
        return torch.from_numpy(np.flatnonzero(seen))

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
        """Apply BPE dropout to one side; a text that no longer fits keeps its usual subwords."""
        usual = [row[:n] for row, n in zip(padded.ids.tolist(), padded.lengths, strict=True)]
        anew = ([*ids, special.END] for ids in dropout.resegment(padded.ids.tolist(), rng))
        most = self.positions
        return [a if len(a) <= most else u for a, u in zip(anew, usual, strict=True)]

    def loss(self, model: Transformer, batch: Batch) -> Loss:
        """Sum over the target's tokens; one that cannot be written is left out of the count."""
        settings, learns = self.recipe.training, model.training
        smoothing = settings.label_smoothing if learns else 0.0
        if model.copying is not None:
            coverage = settings.coverage if learns else 0.0
            return copying_loss(model, batch, smoothing=smoothing, coverage=coverage)
        together = settings.consistency if learns else 0.0
        return writing_loss(model, batch, smoothing=smoothing, together=together)

    def states(self, model: Transformer, batch: Batch) -> Tensor:
        """Run the model: the decoder's state before every token of the target."""
        return states_of(model, batch)

    def _answer_batch(self, model: Transformer, inquiry: Inquiry) -> AnsweredBatch:
        sides = answer_in_ids(self, model, inquiry)
        return AnsweredBatch(sides.answer, self.pad([(sides.source, sides.target)]))

    def _question(self, model: Transformer, inquiry: Inquiry) -> Question:
        return writing_question(self, model, inquiry)

    def encode_truncated(self, examples: Sequence[Texts]) -> list[tuple[list[int], ...]]:
        """Encode examples of both sides; those longer than the model reads are left out."""
        most = self.recipe.text.max_length
        rows = self.encode(list(examples))
        return [row for row in rows if all(len(field) <= most for field in row)]

    def answer(
        self,
        model: Transformer,
        texts: Sequence[str],
        *,
        quick: bool = False,
        truncate: bool = False,
    ) -> list[Prediction]:
        """Answer texts; one that is too long raises an error unless ``truncate``."""
        found = self.hypotheses(model, texts, quick=quick, truncate=truncate)
        return [best[0] for best in found]

    @torch.inference_mode()
    def hypotheses(
        self,
        model: Transformer,
        texts: Sequence[str],
        *,
        best: int = 1,
        quick: bool = False,
        truncate: bool = False,
    ) -> list[list[Prediction]]:
        """Return up to ``best`` answers to each text, best first; more than one by beam search."""
        model.eval()
        encoded = self.encode_sources(texts)
        fitted = [
            self.truncate_source(ids, self.positions - 1, truncate=truncate) for ids in encoded
        ]
        answers = [[Prediction("", 0.0, 0)]] * len(texts)  # what a blank text is answered with
        asked = [place for place, text in enumerate(texts) if text.strip()]
        by_length = sorted(asked, key=lambda place: len(fitted[place]))
        size = max(1, AT_ONCE if self.engine is None else len(by_length))
        for begin in range(0, len(by_length), size):
            places = by_length[begin : begin + size]
            rows = [[*fitted[place], special.END] for place in places]
            limits = self._limits([len(row) for row in rows])
            limits = limits._replace(cancelled=self.cancelled_rows(places))
            found = self._search(model, rows, limits, quick=quick, best=best)
            for place, ranked in zip(places, found, strict=True):
                lost = len(encoded[place]) - len(fitted[place])
                answers[place] = [self._predict(answer, lost) for answer in ranked]
        return answers

    def _predict(self, answer: Answer, truncated: int) -> Prediction:
        text, ids = self.tokenizer.decode(answer.ids), tuple(answer.ids)
        return Prediction(text, answer.log_probability, truncated, ids=ids)

    @torch.inference_mode()
    def decode_greedily(self, model: Transformer, rows: list[list[int]]) -> list[str]:
        """Decode greedily; each row of ids ends with the end token."""
        limits = self._limits([len(row) for row in rows])
        found = self._decode(model.eval(), rows, limits, quick=True)
        return [self.tokenizer.decode(ranked[0].ids) for ranked in found]

    def _search(
        self,
        model: Transformer,
        rows: list[list[int]],
        limits: Limits,
        *,
        quick: bool,
        best: int,
    ) -> list[list[Answer]]:
        """Search with the engine, if there is one, and with torch where it leaves a row to it."""
        settings, found = self.recipe.decoding, list[list[Answer] | None]([None] * len(rows))
        greedy = quick or settings.method == "greedy"
        if self.engine is not None and not has_hooks(model):
            width = 1 if greedy else settings.beam
            found = self.engine.search(
                rows,
                limits,
                width=width,
                length_penalty=settings.length_penalty,
                best=min(best, width),
            )
            if size := self.repeat_guard:
                found = [None if one and repeats(one[0].ids, size) else one for one in found]
                limits = limits._replace(no_repeat=limits.no_repeat or size)
        left = [row for row, answers in enumerate(found) if answers is None]
        for begin in range(0, len(left), AT_ONCE):
            some = left[begin : begin + AT_ONCE]
            own = limits.select(some)
            decoded = self._decode(model, [rows[n] for n in some], own, quick=quick, best=best)
            for row, answers in zip(some, decoded, strict=True):
                found[row] = answers
        return [answers for answers in found if answers is not None]

    def _decode(
        self,
        model: Transformer,
        rows: list[list[int]],
        limits: Limits,
        *,
        quick: bool,
        best: int = 1,
    ) -> list[list[Answer]]:
        """Return the answers to each row, best first."""
        settings = self.recipe.decoding
        source, lengths = pad(rows, filler=special.PAD).to(device_of(model))
        steps = model.steps(source, source_lengths=lengths)
        if quick or settings.method == "greedy":
            return [[one] for one in greedy_search(steps, len(rows), limits=limits)]
        if settings.method == "sample":
            parameters = SamplingParameters(settings.temperature, settings.top_k, settings.top_p)
            generator = torch.Generator().manual_seed(self.recipe.seed_of_draws)
            drawn = sample(
                steps, len(rows), limits=limits, parameters=parameters, generator=generator
            )
            return [[one] for one in drawn]
        return beam_search(
            steps,
            len(rows),
            limits=limits,
            width=settings.beam,
            length_penalty=settings.length_penalty,
            best=min(best, settings.beam),
            coverage=settings.coverage,
        )

    def _limits(self, lengths: list[int]) -> Limits:
        """Return the length limits of answers to sources of these lengths, end tokens included."""
        settings = self.recipe.decoding
        most = min(settings.max_length, self.positions - 1)
        longest = [min(most, length + settings.extra_length) for length in lengths]
        if settings.max_length_ratio is not None:
            share = settings.max_length_ratio
            longest = [
                min(a, max(1, int(share * n))) for a, n in zip(longest, lengths, strict=True)
            ]
        least = [max(settings.min_length, int(settings.min_length_ratio * n)) for n in lengths]
        shortest = tuple(min(few, many - 1) for few, many in zip(least, longest, strict=True))
        return Limits(
            special.BEGIN,
            special.END,
            longest,
            NEVER,
            shortest=shortest if any(shortest) else (),
            no_repeat=settings.no_repeat,
        )

    @property
    def positions(self) -> int:
        """How many tokens one text may have, its end included."""
        position, longest = self.recipe.model.position, self.recipe.text.max_length
        if isinstance(position, LearnedSettings) or (
            isinstance(position, RelativeSettings) and position.buckets is None
        ):
            return min(position.positions, longest)
        return longest
