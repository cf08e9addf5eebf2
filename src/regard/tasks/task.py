"""The task: the one interface between training, inference and what an answer is.

A task knows its fields, how texts become ids, what a batch loses, how a model answers and how its
answers are measured. The loop knows none of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.data.batch import Batch, pad
from regard.data.check import Report
from regard.data.record import Found, Record, Request
from regard.data.source import RecordReader, scan
from regard.data.split import describe_missing_group
from regard.data.store import Store
from regard.data.stream import AnyStream, Stream
from regard.device import device_of
from regard.errors import DataError, UsageError
from regard.ledger.load import Load
from regard.recipe.recipe import Recipe
from regard.tasks.cost import Cost
from regard.tasks.foreign import Adoption, ForeignEncoder
from regard.tasks.losses import Loss
from regard.tasks.question import AnsweredBatch, Inquiry, Question, TextAttention
from regard.tasks.suggest.survey import Seen, survey
from regard.text import special
from regard.text.tokenizer import Tokenizer

Texts = tuple[str, ...]
Examples = Callable[[], Iterator[Texts]]
"""Examples that can be read from the beginning as often as wanted; never all in memory."""


class Sample(NamedTuple):
    """One answer beside what was asked and what was expected."""

    asked: str
    expected: str
    answered: str
    score: float | None = None
    """What this answer alone is worth, such as 1 where it is right; None if only all together are
    worth something."""


class Measured(NamedTuple):
    """What a model scores on a split, beside what a plain baseline scores there."""

    metrics: dict[str, float]
    baseline: dict[str, float]
    signature: dict[str, str]
    examples: int
    samples: list[Sample]
    together: dict[str, float] = {}  # noqa: RUF012 - never written to
    """What model and baseline score when they answer together, where they can."""
    details: dict[str, Any] = {}  # noqa: RUF012
    """What one number cannot say, such as a confusion matrix; as JSON has it."""

    def as_json(self) -> dict[str, Any]:
        """Return the scores under the names that scripts rely on."""
        together = {"together": self.together} if self.together else {}
        return {
            "metrics": {**self.metrics, "baseline": self.baseline, **together},
            "signature": self.signature,
            "count": self.examples,
            **({"details": self.details} if self.details else {}),
        }


class Answered(NamedTuple):
    """One answer to one text."""

    text: str
    log_probability: float
    truncated: int
    """Tokens of the question that did not fit and were not read."""
    probabilities: dict[str, float] = {}  # noqa: RUF012 - never written to
    """By label, where the answer is one."""
    ids: tuple[int, ...] = ()
    """The tokens of an answer that was written, without its ending: the search's own."""
    vector: tuple[float, ...] = ()
    """What a text became, where the answer is no text."""
    entities: tuple[dict[str, Any], ...] | None = None
    """Spans of the text with ``entity_group``, ``score``, ``word``, ``start`` and ``end``."""


ModelT = TypeVar("ModelT", bound=nn.Module)
"""The model that a task trains and asks."""


