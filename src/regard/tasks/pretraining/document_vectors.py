"""Document vectors: predict the n-grams of a text by cosine similarity, with negative sampling.

    loss = -log σ(α·cos(text, n-gram)) - Σ over 5 negatives of log σ(-α·cos(text, negative))
    negatives are drawn in proportion to (count of the n-gram)^¾

Every text of the corpus has a vector during training, and so has every token and n-gram. A step
takes a few n-grams of each of many texts: with whole texts, hundreds of n-grams would update one
vector in one step. With ``data.labelled``, n-grams are subsampled by how well they discriminate
between labels (:mod:`.ngram_weights`). After Thongtan and Phienthrakul 2019 and Bingyu and Arefyev
2022.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cosine_similarity, softplus

from regard.data.batch import Batch, Padded
from regard.data.store import Store
from regard.data.token_sampler import TokenSampler
from regard.ledger.load import Load
from regard.models.build.body import body
from regard.models.document_vectors import SCALE, DocumentVectors
from regard.models.ngram_filter import filter_ngrams
from regard.models.ngram_index import chunks
from regard.models.parameters import initialise_parameters
from regard.randomness import Purpose, derive_generator
from regard.recipe.recipe import Recipe
from regard.tasks.labelling.classification import Classification
from regard.tasks.labelling.labels import split
from regard.tasks.losses import Loss
from regard.tasks.pretraining.cost import DocumentVectorsCost
from regard.tasks.pretraining.ngram_weights import Bundle, Weights, weigh_ngrams
from regard.tasks.pretraining.whole_documents import KEYWORDS, WholeDocuments
from regard.tasks.task import Evaluation, Examples, Sample, Texts
from regard.text import special

NEGATIVES = 5  # per n-gram
POWER = 0.75  # of the counts, for drawing negatives
QUICK, MOST = 500, 2000  # documents evaluated on, while training and at the end
SHOWN = 8  # samples
LABELLED_AT_ONCE = 1024  # texts

Rows = NDArray[np.int64]


class DocumentVectorLearning(DocumentVectorsCost, WholeDocuments[DocumentVectors]):
    """Joint embedding of texts and n-grams.

    Args:
        recipe: The whole recipe.
        tokenizer: Converts texts to ids and back.

    """

    metric = "accuracy"
    baseline = "every n-gram by its frequency"
    ngrams: "NgramCounts | None" = None
    """Counts and sampling weights of the n-grams."""
    learner: DocumentVectors | None = None
    """The model in training, which numbers the n-grams."""

    @classmethod
    def complete(cls, recipe: Recipe, source: Examples) -> Recipe:
        """Check the labels of ``data.labelled`` before training."""
        if recipe.data.labelled:
            Classification.complete(recipe, lambda: _read_labelled(recipe))
        return recipe

    def load(self, batch: Batch) -> Load:
        return Load(*batch.fields[0].ids.shape)

    def stream(self, store: Store) -> TokenSampler:
        settings = self.recipe.training
        return TokenSampler(store.tokens, seed=self.recipe.seed, batch_tokens=settings.batch_tokens)

    def build(self) -> DocumentVectors:
        settings = self.recipe.model
        model = DocumentVectors(body(settings, self.tokenizer.size, bidirectional=True))
        initialise_parameters(model, width=settings.width, zero_init=settings.zero_init)
        return model

    def prepare_model(self, model: DocumentVectors, store: Store) -> None:
        """Count the n-grams, and add a vector for every document."""
        filter_ngrams(model, store.rows(0), least=self.recipe.model.embedding.ngram_min_count)
        self.learner = model
        counts = np.zeros(sum(map(len, model.tables)), dtype=np.int64)
        for texts in chunks(store.rows(0)):
            counts += np.bincount(model.rows_in(texts)[1], minlength=len(counts))
        worth = np.ones(len(counts), dtype=np.float32)
        if self.recipe.data.labelled:
            worth = weigh_ngrams(self._labelled_ngrams(model), rows=len(counts))
        self.ngrams = NgramCounts(counts, worth)
        model.initialise(len(store))

    def _labelled_ngrams(self, model: DocumentVectors) -> Iterator[Bundle]:
        separator = self.recipe.data.label_separator
        source = _read_labelled(self.recipe)
        while some := list(islice(source, LABELLED_AT_ONCE)):
            ids = self.tokenizer.encode_batch([text for text, _ in some])
            texts = [np.asarray(text, dtype=np.uint32) for text in ids]
            yield *model.rows_in(texts), [split(label, separator) for _, label in some]

    def finish_model(self, model: DocumentVectors) -> None:
        """Keep the vectors of n-grams, which encode any text; drop those of the documents."""
        assert self.ngrams is not None
        model.finalise(torch.from_numpy(self.ngrams.drawn))

    def batch(
        self,
        store: Store,
        numbers: NDArray[np.int64],
        key: tuple[int, ...],
        *,
        progress: float = 0.0,
    ) -> Batch:
        """Take the n-grams that end at these positions, and draw negatives."""
        assert self.ngrams is not None
        assert self.learner is not None
        rng = np.random.default_rng(list(key))
        documents, begins = store.owners(0, numbers)
        places = numbers[:, None] + np.arange(-self.learner.reach, 1)
        ids = store.flat(0)[np.maximum(places, 0)].astype(np.int64)
        ids[places < begins[:, None]] = 0
        rows = self.learner.rows_of(torch.from_numpy(ids)).cpu().numpy()
        kept = (rows >= 0) & (self.ngrams.worth[rows] > rng.random(rows.shape, dtype=np.float32))
        owners = np.broadcast_to(documents[:, None], rows.shape)[kept]
        return self._with_negatives(owners, rows[kept], rng)

    def _with_negatives(self, documents: Rows, own: Rows, rng: np.random.Generator) -> Batch:
        """Add negatives; rows ascend, as the model requires."""
        assert self.ngrams is not None
        negatives = self.ngrams.draw(rng, (len(own), NEGATIVES))
        rows = np.concatenate([own[:, None], negatives], axis=1)
        positive = np.zeros_like(rows)
        positive[:, 0] = 1
        # A negative equal to its positive is dropped.
        kept = (rows != own[:, None]) | (positive > 0)
        order = np.argsort(rows[kept], kind="stable")
        columns = (rows[kept], positive[kept], np.repeat(documents, kept.sum(axis=1)))
        row, label, document = (torch.from_numpy(column[order]) for column in columns)
        one = torch.ones_like(row)
        fields = (Padded(row[:, None], one), Padded(label[:, None], one))
        return Batch(fields, document.numpy())

    def loss(self, model: DocumentVectors, batch: Batch) -> Loss:
        rows, positive = (field.ids[:, 0] for field in batch.fields)
        likeness = model.cosine(torch.from_numpy(batch.numbers).to(rows.device), rows)
        lost = softplus(SCALE * likeness * (1 - 2 * positive)).sum()
        return Loss(lost, float(lost.detach()), max(1, int(positive.sum())))

    def states(self, model: DocumentVectors, batch: Batch) -> Tensor:
        ids, lengths = batch.fields[0]
        return model(ids, lengths=lengths)

    def fit_baseline(self, source: Examples) -> dict[str, Tensor]:
        """Return the counts made before the first step."""
        assert self.ngrams is not None
        counts, worth = self.ngrams.counts.astype(np.int32), self.ngrams.worth.astype(np.float16)
        return {"counts": torch.from_numpy(counts), "worth": torch.from_numpy(worth)}

    def load_baseline(self, parameters: Mapping[str, Tensor]) -> None:
        counts, worth = parameters["counts"].numpy(), parameters["worth"].numpy()
        self.ngrams = NgramCounts(counts.astype(np.int64), worth.astype(np.float32))

    @torch.inference_mode()
    def measure(
        self, model: DocumentVectors, examples: Sequence[Texts], *, quick: bool
    ) -> Evaluation:
        """Rank n-grams of each text's second half among negatives, by its first half."""
        assert self.ngrams is not None
        model = self._to_store(model)
        rng = derive_generator(self.recipe.seed, Purpose.DOCUMENT_VECTOR_EVALUATION)
        some = [e for e in examples[: QUICK if quick else MOST] if e[0].strip()]
        texts = [np.asarray(ids, dtype=np.uint32) for (ids,) in self.encode(some)]
        halves = [(ids[: len(ids) // 2], ids[len(ids) // 2 :]) for ids in texts if len(ids) > 1]
        similarities: list[Tensor] = []
        plain: list[Tensor] = []
        for first, second in halves:
            own = model.rows_in([second])[1]
            own = own[self.ngrams.worth[own] > rng.random(len(own), dtype=np.float32)]
            negatives = self.ngrams.draw(rng, (len(own), NEGATIVES))
            rows = np.concatenate([own[:, None], negatives], axis=1)
            text = model.vectors(torch.from_numpy(model.rows_in([first])[1])).mean(dim=0)
            near = cosine_similarity(model.vectors(torch.from_numpy(rows.ravel())), text[None])
            similarities.append(near.view(rows.shape).cpu())
            plain.append(torch.from_numpy(self.ngrams.by_frequency[rows]))
        return Evaluation(
            _scores(similarities),
            _scores(plain),
            {"accuracy": f"n-grams of the second half among {NEGATIVES} others, by the first"},
            len(halves),
            [] if quick else self._samples(model, [e[0] for e in some[:SHOWN]]),
        )

    def _to_store(self, model: DocumentVectors) -> DocumentVectors:
        """Return the model as it is stored; one in training is copied."""
        if model.documents is not None:
            model = deepcopy(model)
            self.finish_model(model)
        return model.eval()

    def _samples(self, model: DocumentVectors, texts: Sequence[str]) -> list[Sample]:
        found = []
        for ((ids),) in self.encode([(text,) for text in texts]):
            half, decode = len(ids) // 2, self.tokenizer.decode
            (words,) = self.keywords(model, [special.frame(ids[:half])])
            found.append(Sample(decode(ids[:half])[:500], decode(ids[half:])[:500], words))
        return found

    def keywords(self, model: DocumentVectors, rows: Sequence[list[int]]) -> list[str]:
        """Return the nearest tokens, of those at least as frequent as the median."""
        assert self.ngrams is not None
        table = model.body.reading.table
        counts = torch.from_numpy(self.ngrams.counts[: len(table)])
        often = torch.nonzero(counts >= counts[counts > 0].median())[:, 0].to(table.device)
        texts = self.states(model, self.pad([(row,) for row in rows]).to(table.device))
        near = cosine_similarity(texts[:, None], table[often][None], dim=-1)
        best = often[near.topk(min(KEYWORDS, len(often)), dim=-1).indices]
        return [self.words(row) for row in best.tolist()]


class NgramCounts:
    """Counts of tokens and n-grams, and how often they are drawn.

    Args:
        counts: How often each occurs.
        worth: The probability that an occurrence is trained on.

    """

    def __init__(self, counts: NDArray[np.int64], worth: Weights) -> None:
        self.counts, self.worth = counts, worth
        drawn = counts**POWER
        self.drawn = (drawn / drawn.sum()).astype(np.float32)
        self._below = np.cumsum(drawn / drawn.sum())

    def draw(self, rng: np.random.Generator, shape: tuple[int, int]) -> Rows:
        """Draw negatives in proportion to count^¾."""
        # A sorted search is several times faster; the result is shuffled again.
        places = np.sort(rng.random(math.prod(shape)))
        found = np.searchsorted(self._below, places, side="right")
        return rng.permutation(np.minimum(found, len(self._below) - 1)).reshape(shape)

    @property
    def by_frequency(self) -> NDArray[np.float32]:
        """Return the logit that an n-gram is positive rather than a negative, by counts alone."""
        own = self.counts * self.worth
        ratio = own / max(1.0, float(own.sum())) / np.maximum(NEGATIVES * self.drawn, 1e-30)
        return np.log(np.maximum(ratio, 1e-30)).astype(np.float32)


def _scores(similarities: Sequence[Tensor]) -> dict[str, float]:
    """Compute how often the positive, in the first column, ranks before all negatives."""
    best = [(row[:, :1] > row[:, 1:]).all(dim=1) for row in similarities]
    return {"accuracy": float(torch.cat(best).float().mean()) if best else 0.0}


def _read_labelled(recipe: Recipe) -> Iterator[Texts]:
    """Read labelled texts; columns and format of the plain texts do not apply to them."""
    defaults = {"fields": (), "format": "auto", "labels": (), "scores": False}
    data = recipe.data.model_copy(update=defaults)
    recipe = recipe.model_copy(update={"data": data})
    return Classification.read_examples(recipe, data.labelled, "train")
