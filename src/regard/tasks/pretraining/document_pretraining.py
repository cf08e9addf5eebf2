"""Document pretraining: from one part of a document, predict the words of another part.

    text   = pool(body(part))                    one state for the input part
    p(w)   = softmax(W·text + b)                 one distribution for all words of the other part
    loss   = mean over the other part's words of -log p(w), frequent words subsampled

A state that predicts words anywhere in the document represents its topic and sentiment, while
filling a masked word mostly needs its neighbours. One softmax per document instead of one per word
makes it cheap: minutes for tens of thousands of documents. Paragraph vectors (Le and Mikolov 2014)
with the encoder of Doc2VecC (Chen 2017), subsampled as in word2vec (Mikolov et al. 2013, eq. 5).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from regard.data.batch import Batch
from regard.data.store import Store
from regard.data.stream import Stream
from regard.device import device_of
from regard.ledger.load import Load
from regard.models.build.labels import classifier
from regard.models.classifier import Classifier
from regard.models.ngram_filter import filter_ngrams
from regard.randomness import Purpose, derive_generator
from regard.tasks.labelling.overlong import Fitted, draw_window
from regard.tasks.losses import Loss
from regard.tasks.pretraining.cost import DocumentCost
from regard.tasks.pretraining.whole_documents import KEYWORDS, WholeDocuments
from regard.tasks.task import Evaluation, Examples, Sample, Texts
from regard.text import special

OTHER = (0.3, 0.6)  # share of a document that is the other part, drawn uniformly
FREQUENT = 1e-4  # frequency above which a word is subsampled; at 1e-2, a tenth is kept
QUICK, MOST = 500, 2000  # documents evaluated on, while training and at the end
AT_ONCE = 64  # documents
SHOWN = 8  # samples


class Parts(NamedTuple):
    """The input part of a document and the words to predict."""

    read: list[int]
    other: list[int]


class DocumentPretraining(DocumentCost, WholeDocuments[Classifier]):
    """Pretraining of a body on whole documents.

    Args:
        recipe: The whole recipe.
        tokenizer: Converts texts to ids and back.

    """

    metric = "loss"
    baseline = "every word by its frequency"
    frequencies: Float[Tensor, " token"] | None = None

    def load(self, batch: Batch) -> Load:
        return Load(*batch.fields[0].ids.shape)

    def stream(self, store: Store) -> Stream:
        settings = self.recipe.training
        fitted = Fitted(store, self.recipe.text.max_length)
        return Stream(fitted, seed=self.recipe.seed, batch_tokens=settings.batch_tokens)

    def build(self) -> Classifier:
        model = classifier(self.recipe.model, self.tokenizer.size, self.tokenizer.size)
        assert isinstance(model, Classifier)
        return model

    def prepare_model(self, model: Classifier, store: Store) -> None:
        """Initialize the head to the word frequencies, and drop the vectors of rare n-grams."""
        filter_ngrams(model, store.rows(0), least=self.recipe.model.embedding.ngram_min_count)
        counts = torch.ones(self.tokenizer.size)
        counts += torch.from_numpy(np.bincount(store.flat(0), minlength=self.tokenizer.size))
        self.frequencies = counts / counts.sum()
        with torch.no_grad():
            model.head.to_logits.weight.zero_()
            model.head.to_logits.bias.copy_(subsample(self.frequencies).log())

    def batch(
        self,
        store: Store,
        numbers: NDArray[np.int64],
        key: tuple[int, ...],
        *,
        progress: float = 0.0,
    ) -> Batch:
        rng = np.random.default_rng(list(key))
        rows = [self.split(store[int(number)][0].tolist(), rng) for number in numbers]
        return self.pad(rows)._replace(numbers=numbers)

    def split(self, ids: list[int], rng: np.random.Generator) -> Parts:
        """Draw a span to predict; the longer side of the rest is the input."""
        assert self.frequencies is not None
        size = max(1, round(len(ids) * rng.uniform(*OTHER)))
        start = int(rng.integers(len(ids) - size + 1))
        other = np.asarray(ids[start : start + size])
        before, after = ids[:start], ids[start + size :]
        read = draw_window(max(before, after, key=len), self.recipe.text.max_length - 2, rng)
        probability = keep_probability(self.frequencies[torch.from_numpy(other)]).numpy()
        kept = probability > rng.random(size)
        return Parts(special.frame(read), other[kept].tolist())

    def loss(self, model: Classifier, batch: Batch) -> Loss:
        ids, counts = batch.fields[1]
        rows = torch.arange(len(ids), device=ids.device).repeat_interleave(counts)
        words = ids[torch.arange(ids.shape[1], device=ids.device) < counts[:, None]]
        lost = -self.states(model, batch).log_softmax(dim=-1)[rows, words].sum()
        return Loss(lost, float(lost.detach()), max(1, len(words)))

    def states(self, model: Classifier, batch: Batch) -> Tensor:
        ids, lengths = batch.fields[0]
        return model(ids, lengths=lengths)

    def fit_baseline(self, source: Examples) -> dict[str, Tensor]:
        """Return the frequencies counted before the first step."""
        assert self.frequencies is not None
        return {"frequencies": self.frequencies}

    def load_baseline(self, parameters: Mapping[str, Tensor]) -> None:
        self.frequencies = parameters["frequencies"]

    @torch.inference_mode()
    def measure(self, model: Classifier, examples: Sequence[Texts], *, quick: bool) -> Evaluation:
        """Evaluate the loss on examples, split the same way every time."""
        assert self.frequencies is not None
        model.eval()
        rng = derive_generator(self.recipe.seed, Purpose.DOCUMENT_EVALUATION)
        some = [e for e in examples[: QUICK if quick else MOST] if e[0].strip()]
        rows = [self.split(ids, rng) for (ids,) in self.encode(some) if ids]
        by_frequency = -subsample(self.frequencies).log()
        lost, plain, words = 0.0, 0.0, 0
        for start in range(0, len(rows), AT_ONCE):
            batch = self.pad(rows[start : start + AT_ONCE]).to(device_of(model))
            loss = self.loss(model, batch)
            lost, words = lost + loss.plain, words + loss.tokens
            plain += sum(float(by_frequency[row.other].sum()) for row in rows[start:][:AT_ONCE])
        return Evaluation(
            _scores(lost / max(1, words)),
            _scores(plain / max(1, words)),
            {"loss": f"other part {OTHER[0]:g} to {OTHER[1]:g}, frequent words over {FREQUENT:g}"},
            len(rows),
            [] if quick else self._samples(model, rows[:SHOWN]),
        )

    def _samples(self, model: Classifier, rows: Sequence[Parts]) -> list[Sample]:
        keywords = self.keywords(model, [row.read for row in rows])
        decode = self.tokenizer.decode
        return [
            Sample(decode(row.read[1:-1])[:500], decode(row.other)[:500], words)
            for row, words in zip(rows, keywords, strict=True)
        ]

    def keywords(self, model: Classifier, rows: Sequence[list[int]]) -> list[str]:
        """Return the words that contribute most to KL(p(w | text), p(w)), largest first."""
        assert self.frequencies is not None
        plain = subsample(self.frequencies).log()
        batch = self.pad([(row,) for row in rows]).to(device_of(model))
        guesses = self.states(model, batch).cpu().log_softmax(dim=-1)
        gains = guesses.exp() * (guesses - plain)
        best = gains.topk(min(KEYWORDS, gains.shape[1]), dim=-1).indices
        return [self.words(row) for row in best.tolist()]


def keep_probability(frequencies: Float[Tensor, " token"]) -> Float[Tensor, " token"]:
    """Return the probability that a word is kept as target: √(t/f) + t/f, at most 1."""
    share = FREQUENT / frequencies
    return (share.sqrt() + share).clamp(max=1.0)


def subsample(frequencies: Float[Tensor, " token"]) -> Float[Tensor, " token"]:
    """Return the frequencies of words after subsampling."""
    kept = frequencies * keep_probability(frequencies)
    return kept / kept.sum()


def _scores(loss: float) -> dict[str, float]:
    return {"loss": loss, "perplexity": math.exp(min(loss, 700.0))}
