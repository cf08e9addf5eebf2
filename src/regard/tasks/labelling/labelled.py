"""Tasks that predict labels or a score: common parts of classification and sentence pairs.

    logits = model(ids), averaged with those of a bag and of other runs (``ensemble``)

A row is [CLS] text [SEP], or [CLS] text [SEP] text [SEP]; its label is kept as numbers.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.data.batch import Batch, Padded, collate, cut_batches, pad
from regard.data.store import Store
from regard.data.stream import Stream
from regard.device import device_of
from regard.errors import UsageError
from regard.ledger.load import Load
from regard.models.build.labels import classifier
from regard.models.classifier import Classifier
from regard.models.han import Han
from regard.models.ngram_filter import filter_ngrams
from regard.recipe.recipe import Recipe
from regard.tasks.baselines.ensemble import Answers, Ensemble
from regard.tasks.baselines.hashed_ngrams import Ngrams
from regard.tasks.baselines.labels import Features
from regard.tasks.foreign import FRAMED, FRAMED_PAIR, Export, Obstacle, kind_of_body
from regard.tasks.labelling.cost import LabelCost
from regard.tasks.labelling.decisions import Decisions
from regard.tasks.labelling.expectation import describe_expectation
from regard.tasks.labelling.forward_passes import passes_of
from regard.tasks.labelling.label_set import complete_labels, labels_from_recipe, wrong_label
from regard.tasks.labelling.overlong import Fitted, draw_window
from regard.tasks.labelling.question import label_question, text_attention
from regard.tasks.labelling.sentences import sentences_of
from regard.tasks.losses import Loss
from regard.tasks.question import Inquiry, Question, TextAttention
from regard.tasks.task import Evaluation, Examples, Prediction, Sample, Task, Texts
from regard.text import special
from regard.text.from_recipe import dropout_from_recipe
from regard.text.tokenizer import Tokenizer

BATCH_TOKENS = 8192
SHOWN = 500  # characters of a sample

Reader: TypeAlias = Classifier | Han
Tokens = tuple[list[int], ...]
"""The ids of an example's texts, without special ones."""


BASELINE = Obstacle(
    "decoding.baseline_weight",
    0.0,
    "answers are those of network and n-gram baseline together",
    "Set decoding.baseline_weight to 0.0.",
)


