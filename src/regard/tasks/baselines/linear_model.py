"""The plain baseline: logistic regression on tf-idf of word and character n-grams.

    x(f)         = (1 + ln count(f)) · idf(f),  idf(f) = ln[(1 + n) / (1 + n(f))] + 1
    x            = √(1 - share)·x_words / ‖x_words‖,  √share·x_characters / ‖x_characters‖
    logit(y | x) = Σ x(f)·w(f, y) + V(y)·z + b(y)

n texts were learned from, n(f) of them hold the n-gram f; ``z`` are a few numbers that describe a
pair of texts. The share of the characters and the penalty on the weights are chosen by
cross-validation, which also calibrates the probabilities (``selection.py``). What an n-gram
contributes to an answer is its x(f)·w(f, y).

Runs before 0.1.0 stored naive-Bayes weights for n-grams that occur or not: the same equation with
an idf of 1 and no counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.tasks.baselines.hashed_ngrams import CHARACTER_ROW, ROWS, Bags, Ngrams
from regard.tasks.baselines.logistic_regression import Matrix, fit_logistic, weighted_sum

MOST_FEATURES = 2_000_000
FEW = 1 << 20  # rows that are sorted rather than counted


@dataclass
class LinearModel:
    """A fitted baseline.

    Args:
        rows: Rows of the n-grams that are kept, ascending.
        idf: Their inverse document frequency; without entries where counts are not used.
        share: Share of the character n-grams.
        weights: Weight of each n-gram for each column.
        numbers: Weight of each further number, after ``scale`` has been applied to it.
        biases: One for each column.
        scale: Mean and deviation of the further numbers.

    """

    rows: Tensor
    idf: Tensor
    share: Tensor
    weights: Tensor
    numbers: Tensor
    biases: Tensor
    scale: Tensor

    def parameters(self) -> dict[str, Tensor]:
        """Return what is stored; half precision does for what there is one of per n-gram."""
        half = {"weights": self.weights.half(), "idf": self.idf.half()}
        return {**vars(self), **half}

    @classmethod
    def load(cls, parameters: Mapping[str, Tensor]) -> "LinearModel":
        """Return the model that was stored."""
        full = {name: tensor.float() for name, tensor in parameters.items() if name != "rows"}
        older = {"idf": torch.empty(0), "share": torch.zeros(1)}
        return cls(**{**older, **full, "rows": parameters["rows"]})

    def logits(self, bags: Bags, numbers: NDArray[np.float32]) -> Tensor:
        """Return a row for each text: a column for each label, or for the second of two."""
        vectors = vectorize(bags, self.rows.numpy(), self.idf.numpy())
        sparse = weighted_sum(self.weights, mix(vectors, self._boundary, float(self.share)))
        return sparse + standardize(numbers, self.scale) @ self.numbers + self.biases

    @property
    def ngrams(self) -> Ngrams:
        """Which n-grams of a text are needed."""
        return Ngrams(characters=float(self.share) > 0) if len(self.idf) else Ngrams(3, False)

    @property
    def _boundary(self) -> int:
        """Return the number of the first character n-gram."""
        return int(np.searchsorted(self.rows.numpy(), CHARACTER_ROW))


class Examples(NamedTuple):
    """What a baseline learns from."""

    bags: Bags
    numbers: NDArray[np.float32]
    targets: Tensor
    """How true each column is of each text, from 0 to 1."""

    def select(self, texts: NDArray[np.int64]) -> "Examples":
        """Return some of the examples."""
        return Examples(self.bags.select(texts), self.numbers[texts], self.targets[texts])


def fit(examples: Examples, *, exclusive: bool, share: float, strength: float) -> LinearModel:
    """Learn from examples; ``strength`` is C of the logistic regression."""
    rows, idf = count_documents(examples.bags)
    boundary = int(np.searchsorted(rows, CHARACTER_ROW))
    vectors = mix(vectorize(examples.bags, rows, idf), boundary, share)
    scale = find_scale(examples.numbers)
    matrix = Matrix(standardize(examples.numbers, scale), vectors, len(rows))
    found = fit_logistic(matrix, examples.targets, strength=strength, exclusive=exclusive)
    weights, numbers = found[: len(rows)], found[len(rows) : -1]
    return LinearModel(
        torch.from_numpy(rows),
        torch.from_numpy(idf),
        torch.tensor([share]),
        weights.clone(),
        numbers.clone(),
        found[-1].clone(),
        scale,
    )


def count_documents(bags: Bags) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the rows of n-grams and their idf; of too many, those of the most texts."""
    if len(bags.rows) < FEW:
        rows, counts = np.unique(bags.rows, return_counts=True)
    else:  # counting into every row there could be is several times faster than sorting
        every = np.bincount(bags.rows, minlength=ROWS)
        rows = np.flatnonzero(every).astype(np.int32)
        counts = every[rows]
    if len(rows) > MOST_FEATURES:
        kept = counts > np.partition(counts, -MOST_FEATURES)[-MOST_FEATURES]
        rows, counts = rows[kept], counts[kept]
    return rows, (np.log((1 + len(bags)) / (1 + counts)) + 1).astype(np.float32)


def vectorize(bags: Bags, rows: NDArray[np.int32], idf: NDArray[np.float32]) -> Bags:
    """Renumber the n-grams by their place in ``rows``, without unknown ones, and apply tf-idf."""
    places = np.minimum(np.searchsorted(rows, bags.rows), len(rows) - 1).astype(np.int32)
    known = replace(bags, rows=places).keep(rows[places] == bags.rows)
    if not len(idf):
        return replace(known, values=np.ones_like(known.values))
    return replace(known, values=(1 + np.log(known.values)) * idf[known.rows])


def mix(vectors: Bags, boundary: int, share: float) -> Bags:
    """Scale words and characters, which begin at ``boundary``, to their shares of the length."""
    texts = np.repeat(np.arange(len(vectors)), np.diff(vectors.offsets))
    blocks = 2 * texts + (vectors.rows >= boundary)
    squares = np.bincount(blocks, weights=vectors.values.astype(float) ** 2)
    wanted = np.asarray([1 - share, share])[blocks % 2]
    scaled = vectors.values * np.sqrt(wanted / squares[blocks])
    return replace(vectors, values=scaled.astype(np.float32))


def find_scale(numbers: NDArray[np.float32]) -> Tensor:
    """Return mean and deviation of every further number."""
    return torch.from_numpy(np.stack([numbers.mean(axis=0), numbers.std(axis=0) + 1e-6]))


def standardize(numbers: NDArray[np.float32], scale: Tensor) -> Tensor:
    """Bring numbers to mean 0 and deviation 1."""
    return (torch.from_numpy(numbers) - scale[0]) / scale[1]
