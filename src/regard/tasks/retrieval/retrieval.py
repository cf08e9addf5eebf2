"""Retrieval: texts in, vectors out, so that a question lies near the documents that answer it.

    loss = -log exp(v(q)·v(d⁺) / τ) / Σ over the batch's documents d of exp(v(q)·v(d) / τ)

(InfoNCE: van den Oord et al. 2018; in-batch negatives: Karpukhin et al. 2020.) Read both ways, the
documents of a batch compete for a question and its questions for a document. Where a step is cut
into shards, a shard's pairs compete among themselves only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
from regard.recipe.recipe import Recipe
from regard.tasks.foreign import Adoption, ForeignEncoder
from regard.tasks.labelling.overlong import head, head_tail, windows
from regard.tasks.losses import Loss
from regard.tasks.retrieval.check import check
from regard.tasks.retrieval.corpus import Corpus, folder_documents, learned_documents
from regard.tasks.retrieval.cost import RetrievalCost
from regard.tasks.retrieval.example import Tag, number_of
from regard.tasks.retrieval.initialisation import begin
from regard.tasks.retrieval.measurement import (
    QUICK_DOCUMENTS,
    QUICK_QUESTIONS,
    ask,
    measure_likeness,
    paired_texts,
    questions,
    scored,
    smaller,
    told,
)
from regard.tasks.retrieval.pairs import LABELLED, TITLED, UNTITLED, Pairs, marked
from regard.tasks.retrieval.read_examples import name_of, records
from regard.tasks.suggest.retrieval import survey_documents
from regard.tasks.suggest.survey import DataSurvey
from regard.tasks.task import Evaluation, Examples, Prediction, Task, Texts
from regard.tasks.vectors import read_rows
from regard.text import special
from regard.text.tokenizer import Tokenizer

MARKS = 2  # [CLS] and [SEP]


@dataclass(frozen=True)
class _Even:
    """Examples that all count as equally long, so that every batch has as many competitors."""

    examples: int
    length: int

    def __len__(self) -> int:
        return self.examples

    def lengths(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tokens of these examples, one column."""
        return np.full((len(numbers), 1), self.length)