class Labelled(LabelCost, Task[Reader]):
    """A task whose last field is a label, several labels or a score.

    Args:
        recipe: The whole recipe, complete.
        tokenizer: Converts texts to ids and back.

    """

    baseline = (
        "logistic regression on tf-idf of word and character n-grams, its settings chosen by "
        "cross-validation, learned from the same examples"
    )
    attribution = "integrated-gradients"
    cut_by: tuple[str, ...] = ()  # further settings that the ids depend on

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        super().__init__(recipe, tokenizer)
        self.labels = labels_from_recipe(recipe.data)
        self.metric = self.labels.metric
        self.dropout = dropout_from_recipe(recipe.text, tokenizer)
        self.ensemble = Ensemble(self.labels, recipe.decoding, self.features)
        self.decisions = Decisions(self.labels, recipe.decoding)
        self.shares: Tensor | None = None

    @classmethod
    def complete(cls, recipe: Recipe, source: Examples) -> Recipe:
        """Write the labels into the recipe, or the range of the scores."""
        return complete_labels(recipe, source)

    @classmethod
    def complete_without_data(cls, recipe: Recipe) -> Recipe:
        """Assume two labels, or scores from 0 to 1, unless the recipe names them."""
        data = recipe.data
        found: dict[str, object] = {}
        if data.scores:
            found = {"score_range": data.score_range or (0.0, 1.0)}
        elif not data.labels:
            found = {"labels": ("a", "b")}
        return recipe.model_copy(update={"data": data.model_copy(update=found)})

    @classmethod
    def synthetic_fields(cls, recipe: Recipe, number: int) -> Texts:
        """Return a label or a score of the recipe."""
        data = recipe.data
        return (str(data.score_range[0]) if data.score_range else data.labels[0],)

    def load(self, batch: Batch) -> Load:
        texts = batch.fields[1]  # the label is field 0
        load = Load(*texts.ids.shape)
        by_sentences = self.recipe.model.documents.read == "sentences"
        return load._replace(sentences=sentences_of(texts)) if by_sentences else load

    @classmethod
    def refusal(cls, recipe: Recipe, fields: Texts) -> tuple[str, str] | None:
        """Return problem and remedy for an invalid label."""
        return wrong_label(recipe.data, fields[-1])

    def export(self) -> Export:
        """Return a body with a label head; the baseline in an ensemble has no counterpart."""
        kind, labels = kind_of_body(causal=self.recipe.model.causal), self.labels
        problem = f"{'single' if labels.exclusive else 'multi'}_label_classification"
        share = self.recipe.decoding.baseline_weight
        return Export(
            kind,
            "labels",
            FRAMED,
            pair_template=FRAMED_PAIR if self.texts == 2 else (),
            labels=labels.names,
            problem=problem,
            obstacles=(BASELINE._replace(value=share),) if share else (),
        )

    @property
    def longest(self) -> int | None:
        text = self.recipe.text
        return None if text.overlong == "windows" else text.max_length

    @property
    def encoding_key(self) -> tuple[str, ...]:
        data, text = self.recipe.data, self.recipe.text
        labels = "\0".join(data.labels) if data.labels else str(data.score_range)
        cut = (text.overlong, str(text.max_length), *self.cut_by)
        return ("labels first", labels, data.label_separator, *cut)

    def stream(self, store: Store) -> Stream:
        settings = self.recipe.training
        fitted = Fitted(store, self.recipe.text.max_length)
        return Stream(fitted, seed=self.recipe.seed, batch_tokens=settings.batch_tokens)

    @abstractmethod
    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """Encode texts of one field, without special tokens."""

    @abstractmethod
    def stored(self, tokens: Tokens) -> list[int]:
        """Join an example's texts with special tokens to the row that is stored."""

    @abstractmethod
    def rows(self, tokens: Tokens) -> list[list[int]]:
        """Return the rows for inference, which fit; several if a text is read in windows."""

    @abstractmethod
    def ask(self, text: str) -> Texts:
        """Split a line of input into the texts of an example."""

    @abstractmethod
    def segments(self, ids: Int[Tensor, "row position"]) -> Int[Tensor, "row position"] | None:
        """Return the text of each position, if the body has segments."""

    @abstractmethod
    def features(self, texts: Iterable[Texts], ngrams: Ngrams) -> Features:
        """Extract the features of texts for the baseline."""

    def build(self) -> Classifier | Han:
        return classifier(self.recipe.model, self.tokenizer.size, self.labels.columns)

    def prepare_model(self, model: Reader, store: Store) -> None:
        """Drop rare n-grams, and count the labels if classes are weighted."""
        filter_ngrams(model, store.rows(1), least=self.recipe.model.embedding.ngram_min_count)
        if self.recipe.training.class_weights == "balanced":
            every = [store[number][0].tolist() for number in range(len(store))]
            self.shares = self.labels.targets(every).mean(dim=0)

    def batch(
        self,
        store: Store,
        numbers: NDArray[np.int64],
        key: tuple[int, ...],
        *,
        progress: float = 0.0,
    ) -> Batch:
        batch = collate(store, numbers, filler=special.PAD)
        rng = np.random.default_rng(list(key))
        labels, texts = batch.fields
        rows = [self._augment(row, rng) for row in _rows(texts)]
        return Batch((labels, pad(rows, filler=special.PAD)), numbers)

    def _augment(self, row: list[int], rng: np.random.Generator) -> list[int]:
        """Draw a part of a row that is too long, and apply BPE dropout."""
        longest = self.recipe.text.max_length
        if len(row) > longest:
            row = [special.CLS, *draw_window(row[1:-1], longest - 2, rng), special.SEP]
        if self.dropout is None:
            return row
        marks = [at for at, id in enumerate(row) if id in (special.CLS, special.SEP)]
        spans = [row[begin + 1 : end] for begin, end in pairwise(marks)]
        anew = [special.CLS]
        for span in self.dropout.resegment(spans, rng):
            anew += [*span, special.SEP]
        return anew if len(anew) <= longest else row

    def encode_text(self, text: str) -> Batch:
        """Encode one text; of several windows the first."""
        (tokens,) = self._tokens([self.ask(text)])
        return self.pad([([0], self.rows(tokens)[0])])

    def encode(self, examples: list[Texts]) -> list[tuple[list[int], ...]]:
        """Return the numbers of the labels, and [CLS] text [SEP] (text [SEP])."""
        tokens = self._tokens([example[:-1] for example in examples])
        return [
            (self.labels.numbers(example[-1]), self.stored(texts))
            for texts, example in zip(tokens, examples, strict=True)
        ]

    def _tokens(self, texts: Sequence[Texts]) -> list[Tokens]:
        sides = (self.pieces(side) for side in zip(*texts, strict=True))
        return list(zip(*sides, strict=True))

    def loss(self, model: Reader, batch: Batch) -> Loss:
        """Sum over examples; with two forward passes, their mean."""
        settings, labels = self.recipe.training, self.labels
        targets = labels.targets(_rows(batch.fields[0])).to(batch.fields[1].ids.device)
        smoothing = settings.label_smoothing if model.training else 0.0

        def lost(logits: Tensor) -> Tensor:
            return labels.lost(logits, targets, smoothing=smoothing)

        read = partial(self.states, model, batch)
        passes = passes_of(self.recipe, model, read, lambda logits: lost(logits).sum())
        each = torch.stack([lost(passed.logits) for passed in passes]).mean(dim=0)
        alike = torch.stack([passed.penalty for passed in passes]).mean(dim=0)
        if self.shares is not None:
            each = each * labels.weights(targets, self.shares.to(targets.device))
        total = (each + alike).sum()
        if model.training and settings.consistency:
            total = total + settings.consistency * labels.divergence(*(p.logits for p in passes))
        plain = labels.lost(passes[0].logits.detach(), targets, smoothing=0.0).sum()
        return Loss(total, float(plain), len(targets))

    def states(self, model: Reader, batch: Batch) -> Tensor:
        ids, lengths = batch.fields[1]
        return model(ids, lengths=lengths, segments=self.segments(ids))

    def _question(self, model: Reader, inquiry: Inquiry) -> Question:
        return label_question(self, self.labels, model, inquiry, self.ensemble)

    def text_attention(self, model: Reader, text: str) -> TextAttention | None:
        settings = self.recipe.model
        if settings.documents.read != "sentences" and settings.head.pooling != "hops":
            return None
        return text_attention(self, self.labels, model, text)

    def describe_expectation(self, found: Sequence[Texts]) -> str:
        return describe_expectation(self.labels, self.features, found)

    def fit_baseline(self, source: Examples) -> dict[str, Tensor]:
        return self.ensemble.learn(source)

    def load_baseline(self, parameters: Mapping[str, Tensor]) -> None:
        self.ensemble.put(parameters)
        self.decisions.put(parameters)

    def fit_ensemble(self, model: Reader, held_out: Sequence[Texts]) -> dict[str, Tensor]:
        """Fit the share of the baseline, and then the thresholds of several labels."""
        texts, written = [one[:-1] for one in held_out], [one[-1] for one in held_out]
        network = self.read(model, texts)
        share = self.ensemble.fit(network, texts, written)
        answers = self.ensemble.join(network, texts)
        return share | self.decisions.fit(network, answers, written)

    def measure(self, model: Reader, examples: Sequence[Texts], *, quick: bool) -> Evaluation:
        """Score model, baseline, and both together with equal shares."""
        texts, written = [one[:-1] for one in examples], [one[-1] for one in examples]
        mine = self.read(model, texts)
        labels, answers = self.decisions.labels(), self.ensemble.join(mine, texts)
        predicted = labels.predict(answers.all)
        return Evaluation(
            labels.score(answers.all, written),
            self.decisions.score("baseline", answers.bag, written),
            labels.signature,
            len(examples),
            [
                Sample(" | ".join(asked)[:SHOWN], label, said.text, labels.right(said.text, label))
                for asked, label, said in zip(texts, written, predicted, strict=True)
            ],
            self.decisions.score("together", answers.together, written),
            {} if quick else self._details(mine, answers, written),
        )

    def read(self, model: Reader, texts: Sequence[Texts]) -> Tensor:
        """Return what the network alone says of texts."""
        return self._logits(model, [self.rows(tokens) for tokens in self._tokens(texts)])

    def answer_with(self, other: Task[Any], model: nn.Module) -> None:
        """Let another run's network answer as well, each with an equal share."""
        mine, theirs = self.recipe.task, other.recipe.task
        if not isinstance(other, Labelled) or mine != theirs:
            problem = f'the runs of an ensemble must be of one task. Got "{mine}" and "{theirs}".'
            raise UsageError(problem, "Name a run of the same task.")
        assert isinstance(model, Classifier | Han)
        self.ensemble.ask_also(partial(other.read, model), other.labels)

    def _details(self, mine: Tensor, answers: Answers, written: Sequence[str]) -> dict[str, Any]:
        """Return the task's details, the share of the baseline, and the members' own scores."""
        details = self.decisions.labels().details(answers.all, written)
        every = self.ensemble.voices(mine, answers)
        score = self.decisions.score
        alone = {who: score(who, said, written)[self.metric] for who, said in every.items()}
        if fitted := self.ensemble.fitted:
            details["fitted"] = {"baseline_share": fitted.share, "held_out": fitted.texts}
        return {**details, "alone": alone} if alone else details

    def answer(
        self, model: Reader, texts: Sequence[str], *, quick: bool = False, truncate: bool = False
    ) -> list[Prediction]:
        """Predict the label of each text; a blank text has none."""
        answers = [Prediction("", 0.0, 0)] * len(texts)
        asked = [place for place, text in enumerate(texts) if text.strip()]
        if not asked:
            return answers
        taken = [self.ask(texts[place]) for place in asked]
        tokens = self._tokens(taken)
        lost = [self._count_truncated(one, truncate=truncate) for one in tokens]
        mine = self._logits(model, [self.rows(one) for one in tokens])
        predicted = self.decisions.labels().predict(self.ensemble.join(mine, taken).all)
        for place, one, count in zip(asked, predicted, lost, strict=True):
            answers[place] = Prediction(
                *one[:2], count, one.probabilities, labels=one.labels, score=one.score
            )
        return answers

    def _count_truncated(self, tokens: Tokens, *, truncate: bool) -> int:
        """Count the truncated tokens; raise an error if the recipe does not truncate."""
        settings, length = self.recipe.text, len(self.stored(tokens))
        if settings.overlong == "leave-out" and length > settings.max_length and not truncate:
            raise UsageError(
                f"a text must fit the model's input. Got {length} tokens; this model reads at most "
                f"{settings.max_length}.",
                "Shorten the text, or truncate it with --truncate.",
            )
        marks = len(tokens) + 1
        read = sum(len(row) - marks for row in self.rows(tokens))
        return max(0, sum(map(len, tokens)) - read)

    @torch.inference_mode()
    def _logits(self, model: Reader, rows: list[list[list[int]]]) -> Tensor:
        """Compute logits in batches of similar length; those of several windows are averaged."""
        model.eval()
        flat = [(text, row) for text, own in enumerate(rows) for row in own]
        order = sorted(range(len(flat)), key=lambda at: len(flat[at][1]))
        lengths = np.asarray([len(flat[at][1]) for at in order])
        cuts = cut_batches(lengths, budget=BATCH_TOKENS)
        total = torch.zeros(len(rows), self.labels.columns)
        for begin, end in pairwise(cuts):
            some = [flat[at] for at in order[begin:end]]
            ids, counts = pad([row for _, row in some], filler=special.PAD).to(device_of(model))
            logits = model(ids, lengths=counts, segments=self.segments(ids)).cpu()
            total.index_add_(0, torch.tensor([text for text, _ in some]), logits)
        return total / torch.tensor([[len(own)] for own in rows])


def _rows(padded: Padded) -> list[list[int]]:
    return [row[:n] for row, n in zip(padded.ids.tolist(), padded.lengths.tolist(), strict=True)]
