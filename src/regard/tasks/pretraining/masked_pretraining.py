"""Masked pretraining: a body learns from plain text, by telling what was hidden from it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.data.batch import Batch, pad
from regard.data.sentence_pairs import SentencePairs
from regard.data.spans import IGNORED, Corpus, SpanRows, Spans
from regard.data.store import Store
from regard.data.stream import AnyStream
from regard.device import device_of
from regard.errors import DataError
from regard.ledger.load import Load
from regard.models.bert import Bert
from regard.models.build.pretraining import pretraining_model
from regard.randomness import Purpose, derive_generator
from regard.recipe.recipe import Recipe
from regard.tasks.foreign import Adoption, ForeignEncoder
from regard.tasks.losses import Loss
from regard.tasks.pretraining.cost import MaskedCost
from regard.tasks.pretraining.fill_masks import encode_with_masks, fill, fitted
from regard.tasks.pretraining.objectives import Autoencoder, Counts, Masked, Objective, Replaced
from regard.tasks.pretraining.pair_baseline import PairBaseline, learn_pair_baseline
from regard.tasks.pretraining.question import mask_question
from regard.tasks.pretraining.rows import Hiding, ask_masks, hide, rows_of
from regard.tasks.pretraining.scores import baseline_scores, learn_frequencies, scores
from regard.tasks.question import Inquiry, Question
from regard.tasks.task import Evaluation, Examples, Prediction, Sample, Task
from regard.text import special
from regard.text.sentences import split_sentences
from regard.text.tokenizer import Tokenizer

QUICK, MOST = 1 << 15, 1 << 18  # tokens measured on, while training and at the end
ASKED_AT_ONCE = 1 << 13  # tokens
SHOWN = 20  # rows
MOST_PAIRED, MOST_LEARNED = 20_000, 1 << 19  # documents and tokens the shortcut is learned from

OBJECTIVES: dict[str, type[Objective]] = {
    "masked": Masked,
    "hybrid": Masked,
    "replaced": Replaced,
    "autoencoder": Autoencoder,
}


class MaskedPretraining(MaskedCost, Task[nn.Module]):
    """A body learns from plain text.

    Args:
        recipe: The whole recipe.
        tokenizer: Between texts and ids.

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
        self._corpora: dict[str, Corpus] = {}

    def load(self, batch: Batch) -> Load:
        (ids, lengths), hidden = batch.fields[0], batch.fields[1].ids >= 0
        (rows, length), kept = ids.shape, int((lengths - hidden.sum(dim=1)).max())
        return Load(rows, length, targets=int(hidden.sum()), visible=kept)

    @property
    def longest(self) -> None:
        """Any document may be kept: windows are cut out of it."""
        return

    @property
    def window(self) -> int:
        """Tokens of a text in one row, beside [CLS] and [SEP]."""
        return max(1, self.recipe.text.max_length - 2)

    def build(self) -> nn.Module:
        return pretraining_model(self.recipe.model, self.tokenizer.size, self.settings)

    @property
    def encoding_key(self) -> tuple[str, ...]:
        return ("sentences" if self.pairs else "documents",)

    @classmethod
    def adopt(cls, encoder: ForeignEncoder) -> Adoption | None:
        """Take over the heads for masked words and pairs."""
        if not encoder.fills_masks:
            return None
        tables = {
            "model": {"head": {"bias": True, "transform": True}},
            "pretraining": {"pairs": "next-sentence" if encoder.judges_pairs else "none"},
        }
        return Adoption(tables, usual=not encoder.pools)

    def encode(self, examples: list[tuple[str, ...]]) -> list[tuple[list[int], ...]]:
        """Documents with their white space folded; where pairs are made, sentence by sentence.

        The last field is the ids. Before it, for pairs, stand the lengths of the sentences.
        """
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

    def corpus(self, store: Store) -> Corpus:
        """Make rows of a store's documents."""
        if store.fingerprint not in self._corpora:
            documents = store.lengths(np.arange(len(store)))[:, 0]
            fields = [store.flat(field) for field in range(2 if self.pairs else 1)]
            self._corpora[store.fingerprint] = self._corpus(fields, documents)
        return self._corpora[store.fingerprint]

    def corpus_of(self, examples: Sequence[tuple[str, ...]]) -> Corpus:
        """Make rows of documents as they are read."""
        encoded = self.encode(list(examples))
        if not encoded:
            raise DataError(
                "there must be something to measure on. Got no document.",
                "Give more text, name files in data.valid, or raise data.holdout.",
            )
        documents = np.array([len(fields[0]) for fields in encoded])
        several = zip(*encoded, strict=True)
        fields = [np.array(list(chain.from_iterable(f)), dtype=np.uint32) for f in several]
        return self._corpus(fields, documents)

    def _corpus(self, fields: list[NDArray[np.uint32]], documents: NDArray[np.int64]) -> Corpus:
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
        return hide(rows, self._hiding(progress), rng)._replace(numbers=numbers)

    def pad(self, rows: Sequence[tuple[list[int], ...]]) -> Batch:
        """Put encoded texts side by side, as they are; only a [MASK] in them is asked about."""
        ids, lengths = pad([[special.CLS, *fields[-1]] for fields in rows], filler=special.PAD)
        segments, labels = torch.zeros_like(ids), torch.full_like(lengths, IGNORED)
        return ask_masks(SpanRows(*(each.numpy() for each in (ids, lengths, segments, labels))))

    def loss(self, model: nn.Module, batch: Batch) -> Loss:
        return self.objective.loss(model, rows_of(batch))

    def states(self, model: nn.Module, batch: Batch) -> Tensor:
        return self.objective.states(model, rows_of(batch))

    def fit_baseline(self, source: Examples) -> dict[str, Tensor]:
        """Count how often each token is written; for pairs, learn their shortcut too."""
        learned = learn_frequencies(source, self.encode, tokens=self.tokenizer.size)
        if self.pairs:
            some = self._questions(list(islice(source(), MOST_PAIRED)), MOST_LEARNED)
            several = [rows_of(batch) for batch in some]
            learned |= learn_pair_baseline(several, tokens=self.tokenizer.size).parameters()
        return learned

    def load_baseline(self, parameters: Mapping[str, Tensor]) -> None:
        self.frequencies = parameters["frequencies"]
        if self.pairs:
            names = ("rarity", "topics", "weights", "bias")
            self.pair_baseline = PairBaseline(*(parameters[f"pair_{name}"] for name in names))

    @torch.inference_mode()
    def measure(
        self, model: nn.Module, examples: Sequence[tuple[str, ...]], *, quick: bool
    ) -> Evaluation:
        """Ask about windows of the examples, hidden always in the same way."""
        model.eval()
        batches = self._questions(examples, QUICK if quick else MOST)
        counts: Counts = Counter()
        for batch in batches:
            counts += self.objective.counts(model, rows_of(batch.to(device_of(model))))
        told = scores(counts, self.settings.objective)
        rows = sum(len(batch.numbers) for batch in batches)
        return Evaluation(
            told,
            self._baseline(batches),
            {self.metric: self._signature()},
            rows,
            self._samples(model, batches[0]),
        )

    def encode_text(self, text: str) -> Batch:
        """Put a text as it is read when it is asked, its masks as such."""
        ids = encode_with_masks(self.tokenizer, " ".join(text.split()))
        return self.pad([([*fitted(ids, self.window, truncate=False), special.SEP],)])

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
        """Fill every [MASK] of each text with the likeliest token; a blank text stays blank."""
        model.eval()

        def ask(ids: list[int]) -> Tensor:
            rows = rows_of(self.pad([([*ids, special.SEP],)]).to(device_of(model)))
            return self.objective.logits(model, rows)

        return [
            fill(text, self.tokenizer, ask, most=self.window, truncate=truncate)
            if text.strip()
            else Prediction("", 0.0, 0)
            for text in texts
        ]

    def _hiding(self, progress: float) -> Hiding:
        settings = self.settings
        end = settings.mask if settings.mask_at_end is None else settings.mask_at_end
        return Hiding(
            share=settings.mask + (end - settings.mask) * progress,
            masked_as=settings.masked_as,
            tokens=self.tokenizer.size,
            begins=self.begins,
            causal_share=settings.causal_share if settings.objective == "hybrid" else 0.0,
        )

    def _questions(self, examples: Sequence[tuple[str, ...]], most: int) -> list[Batch]:
        """Hide something in rows spread over the examples, always in the same way."""
        corpus, longest = self.corpus_of(examples), self.recipe.text.max_length
        numbers = corpus.list_rows()
        wanted = max(1, min(len(numbers), most // longest))
        numbers = numbers[np.linspace(0, len(numbers) - 1, wanted).astype(int)]
        rng = derive_generator(self.recipe.seed, Purpose.MASKED_EVALUATION)
        at_once = max(1, ASKED_AT_ONCE // longest)
        return [
            hide(corpus.rows(numbers[at : at + at_once], rng), self._hiding(1.0), rng)
            for at in range(0, len(numbers), at_once)
        ]

    def _baseline(self, batches: list[Batch]) -> dict[str, float]:
        """Score the baselines on the same questions, once they are learned."""
        several = [rows_of(batch) for batch in batches]
        told = {} if self.frequencies is None else baseline_scores(self.frequencies, several)
        if self.pair_baseline is not None:
            right = sum(self.pair_baseline.right(rows) for rows in several)
            told["pair_accuracy"] = right / sum(len(rows.ids) for rows in several)
        return told

    def _signature(self) -> str:
        hiding = self._hiding(1.0)
        shares = "/".join(f"{100 * share:g}" for share in hiding.masked_as)
        hidden = f"mask:{hiding.share:g}|as:{shares}"
        return f"{hidden}|window:{self.recipe.text.max_length}|seed:{self.recipe.seed}"

    def _samples(self, model: nn.Module, batch: Batch) -> list[Sample]:
        """Show some rows with their masks, as they were written and as the model filled them."""
        rows = rows_of(batch.to(device_of(model)))
        guesses = self.objective.logits(model, rows).argmax(dim=-1)
        answered = rows.ids.masked_scatter(rows.has_target, guesses)
        samples = []
        for n in torch.nonzero(~rows.forward_only)[:SHOWN, 0].tolist():
            length = int(rows.lengths[n])
            asked, expected, said = (
                self._shown(each[n, :length]) for each in (rows.ids, rows.original, answered)
            )
            samples.append(Sample(asked, expected, said))
        return samples

    def _shown(self, ids: Tensor) -> str:
        return "".join(self.tokenizer.tokens(ids.tolist())).replace("▁", " ")