class Task(Cost, ABC, Generic[ModelT]):
    """What an answer is.

    Args:
        recipe: The whole recipe.
        tokenizer: Between texts and ids.

    """

    fields: int
    """How many fields an example has."""
    texts: int
    """How many of them, from the first on, are text that the tokenizer learns from."""
    metric: str
    """The metric that chooses the best model."""
    baseline: str
    """What the plain baseline is, in words that follow "the baseline is"."""
    corpus_metric: ClassVar[bool] = False
    """Whether the metric is of all answers together (BLEU), not a mean over examples."""
    pruning_examples: ClassVar[int] = 400
    """How many examples each pruned model is measured on by ``regard heads``."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        self.recipe, self.tokenizer = recipe, tokenizer

    @classmethod
    def complete(cls, recipe: Recipe, source: Examples) -> Recipe:
        """Write into the recipe what only the training examples can say, such as the labels."""
        return recipe

    @classmethod
    def survey(cls, files: Sequence[str]) -> Seen:
        """Count the examples in files that no recipe describes yet, and their words."""
        return survey(files, expected=cls.fields)

    @classmethod
    def complete_without_data(cls, recipe: Recipe) -> Recipe:
        """Fill in what only the data could say, where there is none to read."""
        return recipe

    @classmethod
    def synthetic_fields(cls, recipe: Recipe, number: int) -> Texts:
        """Return what may stand behind the texts of the example of this number."""
        return ()

    @classmethod
    def records(cls, recipe: Recipe, files: Sequence[str], split: str) -> Iterator[Found]:
        """Read files as the recipe says: records of as many fields as an example has."""
        data = recipe.data
        group = data.group if split == "train" else ""
        request = Request(cls.fields, data.fields, data.languages, data.label_separator, group)
        return scan(files, request, format=data.format, split=split)

    @classmethod
    def read_records(cls, recipe: Recipe, files: Sequence[str], split: str) -> Iterator[Record]:
        """Read records; one that the task cannot take is named by its place."""
        data = recipe.data
        found = cls.records(recipe, files, split)
        needs_group = data.group and split == "train" and not data.valid
        for record in RecordReader(found, skip=data.on_bad_line == "skip"):
            refusal = cls.refusal(recipe, record.fields)
            if needs_group and not record.group:
                refusal = describe_missing_group(data.group)
            if refusal:
                problem, remedy = refusal
                raise DataError(f"{record.file}:{record.line}: {problem}", remedy)
            yield record

    @classmethod
    def read_examples(cls, recipe: Recipe, files: Sequence[str], split: str) -> Iterator[Texts]:
        """Read the fields of records."""
        for record in cls.read_records(recipe, files, split):
            yield record.fields

    @classmethod
    def check(cls, recipe: Recipe) -> Report | None:
        """Check data of a shape that only the task knows; None for what every task can have."""
        return None

    @classmethod
    def refusal(cls, recipe: Recipe, fields: Texts) -> tuple[str, str] | None:
        """Say what is wrong with an example that could be read, and the remedy; None if nothing."""
        return None

    @abstractmethod
    def load(self, batch: Batch) -> Load:
        """Say what a batch holds, as the account counts it."""

    @classmethod
    def adopt(cls, encoder: ForeignEncoder) -> Adoption | None:
        """Say how the task uses an encoder that another library trained; None if it cannot."""
        return None

    @property
    def longest(self) -> int | None:
        """The most ids an example's field may have in the store; None for any number."""
        return self.recipe.text.max_length

    @property
    def encoded_by(self) -> tuple[str, ...]:
        """Name what else than texts and tokenizer decides the ids in the store."""
        return ()

    def stream(self, store: Store) -> AnyStream:
        """Say which examples come at which step."""
        recipe = self.recipe
        return Stream(store, seed=recipe.seed, batch_tokens=recipe.training.batch_tokens)

    def learn_baseline(self, source: Examples) -> dict[str, Tensor]:
        """Learn from the training examples what a plain baseline needs; it is kept in the run."""
        return {}

    def put_baseline(self, parameters: Mapping[str, Tensor]) -> None:
        """Take up a baseline that was learned before."""

    @abstractmethod
    def build(self) -> ModelT:
        """Build the model, its parameters drawn from torch's generator."""

    def begin(self, model: ModelT, store: Store) -> None:
        """Let what the training examples show shape the model before its first step."""

    def end(self, model: ModelT) -> None:
        """Leave in the model what is to be kept, after its last step."""

    @abstractmethod
    def encode(self, examples: list[tuple[str, ...]]) -> list[tuple[list[int], ...]]:
        """Turn texts into the ids the store keeps."""

    @abstractmethod
    def batch(
        self,
        store: Store,
        numbers: NDArray[np.int64],
        key: tuple[int, ...],
        *,
        progress: float = 0.0,
    ) -> Batch:
        """Take examples out of the store.

        ``key`` names any random choice made on the way; ``progress`` is the share of the training
        that is done, from 0 to 1.
        """

    def pad(self, rows: Sequence[tuple[list[int], ...]]) -> Batch:
        """Put encoded examples side by side."""
        fields = tuple(pad(list(side), filler=special.PAD) for side in zip(*rows, strict=True))
        return Batch(fields, np.arange(len(rows)))

    def asked(self, text: str) -> Batch:
        """Put a text as it is read when it is asked, for whoever listens to the taps."""
        rows = self.encode([(text,)])
        most = self.recipe.text.max_length
        if len(rows[0][0]) > most:
            raise UsageError(
                f"a text must fit what the model reads at once. Got {len(rows[0][0])} tokens; it "
                f"reads {most}.",
                "Take a part of the text.",
            )
        return self.pad(rows)

    def answer_batch(
        self,
        model: ModelT,
        text: str,
        target: str | None = None,
        *,
        go_on: bool = False,
    ) -> AnsweredBatch:
        """Answer a text, and put it as the model reads it, with the answer if that is written.

        ``target`` is taken as the answer where one is written; ``go_on`` lets a language model go
        on with the text.
        """
        return self._answer_batch(model, self._checked(Inquiry(text, target, go_on=go_on)))

    def question(
        self,
        model: ModelT,
        text: str,
        target: str | None = None,
        *,
        label: str | None = None,
        go_on: bool = False,
        pieces: bool = False,
    ) -> Question:
        """Say what there is to explain about the answer to a text.

        ``target`` asks about another written answer than the model's own; ``label`` about another
        label than the likeliest; ``go_on`` about what a language model writes next instead of the
        last word given; ``pieces`` scores tokens instead of words.
        """
        inquiry = Inquiry(text, target, label=label, go_on=go_on, pieces=pieces)
        return self._question(model, self._checked(inquiry))

    def _checked(self, inquiry: Inquiry) -> Inquiry:
        """Refuse to explain an empty text, or what an answer of this task does not have."""
        task = self.recipe.task
        if not inquiry.text.strip():
            raise UsageError(
                "there must be a text to explain. Got an empty one.", "Give some words."
            )
        if inquiry.target is not None and not self.writes_target:
            raise UsageError(
                f"only a sequence-to-sequence task takes a target. This is a run of {task}.",
                "Leave the target out.",
            )
        if inquiry.label is not None and not self.has_labels:
            raise UsageError(
                f"only a classifier has labels. This is a run of {task}.", "Leave --label out."
            )
        if inquiry.go_on and not self.continues_text:
            raise UsageError(
                f"only a language model goes on with a text. This is a run of {task}.",
                "Leave --continue out.",
            )
        return inquiry

    def _answer_batch(self, model: ModelT, inquiry: Inquiry) -> AnsweredBatch:
        try:
            answer = self.answer(model, [inquiry.text], quick=True, cut=True)[0].text
        except UsageError:  # it asks nothing, such as one without a mask, but can still be read
            answer = ""
        return AnsweredBatch(answer, self.asked(inquiry.text))

    def _question(self, model: ModelT, inquiry: Inquiry) -> Question:
        raise UsageError(
            f"an attribution needs a number to explain. A run of {self.recipe.task} with this "
            "objective gives none for a text.",
            "Show its attention weights instead: --attribution weights.",
        )

    def text_attention(self, model: ModelT, text: str) -> TextAttention | None:
        """Record the attention of hops or sentences over a text; None for a model without them."""
        return None

    def explanation_notes(self, text: str) -> tuple[str, ...]:
        """Say what an explanation of the model's answer to a text leaves out."""
        return ()

    def traced_rows(self, examples: Sequence[Texts]) -> list[tuple[list[int], ...]]:
        """Encode examples so that :meth:`pad` takes them; long ones are cut to what is read."""
        most = self.recipe.text.max_length - 1
        return [tuple(list(f)[:most] for f in row) for row in self.encode(list(examples))]

    @abstractmethod
    def loss(self, model: ModelT, batch: Batch) -> Loss:
        """Say what a batch loses."""

    @abstractmethod
    def states(self, model: ModelT, batch: Batch) -> Tensor:
        """Run the model over a batch, for whoever listens to its taps."""

    @torch.inference_mode()
    def vectors(self, model: ModelT, texts: Sequence[str]) -> Float[Tensor, "text feature"]:
        """Give a vector for each text, 0 for a blank one: the mean of its body's last states."""
        body = getattr(model, "body", None)
        if not isinstance(body, nn.Module):
            raise UsageError(
                f"only a model with a body gives vectors. A run of {self.recipe.task} has none.",
                "Train a run of a task whose model only reads, such as retrieval.",
            )
        model.eval()
        found: list[Tensor] = []
        hook = body.register_forward_hook(lambda _body, _given, states: found.append(states))
        try:
            for text in texts:
                if text.strip():
                    self.states(model, self.asked(text).to(device_of(model)))
                else:
                    found.append(torch.zeros(1, 1, self.recipe.model.width))
        finally:
            hook.remove()
        return torch.stack([states[0].float().mean(dim=0).cpu() for states in found])

    def answer_with(self, other: "Task[Any]", model: nn.Module) -> None:
        """Let another run's model answer as well, where answers can be joined."""
        raise UsageError(
            f'runs answer together where the answer is a label. The task is "{self.recipe.task}".',
            "Ask one run at a time.",
        )

    @abstractmethod
    def measure(
        self,
        model: ModelT,
        examples: Sequence[tuple[str, ...]],
        *,
        quick: bool,
    ) -> Measured:
        """Score the model on examples; ``quick`` for the many times while training."""

    @abstractmethod
    def answer(
        self,
        model: ModelT,
        texts: Sequence[str],
        *,
        quick: bool = False,
        cut: bool = False,
    ) -> list[Answered]:
        """Answer each text; one that is too long is refused, or shortened if ``cut``."""