class Retrieval(RetrievalCost, Task[BiEncoder]):
    """Vectors of texts, for search and likeness.

    Args:
        recipe: The whole recipe.
        tokenizer: Between texts and ids.

    """

    fields, texts = 3, 2
    metric = "ndcg@10"
    baseline = "BM25, which compares words and learns nothing"

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        super().__init__(recipe, tokenizer)
        self.settings = recipe.retrieval
        self._corpora: dict[str, Corpus] = {}
        self._pairs: tuple[str, Pairs] | None = None

    @classmethod
    def survey(cls, files: Sequence[str]) -> DataSurvey:
        """Count documents and their words."""
        return survey_documents(files)

    @classmethod
    def synthetic_fields(cls, recipe: Recipe, number: int) -> Texts:
        """Return a document's name: by it a document is known to be no other's answer."""
        return (Tag("document", str(number), titled=True).written(),)

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
        """Look for judgments of what is not there, and documents that are empty or alike."""
        return check(recipe)

    @classmethod
    def complete(cls, recipe: Recipe, source: Examples) -> Recipe:
        """Refuse examples that no pair can be drawn from, and scores to choose by."""
        for found in records(recipe, recipe.data.valid, "valid") if recipe.data.valid else ():
            if isinstance(found, Record) and Tag.read(found.fields[2]).kind == "scored":
                raise DataError(
                    f"{found.file} holds scored pairs, and a searcher is chosen by what it finds.",
                    "Name it in data.test, or measure it later: regard evaluate RUN --data FILE.",
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
        """Any document may be kept: spans are cut out of it."""
        return

    @property
    def most(self) -> int:
        """Tokens of a text in one row, beside [CLS] and [SEP]."""
        return max(1, self.recipe.text.max_length - MARKS)

    def stream(self, store: Store) -> Stream:
        length = min(self.settings.document_length[1], self.most) + MARKS
        return Stream(
            _Even(len(store), length * (1 + self.settings.hard_negatives)),
            seed=self.recipe.seed,
            batch_tokens=self.recipe.training.batch_tokens,
        )

    def build(self) -> BiEncoder:
        return bi_encoder(self.recipe.model, self.tokenizer.size, self.settings)

    def prepare_model(self, model: BiEncoder, store: Store) -> None:
        """Let how often tokens stand in documents, and together, shape the first vectors."""
        begin(model, store, self.settings, tokens=self.tokenizer.size)

    def encode(self, examples: list[Texts]) -> list[tuple[list[int], ...]]:
        """Both texts, and how they belong together: the kind, then who answers."""
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
        """Put texts side by side to be read, the first of every example."""
        asked = [marked(row[0][: self.most]) for row in rows]
        return Batch((pad(asked, filler=special.PAD),), np.arange(len(rows)))

    def encode_text(self, text: str) -> Batch:
        """Put a text as it is read when it asks; what does not fit is not read."""
        return self.pad([(self.tokenizer.encode(" ".join(text.split())),)])

    def states(self, model: BiEncoder, batch: Batch) -> Float[Tensor, "row feature"]:
        asked = batch.fields[0]
        return model(asked.ids, lengths=asked.lengths)

    def loss(self, model: BiEncoder, batch: Batch) -> Loss:
        """Sum over pairs; both ways where the recipe says so."""
        _, answers, also, owners = batch.fields
        logits = self.states(model, batch) @ model(answers.ids, lengths=answers.lengths).mT
        logits = logits / self.settings.temperature
        logits = logits.masked_fill(_answers_too(also, owners), -torch.inf)
        rows = len(logits)
        forth = -logits.log_softmax(dim=1).diagonal().sum()
        lost = forth
        if self.settings.symmetric:
            back = -logits[:, :rows].log_softmax(dim=0).diagonal().sum()
            lost = (forth + back) / 2
        return Loss(lost, float(forth.detach()), rows)

    def vectors(self, model: BiEncoder, texts: Sequence[str]) -> Float[Tensor, "text feature"]:
        """Vectors of length one; of what is too long as ``text.overlong`` says; 0 for a blank."""
        folded = [" ".join(text.split()) for text in texts]
        return self.vectors_of(model, self.tokenizer.encode_batch(folded))

    def vectors_of(
        self, model: BiEncoder, ids: Sequence[Sequence[int] | NDArray[np.uint32]]
    ) -> Float[Tensor, "text feature"]:
        """Give the vectors of texts that are ids already."""
        model.eval()
        rows = [[marked(row) for row in self._rows(list(map(int, text)))] for text in ids]
        width = self.recipe.model.width
        twice = (
            self.settings.term_weights == "even" and self.recipe.model.head.pooling == "mean-max"
        )
        return read_rows(model, rows, features=2 * width if twice else width)

    def _rows(self, ids: list[int]) -> list[list[int]]:
        cuts = {"head": head, "head-tail": head_tail}
        cut = cuts.get(self.recipe.text.overlong)
        if not ids:
            return []
        return [cut(ids, self.most)] if cut else windows(ids, self.most)

    def measure(self, model: BiEncoder, examples: Sequence[Texts], *, quick: bool) -> Evaluation:
        """Rank the documents for every question: by vectors, beside BM25, and by both."""
        alike = scored(examples)
        if alike and len(alike) == len(examples):
            return measure_likeness(alike, lambda texts: self.vectors(model, texts))
        every = []
        for place, asked in questions(examples).items():
            corpus = self._corpus(place, examples)
            some = asked[:QUICK_QUESTIONS] if quick else asked
            among = smaller(corpus, some, most=QUICK_DOCUMENTS) if quick else None
            read = range(len(corpus)) if among is None else among.tolist()
            vectors = self.vectors_of(model, [corpus.ids[n] for n in read]).numpy()
            documents = np.zeros((len(corpus), vectors.shape[1]), dtype=np.float32)
            documents[list(read)] = vectors
            theirs = self.vectors(model, [question.text for question in some]).numpy()
            share = self.settings.hybrid
            every.append((corpus, ask(some, corpus, (theirs, documents), share=share, among=among)))
        if not any(some for _, some in every):
            raise DataError(
                "there must be something to measure on. Got no question that has an answer.",
                "Name judged queries in data.valid or data.test, or raise data.holdout.",
            )
        return told(every)

    def _corpus(self, place: str, examples: Sequence[Texts]) -> Corpus:
        """Return the documents to search, read once: of a folder, or those learned from."""
        beside = {} if place else paired_texts(examples)
        key = place or name_of("\n".join(sorted(beside)))
        if key not in self._corpora:
            recipe = self.recipe
            found = folder_documents(recipe, place) if place else learned_documents(recipe, beside)
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
        """Give each text's vector; of a text that is too long, all windows are read."""
        found = self.vectors(model, texts).tolist()
        return [Prediction("", 0.0, 0, vector=tuple(vector)) for vector in found]


def _numbers(tag: Tag) -> list[int]:
    kind = LABELLED if tag.kind == "pair" else TITLED if tag.titled else UNTITLED
    return [kind, number_of(tag.name), *map(number_of, tag.also)]


def _answers_too(also: Padded, owners: Padded) -> Tensor:
    """Find competitors of a question that answer it as well; its own answer is not among them."""
    same = (also.ids[:, :, None] == owners.ids[None, None, :, 0]).any(dim=1)
    own = torch.zeros_like(same)
    own.fill_diagonal_(True)
    return same & ~own
