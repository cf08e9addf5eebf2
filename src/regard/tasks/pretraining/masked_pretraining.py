"""Masked pretraining: an encoder learns from plain text by predicting masked tokens."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.data.batch import Batch, pad
from regard.data.sentence_pairs import SentencePairs
from regard.data.spans import IGNORED, SpanCorpus, SpanRows, Spans
from regard.data.store import Store
from regard.data.stream import AnyStream
from regard.device import device_of
from regard.errors import DataError
from regard.ledger.load import Load
from regard.models.bert import Bert
from regard.models.build.pretraining import pretraining_model
from regard.randomness import Purpose, derive_generator
from regard.recipe.recipe import Recipe
from regard.tasks.foreign import (
    FRAMED,
    FRAMED_PAIR,
    Adoption,
    Export,
    ForeignEncoder,
    Obstacle,
)
from regard.tasks.losses import Loss
from regard.tasks.pretraining.cost import MaskedCost
from regard.tasks.pretraining.fill_masks import encode_with_masks, fill_masks, truncate_masked
from regard.tasks.pretraining.objectives import Autoencoder, Counts, Masked, Objective, Replaced
from regard.tasks.pretraining.pair_baseline import PairBaseline, fit_pair_baseline
from regard.tasks.pretraining.question import mask_question
from regard.tasks.pretraining.rows import Masking, mask_rows, predict_masks, rows_of
from regard.tasks.pretraining.scores import baseline_scores, count_frequencies, scores
from regard.tasks.question import Inquiry, Question
from regard.tasks.task import Evaluation, Examples, Prediction, Sample, Task
from regard.text import special
from regard.text.sentences import split_sentences
from regard.text.tokenizer import Tokenizer

QUICK, MOST = 1 << 15, 1 << 18  # tokens evaluated on, while training and at the end
BATCH_TOKENS = 1 << 13  # of an evaluation batch
SHOWN = 20  # rows
PAIR_DOCUMENTS, PAIR_TOKENS = 20_000, 1 << 19  # that the baseline of pairs is fitted on

OBJECTIVES: dict[str, type[Objective]] = {
    "masked": Masked,
    "hybrid": Masked,
    "replaced": Replaced,
    "autoencoder": Autoencoder,
}


class MaskedPretraining(MaskedCost, Task[nn.Module]):
    """Masked language modelling and related objectives on plain text.

    Args:
        recipe: The whole recipe.
        tokenizer: Converts texts to ids and back.

    """

    fields = texts = 1
    metric = "masked_accuracy"
    baseline = "always the most frequent token"

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        super().__init__(recipe, tokenizer)
        self.settings = recipe.pretraining
        self.objective = OBJECTIVES[self.settings.objective]()
        if self.settings.objective == "replaced":
            self.metric = "replaced_f1"
        if self.settings.pairs != "none":
            self.baseline = "the most frequent token, and for pairs the words that A and B share"
        begins = np.array(tokenizer.begins_word)
        self.begins = begins if self.settings.whole_words else None
        self.pairs = self.settings.pairs != "none"
        self.frequencies: Tensor | None = None
        self.pair_baseline: PairBaseline | None = None
        self._corpora: dict[str, SpanCorpus] = {}

    def load(self, batch: Batch) -> Load:
        (ids, lengths), hidden = batch.fields[0], batch.fields[1].ids >= 0
        (rows, length), kept = ids.shape, int((lengths - hidden.sum(dim=1)).max())
        return Load(rows, length, targets=int(hidden.sum()), visible=kept)

    @property
    def longest(self) -> None:
        """Return None: windows are cut out of documents of any length."""
        return

    @property
    def window(self) -> int:
        """Tokens of a text in one row, without [CLS] and [SEP]."""
        return max(1, self.recipe.text.max_length - 2)

    def build(self) -> nn.Module:
        return pretraining_model(self.recipe.model, self.tokenizer.size, self.settings)

    @property
    def encoding_key(self) -> tuple[str, ...]:
        return ("sentences" if self.pairs else "documents",)

    @classmethod
    def adopt(cls, encoder: ForeignEncoder) -> Adoption | None:
        """Carry over the heads for masked words and pairs."""
        if not encoder.fills_masks:
            return None
        tables = {
            "model": {"head": {"bias": True, "transform": True}},
            "pretraining": {"pairs": "next-sentence" if encoder.judges_pairs else "none"},
        }
        return Adoption(tables, usual=not encoder.pools)

    def export(self) -> Export:
        """Return a body with heads for masked tokens and pairs."""
        objective, name = self.settings.objective, "pretraining.objective"
        reason = "its model is a body with a head of its own kind"
        remedy = 'Set pretraining.objective to "masked".'
        obstacles = (Obstacle(name, objective, reason, remedy),)
        return Export(
            "encoder",
            "tokens",
            FRAMED,
            "masked",
            FRAMED_PAIR if self.pairs else (),
            pairs=self.pairs,
            obstacles=obstacles if objective in ("replaced", "autoencoder") else (),
        )

    def encode(self, examples: list[tuple[str, ...]]) -> list[tuple[list[int], ...]]:
        """Encode documents with white space folded; for pairs, also the lengths of sentences."""
        if not self.pairs:
            texts = [" ".join(text.split()) for (text,) in examples]
            return [([*ids, special.SEP],) for ids in self.tokenizer.encode_batch(texts)]
        cut = [split_sentences(text) for (text,) in examples]
        encoded = iter(self.tokenizer.encode_batch(list(chain.from_iterable(cut))))
        documents = [list(islice(encoded, len(sentences))) for sentences in cut]
        return [
            ([len(ids) for ids in document], list(chain.from_iterable(document)))
            for document in documents
        ]

    def corpus(self, store: Store) -> SpanCorpus:
        """Return the corpus of a store's documents, built once."""
        if store.fingerprint not in self._corpora:
            documents = store.lengths(np.arange(len(store)))[:, 0]
            fields = [store.flat(field) for field in range(2 if self.pairs else 1)]
            self._corpora[store.fingerprint] = self._corpus(fields, documents)
        return self._corpora[store.fingerprint]

    def corpus_of(self, examples: Sequence[tuple[str, ...]]) -> SpanCorpus:
        """Build the corpus of documents that are not in a store."""
        encoded = self.encode(list(examples))
        if not encoded:
            raise DataError(
                "an evaluation needs at least one document. Got none.",
                "Give more text, name files in data.valid, or raise data.holdout.",
            )
        documents = np.array([len(fields[0]) for fields in encoded])
        several = zip(*encoded, strict=True)
        fields = [np.array(list(chain.from_iterable(f)), dtype=np.uint32) for f in several]
        return self._corpus(fields, documents)

    def _corpus(self, fields: list[NDArray[np.uint32]], documents: NDArray[np.int64]) -> SpanCorpus:
        longest = self.recipe.text.max_length
        if self.settings.pairs == "none":
            return Spans(fields[0], longest=longest)
        sentences, ids = fields
        return SentencePairs(ids, sentences, documents, longest=longest, kind=self.settings.pairs)

    def stream(self, store: Store) -> AnyStream:
        training = self.recipe.training
        return self.corpus(store).stream(seed=self.recipe.seed, batch_tokens=training.batch_tokens)

    def batch(
        self,
        store: Store,
        numbers: NDArray[np.int64],
        key: tuple[int, ...],
        *,
        progress: float = 0.0,
    ) -> Batch:
        rng = np.random.default_rng(list(key))
        rows = self.corpus(store).rows(numbers, rng)
        return mask_rows(rows, self._masking(progress), rng)._replace(numbers=numbers)

    def pad(self, rows: Sequence[tuple[list[int], ...]]) -> Batch:
        """Pad encoded texts to a batch without masking more; every [MASK] in them is a target."""
        ids, lengths = pad([[special.CLS, *fields[-1]] for fields in rows], filler=special.PAD)
        segments, labels = torch.zeros_like(ids), torch.full_like(lengths, IGNORED)
        return predict_masks(SpanRows(*(each.numpy() for each in (ids, lengths, segments, labels))))

    def loss(self, model: nn.Module, batch: Batch) -> Loss:
        return self.objective.loss(model, rows_of(batch))

    def states(self, model: nn.Module, batch: Batch) -> Tensor:
        return self.objective.states(model, rows_of(batch))

    def fit_baseline(self, source: Examples) -> dict[str, Tensor]:
        """Count the tokens; for pairs, fit a classifier on word overlap too."""
        parameters = count_frequencies(source, self.encode, tokens=self.tokenizer.size)
        if self.pairs:
            some = self._evaluation_batches(list(islice(source(), PAIR_DOCUMENTS)), PAIR_TOKENS)
            several = [rows_of(batch) for batch in some]
            parameters |= fit_pair_baseline(several, tokens=self.tokenizer.size).parameters()
        return parameters

    def load_baseline(self, parameters: Mapping[str, Tensor]) -> None:
        self.frequencies = parameters["frequencies"]
        if self.pairs:
            names = ("rarity", "topics", "weights", "bias")
            self.pair_baseline = PairBaseline(*(parameters[f"pair_{name}"] for name in names))

    @torch.inference_mode()
    def measure(
        self, model: nn.Module, examples: Sequence[tuple[str, ...]], *, quick: bool
    ) -> Evaluation:
        """Evaluate on windows of the examples, masked the same way every time."""
        model.eval()
        batches = self._evaluation_batches(examples, QUICK if quick else MOST)
        counts: Counts = Counter()
        for batch in batches:
            counts += self.objective.counts(model, rows_of(batch.to(device_of(model))))
        rows = sum(len(batch.numbers) for batch in batches)
        return Evaluation(
            scores(counts, self.settings.objective),
            self._baseline(batches),
            {self.metric: self._signature()},
            rows,
            self._samples(model, batches[0]),
        )

    def encode_text(self, text: str) -> Batch:
        ids = encode_with_masks(self.tokenizer, " ".join(text.split()))
        return self.pad([([*truncate_masked(ids, self.window, truncate=False), special.SEP],)])

    def _question(self, model: nn.Module, inquiry: Inquiry) -> Question:
        if not isinstance(model, Bert):
            return super()._question(model, inquiry)
        return mask_question(self, model, inquiry)

    @torch.inference_mode()
    def answer(
        self,
        model: nn.Module,
        texts: Sequence[str],
        *,
        quick: bool = False,
        truncate: bool = False,
    ) -> list[Prediction]:
        """Fill every [MASK] of each text with the most likely token."""
        model.eval()

        def logits(ids: list[int]) -> Tensor:
            rows = rows_of(self.pad([([*ids, special.SEP],)]).to(device_of(model)))
            return self.objective.logits(model, rows)

        return [
            fill_masks(text, self.tokenizer, logits, most=self.window, truncate=truncate)
            if text.strip()
            else Prediction("", 0.0, 0)
            for text in texts
        ]

    def _masking(self, progress: float) -> Masking:
        settings = self.settings
        end = settings.mask if settings.mask_at_end is None else settings.mask_at_end
        return Masking(
            share=settings.mask + (end - settings.mask) * progress,
            masked_as=settings.masked_as,
            tokens=self.tokenizer.size,
            begins=self.begins,
            causal_share=settings.causal_share if settings.objective == "hybrid" else 0.0,
        )

    def _evaluation_batches(self, examples: Sequence[tuple[str, ...]], most: int) -> list[Batch]:
        """Mask rows spread over the examples, the same way every time."""
        corpus, longest = self.corpus_of(examples), self.recipe.text.max_length
        numbers = corpus.list_rows()
        wanted = max(1, min(len(numbers), most // longest))
        numbers = numbers[np.linspace(0, len(numbers) - 1, wanted).astype(int)]
        rng = derive_generator(self.recipe.seed, Purpose.MASKED_EVALUATION)
        rows = max(1, BATCH_TOKENS // longest)
        return [
            mask_rows(corpus.rows(numbers[at : at + rows], rng), self._masking(1.0), rng)
            for at in range(0, len(numbers), rows)
        ]

    def _baseline(self, batches: list[Batch]) -> dict[str, float]:
        """Score the baselines on the same batches, if they are fitted."""
        several = [rows_of(batch) for batch in batches]
        found = {} if self.frequencies is None else baseline_scores(self.frequencies, several)
        if self.pair_baseline is not None:
            right = sum(self.pair_baseline.count_correct(rows) for rows in several)
            found["pair_accuracy"] = right / sum(len(rows.ids) for rows in several)
        return found

    def _signature(self) -> str:
        masking = self._masking(1.0)
        shares = "/".join(f"{100 * share:g}" for share in masking.masked_as)
        masked = f"mask:{masking.share:g}|as:{shares}"
        return f"{masked}|window:{self.recipe.text.max_length}|seed:{self.recipe.seed}"

    def _samples(self, model: nn.Module, batch: Batch) -> list[Sample]:
        """Return some rows: masked, original and as the model filled them."""
        rows = rows_of(batch.to(device_of(model)))
        guesses = self.objective.logits(model, rows).argmax(dim=-1)
        filled = rows.ids.masked_scatter(rows.has_target, guesses)
        samples = []
        for n in torch.nonzero(~rows.forward_only)[:SHOWN, 0].tolist():
            length = int(rows.lengths[n])
            masked, original, predicted = (
                self._decode(each[n, :length]) for each in (rows.ids, rows.original, filled)
            )
            samples.append(Sample(masked, original, predicted))
        return samples

    def _decode(self, ids: Tensor) -> str:
        return "".join(self.tokenizer.tokens(ids.tolist())).replace("▁", " ")
