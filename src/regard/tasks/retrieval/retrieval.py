"""Retrieval: a bi-encoder that embeds queries close to the documents that answer them.

    loss = -log exp(v(q)·v(d⁺) / τ) / Σ over the batch's documents d of exp(v(q)·v(d) / τ)

(InfoNCE: van den Oord et al. 2018; in-batch negatives: Karpukhin et al. 2020.) The symmetric loss
also normalizes over the queries of the batch. Negatives are of the same shard of a step.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from regard.data.batch import Batch, Padded, pad
from regard.data.check import Report
from regard.data.record import Found, Record
from regard.data.store import Store
from regard.data.stream import Stream
from regard.errors import DataError
from regard.ledger.entry import Seq
from regard.ledger.load import Load
from regard.models.bi_encoder import BiEncoder
from regard.models.build.retrieval import bi_encoder
from regard.recipe.data import DataSettings
from regard.recipe.recipe import Recipe
from regard.tasks.foreign import FRAMED, Adoption, Export, ForeignEncoder
from regard.tasks.labelling.overlong import head, head_tail, windows
from regard.tasks.losses import Loss
from regard.tasks.retrieval.check import check
from regard.tasks.retrieval.corpus import Corpus, folder_documents, training_documents
from regard.tasks.retrieval.cost import RetrievalCost
from regard.tasks.retrieval.example import Tag, number_of
from regard.tasks.retrieval.initialisation import initialize
from regard.tasks.retrieval.measurement import (
    QUICK_DOCUMENTS,
    QUICK_QUERIES,
    judged_queries,
    measure_similarity,
    paired_documents,
    rank_all,
    sample_documents,
    scored_pairs,
    summarize,
)
from regard.tasks.retrieval.pairs import LABELLED, TITLED, UNTITLED, Even, Pairs
from regard.tasks.retrieval.read_examples import name_of, records
from regard.tasks.suggest.retrieval import survey_documents
from regard.tasks.suggest.survey import DataSurvey
from regard.tasks.task import Evaluation, Examples, Prediction, Task, Texts
from regard.tasks.vectors import read_rows
from regard.text import special
from regard.text.tokenizer import Tokenizer

MARKS = 2  # [CLS] and [SEP]


class Retrieval(RetrievalCost, Task[BiEncoder]):
    """Vectors of texts, for search and semantic similarity.

    Args:
        recipe: The whole recipe.
        tokenizer: Converts texts to ids and back.

    """

    fields, texts, reads_columns = 3, 2, False
    metric = "ndcg@10"
    baseline = "BM25, which matches words and is not trained"
    exported = Export("encoder", "vector", FRAMED, "folded")

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        super().__init__(recipe, tokenizer)
        self.settings = recipe.retrieval
        self._corpora: dict[str, Corpus] = {}
        self._pairs: tuple[str, Pairs] | None = None

    @classmethod
    def survey(cls, data: DataSettings) -> DataSurvey:
        """Count documents and their words."""
        return survey_documents(data)

    @classmethod
    def synthetic_fields(cls, recipe: Recipe, number: int) -> Texts:
        """Return the tag of a document with a name of its own."""
        return (Tag("document", str(number), titled=True).write(),)

    def load(self, batch: Batch) -> Load:
        queries, documents = (Seq(*field.ids.shape) for field in batch.fields[:2])
        return Load(*documents, queries=queries)

    @classmethod
    def records(cls, recipe: Recipe, files: Sequence[str], split: str) -> Iterator[Found]:
        """Read folders with judged queries, files of documents or files of pairs."""
        return records(recipe, files, split)

    @classmethod
    def adopt(cls, encoder: ForeignEncoder) -> Adoption:
        """Pool the states as the encoder's files say, else take their mean."""
        return Adoption({"model": {"head": {"pooling": "mean"}}}, usual=encoder.pools)

    @classmethod
    def check(cls, recipe: Recipe) -> Report:
        """Check for judgments of missing documents, and for empty and duplicate documents."""
        return check(recipe)

    @classmethod
    def complete(cls, recipe: Recipe, source: Examples) -> Recipe:
        """Check that pairs can be drawn, and that validation data are not scored pairs."""
        for found in records(recipe, recipe.data.valid, "valid") if recipe.data.valid else ():
            if isinstance(found, Record) and Tag.read(found.fields[2]).kind == "scored":
                raise DataError(
                    f"validation needs queries with documents. {found.file} holds scored pairs.",
                    "Name it in data.test, or evaluate later: regard evaluate RUN --data FILE.",
                )
            break
        if recipe.retrieval.pairs == ("title",) and not any(
            Tag.read(example[-1]).titled for example in source()
        ):
            raise DataError(
                'retrieval.pairs is ["title"], but no document has a title and a body.',
                'Add "crops" to retrieval.pairs, or give documents with titles.',
            )
        return recipe

    @property
    def longest(self) -> None:
        """Return None: spans are cut out of documents of any length."""
        return

    @property
    def most(self) -> int:
        """Tokens of a text in one row, without [CLS] and [SEP]."""
        return max(1, self.recipe.text.max_length - MARKS)

    @property
    def embedded_tokens(self) -> int | None:
        return self.most if self.recipe.text.overlong in ("head", "head-tail") else None

    def stream(self, store: Store) -> Stream:
        length = min(self.settings.document_length[1], self.most) + MARKS
        return Stream(
            Even(len(store), length * (1 + self.settings.hard_negatives)),
            seed=self.recipe.seed,
            batch_tokens=self.recipe.training.batch_tokens,
        )

    def build(self) -> BiEncoder:
        return bi_encoder(self.recipe.model, self.tokenizer.size, self.settings)

    def prepare_model(self, model: BiEncoder, store: Store) -> None:
        """Initialize embeddings and term weights from token counts."""
        initialize(model, store, self.settings, tokens=self.tokenizer.size)

    def encode(self, examples: list[Texts]) -> list[tuple[list[int], ...]]:
        """Encode both texts, and the tag: its kind, then the numbers of relevant documents."""
        sides = [
            self.tokenizer.encode_batch([" ".join(example[side].split()) for example in examples])
            for side in (0, 1)
        ]
        tags = [_numbers(Tag.read(example[2])) for example in examples]
        return list(zip(*sides, tags, strict=True))

    def batch(
        self,
        store: Store,
        numbers: NDArray[np.int64],
        key: tuple[int, ...],
        *,
        progress: float = 0.0,
    ) -> Batch:
        if self._pairs is None or self._pairs[0] != store.fingerprint:
            pairs = Pairs(store, self.settings, longest=self.most)
            self._pairs = (store.fingerprint, pairs)
        return self._pairs[1].batch(numbers, np.random.default_rng(list(key)))

    def pad(self, rows: Sequence[tuple[list[int], ...]]) -> Batch:
        """Pad the first text of every example to a batch."""
        texts = [special.frame(row[0][: self.most]) for row in rows]
        return Batch((pad(texts, filler=special.PAD),), np.arange(len(rows)))

    def encode_text(self, text: str) -> Batch:
        """Encode one query, truncated to what fits; return a batch of one."""
        return self.pad([(self.tokenizer.encode(" ".join(text.split())),)])

    def states(self, model: BiEncoder, batch: Batch) -> Float[Tensor, "row feature"]:
        texts = batch.fields[0]
        return model(texts.ids, lengths=texts.lengths)

    def loss(self, model: BiEncoder, batch: Batch) -> Loss:
        """Sum over pairs, in one or both directions."""
        _, answers, also, owners = batch.fields
        logits = self.states(model, batch) @ model(answers.ids, lengths=answers.lengths).mT
        logits = logits / self.settings.temperature
        logits = logits.masked_fill(_false_negatives(also, owners), -torch.inf)
        rows = len(logits)
        forward = -logits.log_softmax(dim=1).diagonal().sum()
        loss = forward
        if self.settings.symmetric:
            backward = -logits[:, :rows].log_softmax(dim=0).diagonal().sum()
            loss = (forward + backward) / 2
        return Loss(loss, float(forward.detach()), rows)

    def vectors(self, model: BiEncoder, texts: Sequence[str]) -> Float[Tensor, "text feature"]:
        """Embed texts as vectors of length one, 0 for a blank; long texts as ``text.overlong``."""
        folded = [" ".join(text.split()) for text in texts]
        return self.vectors_of(model, self.tokenizer.encode_batch(folded))

    def vectors_of(
        self, model: BiEncoder, ids: Sequence[Sequence[int] | NDArray[np.uint32]]
    ) -> Float[Tensor, "text feature"]:
        """Embed texts that are encoded already."""
        model.eval()
        rows = [[special.frame(row) for row in self._rows(list(map(int, text)))] for text in ids]
        width = self.recipe.model.width
        doubled = (
            self.settings.term_weights == "even" and self.recipe.model.head.pooling == "mean-max"
        )
        return read_rows(model, rows, features=2 * width if doubled else width)

    def _rows(self, ids: list[int]) -> list[list[int]]:
        cuts = {"head": head, "head-tail": head_tail}
        cut = cuts.get(self.recipe.text.overlong)
        if not ids:
            return []
        return [cut(ids, self.most)] if cut else windows(ids, self.most)

    def measure(self, model: BiEncoder, examples: Sequence[Texts], *, quick: bool) -> Evaluation:
        """Rank the documents for every query: by vectors, by BM25 and by both."""
        pairs = scored_pairs(examples)
        if pairs and len(pairs) == len(examples):
            return measure_similarity(pairs, lambda texts: self.vectors(model, texts))
        every = []
        for place, queries in judged_queries(examples).items():
            corpus = self._corpus(place, examples)
            some = queries[:QUICK_QUERIES] if quick else queries
            among = sample_documents(corpus, some, most=QUICK_DOCUMENTS) if quick else None
            read = range(len(corpus)) if among is None else among.tolist()
            vectors = self.vectors_of(model, [corpus.ids[n] for n in read]).numpy()
            documents = np.zeros((len(corpus), vectors.shape[1]), dtype=np.float32)
            documents[list(read)] = vectors
            own = self.vectors(model, [query.text for query in some]).numpy()
            share = self.settings.hybrid
            ranked = rank_all(some, corpus, (own, documents), share=share, among=among)
            every.append((corpus, ranked))
        if not any(some for _, some in every):
            raise DataError(
                "an evaluation needs at least one query with a relevant document. Got none.",
                "Name judged queries in data.valid or data.test, or raise data.holdout.",
            )
        return summarize(every)

    def _corpus(self, place: str, examples: Sequence[Texts]) -> Corpus:
        """Return the documents to search, read once: of a folder, or the training documents."""
        paired = {} if place else paired_documents(examples)
        key = place or name_of("\n".join(sorted(paired)))
        if key not in self._corpora:
            recipe = self.recipe
            found = folder_documents(recipe, place) if place else training_documents(recipe, paired)
            self._corpora[key] = Corpus(found, self.tokenizer.encode_batch)
        return self._corpora[key]

    def answer(
        self,
        model: BiEncoder,
        texts: Sequence[str],
        *,
        quick: bool = False,
        truncate: bool = False,
    ) -> list[Prediction]:
        """Embed each text; a long one in windows."""
        found = self.vectors(model, texts).tolist()
        return [Prediction("", 0.0, 0, vector=tuple(vector)) for vector in found]


def _numbers(tag: Tag) -> list[int]:
    kind = LABELLED if tag.kind == "pair" else TITLED if tag.titled else UNTITLED
    return [kind, number_of(tag.name), *map(number_of, tag.also)]


def _false_negatives(also: Padded, owners: Padded) -> Tensor:
    """Find documents of the batch that are relevant to a query besides its own."""
    same = (also.ids[:, :, None] == owners.ids[None, None, :, 0]).any(dim=1)
    own = torch.zeros_like(same)
    own.fill_diagonal_(True)
    return same & ~own
