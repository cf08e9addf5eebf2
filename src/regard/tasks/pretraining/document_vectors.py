"""Document vectors: tell the runs of tokens that stand in a text from others, by direction alone.

    loss = -log σ(α·cos(text, own run)) - Σ over 5 others of log σ(-α·cos(text, other))
    others are drawn by (how often each is written)^¾

Every text of the corpus has a vector while this is learned, and so has every token and every run of
tokens. A step takes a few runs of each of many texts: of whole texts at once, the same vectors
would be pulled by hundreds of runs in one step. With ``data.labelled``, runs are learned from as
far as they lean towards a label (:mod:`.leaning`). After Thongtan and Phienthrakul 2019 and Bingyu
and Arefyev 2022.
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
from regard.models.document_vectors import SHARP, DocumentVectors
from regard.models.ngram_filter import filter_ngrams
from regard.models.ngram_index import chunks
from regard.models.parameters import draw_parameters
from regard.randomness import Purpose, derive_generator
from regard.recipe.recipe import Recipe
from regard.tasks.labelling.classification import Classification
from regard.tasks.labelling.labels import split
from regard.tasks.losses import Loss
from regard.tasks.pretraining.cost import DocumentVectorsCost
from regard.tasks.pretraining.ngram_weights import Bundle, Worth, worth_learning
from regard.tasks.pretraining.whole_documents import TOLD, WholeDocuments, closed
from regard.tasks.task import Evaluation, Examples, Sample, Texts

OTHERS = 5  # runs that are told from one that stands in the text
POWER = 0.75  # frequent runs are drawn less often than they are written
QUICK, MOST = 500, 2000  # documents measured on, while training and at the end
SHOWN = 8  # samples
LABELLED_AT_ONCE = 1024  # texts

Rows = NDArray[np.int64]


class DocumentVectorLearning(DocumentVectorsCost, WholeDocuments[DocumentVectors]):
    """Texts and runs of tokens find their places in one space.

    Args:
        recipe: The whole recipe.
        tokenizer: Between texts and ids.

    """

    metric = "accuracy"
    baseline = "every run by how often it is written"
    runs: "Runs | None" = None
    """How often each run is written, and is learned from."""
    learner: DocumentVectors | None = None
    """What is learning, and knows the numbers of runs."""

    @classmethod
    def complete(cls, recipe: Recipe, source: Examples) -> Recipe:
        """Refuse what are no labels before anything is written."""
        if recipe.data.labelled:
            Classification.complete(recipe, lambda: _labelled(recipe))
        return recipe

    def load(self, batch: Batch) -> Load:
        return Load(*batch.fields[0].ids.shape)

    def stream(self, store: Store) -> TokenSampler:
        settings = self.recipe.training
        return TokenSampler(store.tokens, seed=self.recipe.seed, batch_tokens=settings.batch_tokens)

    def build(self) -> DocumentVectors:
        settings = self.recipe.model
        model = DocumentVectors(body(settings, self.tokenizer.size, looks_ahead=True))
        draw_parameters(model, width=settings.width, quiet=settings.zero_init)
        return model

    def prepare_model(self, model: DocumentVectors, store: Store) -> None:
        """Count the runs, and give every document a vector."""
        filter_ngrams(model, store.rows(0), least=self.recipe.model.embedding.ngram_min_count)
        self.learner = model
        counts = np.zeros(sum(map(len, model.tables)), dtype=np.int64)
        for texts in chunks(store.rows(0)):
            counts += np.bincount(model.rows_in(texts)[1], minlength=len(counts))
        worth = np.ones(len(counts), dtype=np.float32)
        if self.recipe.data.labelled:
            worth = worth_learning(self._leaning(model), rows=len(counts))
        self.runs = Runs(counts, worth)
        model.open(len(store))

    def _leaning(self, model: DocumentVectors) -> Iterator[Bundle]:
        separator = self.recipe.data.label_separator
        source = _labelled(self.recipe)
        while some := list(islice(source, LABELLED_AT_ONCE)):
            ids = self.tokenizer.encode_batch([text for text, _ in some])
            texts = [np.asarray(text, dtype=np.uint32) for text in ids]
            yield *model.rows_in(texts), [split(label, separator) for _, label in some]

    def finish_model(self, model: DocumentVectors) -> None:
        """Keep the vectors of runs, by which any text can be read."""
        assert self.runs is not None
        model.close(torch.from_numpy(self.runs.drawn))

    def batch(
        self,
        store: Store,
        numbers: NDArray[np.int64],
        key: tuple[int, ...],
        *,
        progress: float = 0.0,
    ) -> Batch:
        """Take the runs that end at these places, and others to tell them from."""
        assert self.runs is not None
        assert self.learner is not None
        rng = np.random.default_rng(list(key))
        documents, begins = store.owners(0, numbers)
        places = numbers[:, None] + np.arange(-self.learner.reach, 1)
        ids = store.flat(0)[np.maximum(places, 0)].astype(np.int64)
        ids[places < begins[:, None]] = 0
        rows = self.learner.rows_of(torch.from_numpy(ids)).cpu().numpy()
        kept = (rows >= 0) & (self.runs.worth[rows] > rng.random(rows.shape, dtype=np.float32))
        owners = np.broadcast_to(documents[:, None], rows.shape)[kept]
        return self._told_apart(owners, rows[kept], rng)

    def _told_apart(self, documents: Rows, own: Rows, rng: np.random.Generator) -> Batch:
        """Put others beside runs; rows ascend, as the model wants them."""
        assert self.runs is not None
        others = self.runs.draw(rng, (len(own), OTHERS))
        rows = np.concatenate([own[:, None], others], axis=1)
        stands = np.zeros_like(rows)
        stands[:, 0] = 1
        # An "other" that is the own run after all is told nothing.
        asked = (rows != own[:, None]) | (stands > 0)
        order = np.argsort(rows[asked], kind="stable")
        columns = (rows[asked], stands[asked], np.repeat(documents, asked.sum(axis=1)))
        row, stand, document = (torch.from_numpy(column[order]) for column in columns)
        one = torch.ones_like(row)
        fields = (Padded(row[:, None], one), Padded(stand[:, None], one))
        return Batch(fields, document.numpy())

    def loss(self, model: DocumentVectors, batch: Batch) -> Loss:
        rows, stands = (field.ids[:, 0] for field in batch.fields)
        likeness = model.likeness(torch.from_numpy(batch.numbers).to(rows.device), rows)
        lost = softplus(SHARP * likeness * (1 - 2 * stands)).sum()
        return Loss(lost, float(lost.detach()), max(1, int(stands.sum())))

    def states(self, model: DocumentVectors, batch: Batch) -> Tensor:
        ids, lengths = batch.fields[0]
        return model(ids, lengths=lengths)

    def fit_baseline(self, source: Examples) -> dict[str, Tensor]:
        """Take what was counted at the beginning."""
        assert self.runs is not None
        counts, worth = self.runs.counts.astype(np.int32), self.runs.worth.astype(np.float16)
        return {"counts": torch.from_numpy(counts), "worth": torch.from_numpy(worth)}

    def load_baseline(self, parameters: Mapping[str, Tensor]) -> None:
        counts, worth = parameters["counts"].numpy(), parameters["worth"].numpy()
        self.runs = Runs(counts.astype(np.int64), worth.astype(np.float32))

    @torch.inference_mode()
    def measure(
        self, model: DocumentVectors, examples: Sequence[Texts], *, quick: bool
    ) -> Evaluation:
        """Tell the runs of each text's second half from others, by its first half."""
        assert self.runs is not None
        model = self._closed(model)
        rng = derive_generator(self.recipe.seed, Purpose.DOCUMENT_VECTOR_EVALUATION)
        some = [e for e in examples[: QUICK if quick else MOST] if e[0].strip()]
        texts = [np.asarray(ids, dtype=np.uint32) for (ids,) in self.encode(some)]
        halves = [(ids[: len(ids) // 2], ids[len(ids) // 2 :]) for ids in texts if len(ids) > 1]
        told: list[Tensor] = []
        plain: list[Tensor] = []
        for first, second in halves:
            own = model.rows_in([second])[1]
            own = own[self.runs.worth[own] > rng.random(len(own), dtype=np.float32)]
            rows = np.concatenate([own[:, None], self.runs.draw(rng, (len(own), OTHERS))], axis=1)
            text = model.vectors(torch.from_numpy(model.rows_in([first])[1])).mean(dim=0)
            near = cosine_similarity(model.vectors(torch.from_numpy(rows.ravel())), text[None])
            told.append(near.view(rows.shape).cpu())
            plain.append(torch.from_numpy(self.runs.by_frequency[rows]))
        return Evaluation(
            _scores(told),
            _scores(plain),
            {"accuracy": f"runs of the second half beside {OTHERS} others, by the first half"},
            len(halves),
            [] if quick else self._samples(model, [e[0] for e in some[:SHOWN]]),
        )

    def _closed(self, model: DocumentVectors) -> DocumentVectors:
        """Return the model as it is kept, whether it goes on learning or not."""
        if model.documents is not None:
            model = deepcopy(model)
            self.finish_model(model)
        return model.eval()

    def _samples(self, model: DocumentVectors, texts: Sequence[str]) -> list[Sample]:
        found = []
        for ((ids),) in self.encode([(text,) for text in texts]):
            half, decode = len(ids) // 2, self.tokenizer.decode
            (words,) = self.tell(model, [closed(ids[:half])])
            found.append(Sample(decode(ids[:half])[:500], decode(ids[half:])[:500], words))
        return found

    def tell(self, model: DocumentVectors, rows: Sequence[list[int]]) -> list[str]:
        """Name the tokens whose vectors come nearest, of those written often enough to be known."""
        assert self.runs is not None
        table = model.body.reading.table
        counts = torch.from_numpy(self.runs.counts[: len(table)])
        often = torch.nonzero(counts >= counts[counts > 0].median())[:, 0].to(table.device)
        texts = self.states(model, self.pad([(row,) for row in rows]).to(table.device))
        near = cosine_similarity(texts[:, None], table[often][None], dim=-1)
        best = often[near.topk(min(TOLD, len(often)), dim=-1).indices]
        return [self.words(row) for row in best.tolist()]


class Runs:
    """How often each token and each run is written, learned from, and drawn as another.

    Args:
        counts: How often each is written.
        worth: How likely it is learned from where it stands.

    """

    def __init__(self, counts: NDArray[np.int64], worth: Worth) -> None:
        self.counts, self.worth = counts, worth
        drawn = counts**POWER
        self.drawn = (drawn / drawn.sum()).astype(np.float32)
        self._below = np.cumsum(drawn / drawn.sum())

    def draw(self, rng: np.random.Generator, shape: tuple[int, int]) -> Rows:
        """Draw runs, frequent ones less often than they are written."""
        # In order they are found several times faster; then they are dealt out again.
        places = np.sort(rng.random(math.prod(shape)))
        found = np.searchsorted(self._below, places, side="right")
        return rng.permutation(np.minimum(found, len(self._below) - 1)).reshape(shape)

    @property
    def by_frequency(self) -> NDArray[np.float32]:
        """Say of each run, as a logit, that it is a text's own rather than drawn, by counts."""
        own = self.counts * self.worth
        ratio = own / max(1.0, float(own.sum())) / np.maximum(OTHERS * self.drawn, 1e-30)
        return np.log(np.maximum(ratio, 1e-30)).astype(np.float32)


def _scores(told: Sequence[Tensor]) -> dict[str, float]:
    """Say how often a text's own run, which stands first, comes before all others."""
    best = [(row[:, :1] > row[:, 1:]).all(dim=1) for row in told]
    return {"accuracy": float(torch.cat(best).float().mean()) if best else 0.0}


def _labelled(recipe: Recipe) -> Iterator[Texts]:
    """Read texts with labels; columns and format are those of plain texts, and say nothing here."""
    by_habit = {"fields": (), "format": "auto", "labels": (), "scores": False}
    data = recipe.data.model_copy(update=by_habit)
    recipe = recipe.model_copy(update={"data": data})
    return Classification.read_examples(recipe, data.labelled, "train")
