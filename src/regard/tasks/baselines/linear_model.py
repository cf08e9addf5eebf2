"""The plain baseline: logistic regression on tf-idf of word and character n-grams.

    x(f)         = (1 + ln count(f)) · idf(f),  idf(f) = ln[(1 + n) / (1 + n(f))] + 1
    x            = √(1 - share)·x_words / ‖x_words‖,  √share·x_characters / ‖x_characters‖
    logit(y | x) = Σ x(f)·w(f, y) + V(y)·z + b(y)

n texts were learned from, n(f) of them hold the n-gram f. Of a pair of texts, the idf is 1, and
``z`` are a few numbers that describe it. The penalty is on w, or on w divided by the naive-Bayes
ratios (``naive_bayes.py``). Which of these, the share of the characters and the strength of the
penalty are chosen by cross-validation, which also calibrates the probabilities (``selection.py``).
What an n-gram contributes to an answer is its x(f)·w(f, y).

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
from regard.tasks.baselines.logistic_regression import FLAT, Matrix, fit_logistic, weighted_sum
from regard.tasks.baselines.naive_bayes import find_ratios

MOST_FEATURES = 1_000_000
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
        longest: Words of the longest n-gram.

    """

    rows: Tensor
    idf: Tensor
    share: Tensor
    weights: Tensor
    numbers: Tensor
    biases: Tensor
    scale: Tensor
    longest: Tensor

    def parameters(self) -> dict[str, Tensor]:
        """Return what is stored; half precision does for what there is one of per n-gram."""
        half = {"weights": self.weights.half(), "idf": self.idf.half()}
        return {**vars(self), **half}

    @classmethod
    def load(cls, parameters: Mapping[str, Tensor]) -> "LinearModel":
        """Return the model that was stored."""
        full = {name: tensor.float() for name, tensor in parameters.items() if name != "rows"}
        words = torch.tensor([2.0 if "idf" in parameters else 3.0])
        older = {"idf": torch.empty(0), "share": torch.zeros(1), "longest": words}
        return cls(**{**older, **full, "rows": parameters["rows"]})

    def logits(self, bags: Bags, numbers: NDArray[np.float32]) -> Tensor:
        """Return a row for each text: a column for each label, or for the second of two."""
        vectors = vectorize(bags, self.rows.numpy(), self.idf.numpy())
        sparse = weighted_sum(self.weights, mix(vectors, self._boundary, float(self.share)))
        return sparse + standardize(numbers, self.scale) @ self.numbers + self.biases

    @property
    def ngrams(self) -> Ngrams:
        """Which n-grams of a text are needed."""
        return Ngrams(int(self.longest), float(self.share) > 0)

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
    longest: int = 2
    """Words of the longest n-gram."""

    def select(self, texts: NDArray[np.int64]) -> "Examples":
        """Return some of the examples."""
        bags, numbers, targets = self.bags.select(texts), self.numbers[texts], self.targets[texts]
        return self._replace(bags=bags, numbers=numbers, targets=targets)


class Regression:
    """Logistic regression on vectors of texts, for one strength after another.

    Args:
        vectors: The n-grams of each text.
        features: How many n-grams there are.
        numbers: The further numbers of each text.
        targets: How true each column is of each text.
        exclusive: Whether one column is true of a text.
        bayes: Whether n-grams are multiplied by their naive-Bayes ratios.

    """

    def __init__(
        self,
        vectors: Bags,
        features: int,
        numbers: Tensor,
        targets: Tensor,
        *,
        exclusive: bool,
        bayes: bool,
    ) -> None:
        ratios = find_ratios(vectors, features, targets) if bayes else None
        self.matrix = Matrix(numbers, vectors, features, ratios)
        self.targets, self.exclusive = targets, exclusive
        self.found: Tensor | None = None

    def fit(self, strength: float, *, flat: float = FLAT) -> Tensor:
        """Return the weights and, as the last row, the biases; start from those found before."""
        self.found = fit_logistic(
            self.matrix,
            self.targets,
            strength=strength,
            exclusive=self.exclusive,
            start=self.found,
            flat=flat,
        )
        return self.matrix.scale(self.found)


class Design:
    """The vectors of examples, and models of them.

    Args:
        examples: What is learned from.
        share: Share of the character n-grams.

    """

    def __init__(self, examples: Examples, share: float) -> None:
        characters = examples.bags.rows >= CHARACTER_ROW
        if share in (0, 1):
            bags = examples.bags.keep(characters if share else ~characters)
            examples = examples._replace(bags=bags)
        self.examples, self.share = examples, share
        self.rows, self.idf = find_vocabulary(examples)
        boundary = int(np.searchsorted(self.rows, CHARACTER_ROW))
        self.vectors = mix(vectorize(examples.bags, self.rows, self.idf), boundary, share)
        self.scale = find_scale(examples.numbers)
        self.numbers = standardize(examples.numbers, self.scale)

    def regression(
        self, *, exclusive: bool, bayes: bool, texts: NDArray[np.int64] | None = None
    ) -> Regression:
        """Return a regression on some texts, or on all of them."""
        texts = np.arange(len(self.vectors)) if texts is None else texts
        return Regression(
            self.vectors.select(texts),
            len(self.rows),
            self.numbers[texts],
            self.examples.targets[texts],
            exclusive=exclusive,
            bayes=bayes,
        )

    def model(self, found: Tensor) -> LinearModel:
        """Return the model with the weights and biases that a regression found."""
        count = len(self.rows)
        return LinearModel(
            torch.from_numpy(self.rows),
            torch.from_numpy(self.idf),
            torch.tensor([self.share]),
            found[:count].clone(),
            found[count:-1].clone(),
            found[-1].clone(),
            self.scale,
            torch.tensor([float(self.examples.longest)]),
        )


def fit(
    examples: Examples, *, exclusive: bool, share: float, strength: float, bayes: bool = False
) -> LinearModel:
    """Learn from examples; ``strength`` is C of the logistic regression."""
    design = Design(examples, share)
    return design.model(design.regression(exclusive=exclusive, bayes=bayes).fit(strength))


def find_vocabulary(examples: Examples) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the rows of n-grams and their idf, which is 1 for pairs of texts."""
    rows, idf = count_documents(examples.bags)
    return rows, np.ones_like(idf) if examples.numbers.shape[1] else idf


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
    """Return mean and deviation of every number, by which all of a text together get length 1."""
    deviation = (numbers.std(axis=0) + 1e-6) * max(1, numbers.shape[1]) ** 0.5
    return torch.from_numpy(np.stack([numbers.mean(axis=0), deviation]).astype(np.float32))


def standardize(numbers: NDArray[np.float32], scale: Tensor) -> Tensor:
    """Apply what was found by ``find_scale``."""
    return (torch.from_numpy(numbers) - scale[0]) / scale[1]
