"""The task interface: everything that training and inference ask of a task.

A task defines the fields of an example, how texts are encoded, the loss of a batch, how a model
predicts and how predictions are scored. Training and inference depend on nothing else.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.data.batch import Batch, pad
from regard.data.check import LabelChecks, Report
from regard.data.check import check as check_data
from regard.data.record import Fault, Found, Request
from regard.data.source import RecordReader, scan
from regard.data.split import describe_missing_group
from regard.data.store import Store
from regard.data.stream import AnyStream, Stream
from regard.device import device_of
from regard.errors import UsageError
from regard.ledger.load import Load
from regard.recipe.data import DataSettings
from regard.recipe.recipe import Recipe
from regard.tasks.cost import Cost
from regard.tasks.foreign import FRAMED, Adoption, Export, ForeignEncoder, kind_of_body
from regard.tasks.losses import Loss
from regard.tasks.question import AnsweredBatch, Inquiry, Question, TextAttention
from regard.tasks.suggest.survey import DataSurvey, survey
from regard.text import special
from regard.text.tokenizer import Tokenizer

Texts = tuple[str, ...]
Examples = Callable[[], Iterator[Texts]]
"""Returns a new iterator over examples at each call; they are never all in memory."""


class Sample(NamedTuple):
    """A prediction with its input and the expected output."""

    asked: str
    expected: str
    answered: str
    score: float | None = None
    """Score of this prediction, such as 1 if it is correct; None for a corpus-level metric."""


class Evaluation(NamedTuple):
    """Scores of a model on a split, and of its baseline on the same examples."""

    metrics: dict[str, float]
    baseline: dict[str, float]
    signature: dict[str, str]
    examples: int
    samples: list[Sample]
    together: dict[str, float] = {}  # noqa: RUF012 - never written to
    """Scores of the ensemble of model and baseline, if the task has one."""
    details: dict[str, Any] = {}  # noqa: RUF012
    """Further results as JSON, such as a confusion matrix."""

    def as_json(self) -> dict[str, Any]:
        """Return the scores under the names that scripts rely on."""
        together = {"together": self.together} if self.together else {}
        return {
            "metrics": {**self.metrics, "baseline": self.baseline, **together},
            "signature": self.signature,
            "count": self.examples,
            **({"details": self.details} if self.details else {}),
        }


class Prediction(NamedTuple):
    """The prediction for one text; which fields are set depends on the task."""

    text: str
    log_probability: float
    truncated: int
    """Input tokens that were truncated."""
    probabilities: dict[str, float] = {}  # noqa: RUF012 - never written to
    """By label, for a classifier."""
    ids: tuple[int, ...] = ()
    """Generated tokens without the end token."""
    vector: tuple[float, ...] = ()
    """The embedding of the text, for a task that encodes."""
    entities: tuple[dict[str, Any], ...] | None = None
    """Spans of the text with ``entity_group``, ``score``, ``word``, ``start`` and ``end``."""
    labels: tuple[str, ...] | None = None
    """The labels, where a text may have several; there may be none."""
    score: float | None = None
    """The predicted score, for a run of scores."""


ModelT = TypeVar("ModelT", bound=nn.Module)
"""The model that a task trains."""


class Task(Cost, ABC, Generic[ModelT]):
    """Fields, encoding, model, loss, predictions and metrics of one kind of problem.

    Args:
        recipe: The whole recipe.
        tokenizer: Converts texts to ids and back.

    """

    fields: int
    """How many fields an example has."""
    texts: int
    """How many of them, from the first on, are texts that the tokenizer is trained on."""
    roles: ClassVar[tuple[str, ...]] = ("text",)
    """What the fields are; columns are chosen and named by it."""
    reads_columns: ClassVar[bool] = True
    """Whether the columns of tables are chosen by ``roles``; else the task has its own."""
    metric: str
    """The metric that selects the best checkpoint."""
    baseline: str
    """Name of the baseline, as it follows "the baseline is"."""
    corpus_metric: ClassVar[bool] = False
    """Whether the metric is corpus-level (BLEU), not a mean over examples."""
    pruning_examples: ClassVar[int] = 400
    """How many examples each pruned model is measured on by ``regard heads``."""
    attribution: ClassVar[str] = "weights"
    """How ``regard explain`` scores words by default; docs/explain.md compares the attributions."""
    exported: ClassVar[Export] = Export("encoder", "states", FRAMED)
    """What the model is to other libraries, unless the recipe says more."""
    cancelled: Callable[[], Collection[int]] | None = None
    """Called between decoding steps of :meth:`answer`: the places of texts nobody waits for."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        self.recipe, self.tokenizer = recipe, tokenizer

    @classmethod
    def complete(cls, recipe: Recipe, source: Examples) -> Recipe:
        """Add to the recipe what only the training examples determine, such as the labels."""
        return recipe

    @classmethod
    def survey(cls, data: DataSettings) -> DataSurvey:
        """Count the examples and words in files that no recipe describes yet."""
        return survey(data, cls.request(data))

    @classmethod
    def complete_without_data(cls, recipe: Recipe) -> Recipe:
        """Do the same with placeholders, to time steps without data."""
        return recipe

    @classmethod
    def synthetic_fields(cls, recipe: Recipe, number: int) -> Texts:
        """Return synthetic values of the fields that follow the texts."""
        return ()

    @classmethod
    def request(cls, data: DataSettings) -> Request:
        """Return what to read from files: the columns of an example's fields."""
        return Request(
            cls.fields,
            data.fields,
            data.languages,
            data.label_separator,
            data.group,
            data.encoding,
            cls.roles,
            data.scores,
        )

    @classmethod
    def records(cls, recipe: Recipe, files: Sequence[str], split: str) -> Iterator[Found]:
        """Read the records and faults of files, with as many fields as an example has."""
        data = recipe.data
        request = cls.request(data)
        if split != "train":
            request = request._replace(group="")
        return scan(files, request, format=data.format, split=split)

    @classmethod
    def read_records(cls, recipe: Recipe, files: Sequence[str], split: str) -> RecordReader:
        """Read records; one that the task cannot use is a bad line, as one that is not parsed."""

        def check(found: Found) -> Found:
            if isinstance(found, Fault):
                return found
            refusal = cls.refusal(recipe, found.fields)
            if needs_group and not found.group:
                refusal = describe_missing_group(data.group)
            return Fault("refused", "bad", found.file, found.line, *refusal) if refusal else found

        data = recipe.data
        needs_group = data.group and split == "train" and not data.valid
        found = map(check, cls.records(recipe, files, split))
        return RecordReader(found, skip=data.on_bad_line == "skip")

    @classmethod
    def read_examples(cls, recipe: Recipe, files: Sequence[str], split: str) -> Iterator[Texts]:
        """Read the fields of records."""
        for record in cls.read_records(recipe, files, split):
            yield record.fields

    @classmethod
    def check(cls, recipe: Recipe) -> Report:
        """Check the data of every split."""
        data = recipe.data
        long = data.format == "whole" or cls.long_texts
        return check_data(
            {"train": data.train, "valid": data.valid, "test": data.test},
            format=data.format,
            request=cls.request(data),
            labelled=LabelChecks(data.scores, partial(cls.refusal, recipe))
            if cls.fields > cls.texts
            else False,
            **({"longest_characters": sys.maxsize} if long else {}),
        )

    @classmethod
    def refusal(cls, recipe: Recipe, fields: Texts) -> tuple[str, str] | None:
        """Return problem and remedy for a parsed example that the task cannot use, else None."""
        return None

    @abstractmethod
    def load(self, batch: Batch) -> Load:
        """Return the size of a batch in the units of the account."""

    @classmethod
    def adopt(cls, encoder: ForeignEncoder) -> Adoption | None:
        """Return how the task uses an encoder that another library trained; None if it cannot."""
        return None

    def export(self) -> Export:
        """Return what the model is to other libraries."""
        return self.exported._replace(kind=kind_of_body(causal=self.recipe.model.causal))

    @property
    def longest(self) -> int | None:
        """The most ids an example's field may have in the store; None for any number."""
        return self.recipe.text.max_length

    @property
    def encoding_key(self) -> tuple[str, ...]:
        """Return the settings, besides the tokenizer, that the ids in the store depend on."""
        return ()

    def stream(self, store: Store) -> AnyStream:
        """Return the stream that assigns examples to steps."""
        recipe = self.recipe
        return Stream(store, seed=recipe.seed, batch_tokens=recipe.training.batch_tokens)

    def describe_expectation(self, found: Sequence[Texts]) -> str:
        """Say what to expect of a training, by some examples; "" if there is no quick way."""
        return ""

    def fit_baseline(self, source: Examples) -> dict[str, Tensor]:
        """Fit the baseline on the training examples; return the parameters to store in the run."""
        return {}

    def load_baseline(self, parameters: Mapping[str, Tensor]) -> None:
        """Load the parameters of a fitted baseline."""

    def fit_ensemble(self, model: ModelT, held_out: Sequence[Texts]) -> dict[str, Tensor]:
        """Fit the shares of model and baseline on held-out examples; return what to store."""
        return {}

    @abstractmethod
    def build(self) -> ModelT:
        """Build the model and initialize its parameters from torch's global generator."""

    def prepare_model(self, model: ModelT, store: Store) -> None:
        """Initialize what depends on the training examples, before the first step."""

    def finish_model(self, model: ModelT) -> None:
        """Reduce the model to what is stored, after the last step."""

    @abstractmethod
    def encode(self, examples: list[tuple[str, ...]]) -> list[tuple[list[int], ...]]:
        """Encode examples as the ids that are stored."""

    @abstractmethod
    def batch(
        self,
        store: Store,
        numbers: NDArray[np.int64],
        key: tuple[int, ...],
        *,
        progress: float = 0.0,
    ) -> Batch:
        """Load the examples with these ``numbers`` from the store.

        ``key`` seeds every random choice; ``progress`` is the completed share of training, 0 to 1.
        """

    def pad(self, rows: Sequence[tuple[list[int], ...]]) -> Batch:
        """Pad encoded examples to a batch."""
        fields = tuple(pad(list(side), filler=special.PAD) for side in zip(*rows, strict=True))
        return Batch(fields, np.arange(len(rows)))

    def encode_text(self, text: str) -> Batch:
        """Encode one text as :meth:`answer` does; return a batch of one."""
        rows = self.encode([(text,)])
        self.check_length(len(rows[0][0]))
        return self.pad(rows)

    def check_length(self, tokens: int) -> None:
        """Refuse a text of more tokens than the model reads."""
        most = self.recipe.text.max_length
        if tokens > most:
            raise UsageError(
                f"a text must fit the model's input. Got {tokens} tokens; this model reads at most "
                f"{most}.",
                "Shorten the text.",
            )

    def answer_batch(
        self,
        model: ModelT,
        text: str,
        target: str | None = None,
        *,
        continue_text: bool = False,
    ) -> AnsweredBatch:
        """Answer a text; return the answer and the batch that the model reads.

        ``target`` replaces the answer of an encoder-decoder; ``continue_text`` lets a language
        model generate.
        """
        inquiry = Inquiry(text, target, continue_text=continue_text)
        return self._answer_batch(model, self._check(inquiry))

    def question(
        self,
        model: ModelT,
        text: str,
        target: str | None = None,
        *,
        label: str | None = None,
        continue_text: bool = False,
        pieces: bool = False,
    ) -> Question:
        """Return the numbers that an attribution of the answer to a text explains.

        ``target`` replaces the answer of an encoder-decoder; ``label`` replaces the most likely
        label; ``continue_text`` explains the next generated word of a language model instead of
        the last word given; ``pieces`` scores tokens instead of words.
        """
        inquiry = Inquiry(text, target, label=label, continue_text=continue_text, pieces=pieces)
        return self._question(model, self._check(inquiry))

    def cancelled_rows(self, places: Sequence[int]) -> Callable[[], list[int]] | None:
        """Say which rows of a search over the texts at these places are cancelled."""
        cancelled = self.cancelled
        if cancelled is None:
            return None

        def rows() -> list[int]:
            gone = cancelled()
            return [row for row, place in enumerate(places) if place in gone] if gone else []

        return rows

    def _check(self, inquiry: Inquiry) -> Inquiry:
        """Refuse an empty text and options that do not apply to the task."""
        task = self.recipe.task
        if not inquiry.text.strip():
            raise UsageError("the text to explain must not be empty.", "Give at least one word.")
        if inquiry.target is not None and not self.writes_target:
            raise UsageError(
                f"a target needs an encoder-decoder. The task of this run is {task}.",
                "Leave the target out.",
            )
        if inquiry.label is not None and not self.has_labels:
            raise UsageError(
                f"--label needs a classifier. The task of this run is {task}.",
                "Leave --label out.",
            )
        if inquiry.continue_text and not self.continues_text:
            raise UsageError(
                f"--continue needs a language model. The task of this run is {task}.",
                "Leave --continue out.",
            )
        return inquiry

    def _answer_batch(self, model: ModelT, inquiry: Inquiry) -> AnsweredBatch:
        try:
            answer = self.answer(model, [inquiry.text], quick=True, truncate=True)[0].text
        except UsageError:  # such as no [MASK] to fill: the attention is still defined
            answer = ""
        return AnsweredBatch(answer, self.encode_text(inquiry.text))

    def _question(self, model: ModelT, inquiry: Inquiry) -> Question:
        raise UsageError(
            f"an attribution needs a number to explain. A run of {self.recipe.task} with this "
            "objective has none.",
            "Show its attention weights instead: --attribution weights.",
        )

    def text_attention(self, model: ModelT, text: str) -> TextAttention | None:
        """Record the attention of a model that pools by hops or sentences; None for others."""
        return None

    def explanation_notes(self, text: str) -> tuple[str, ...]:
        """Return notes on what the explanation of a text leaves out."""
        return ()

    def encode_truncated(self, examples: Sequence[Texts]) -> list[tuple[list[int], ...]]:
        """Encode examples for :meth:`pad`, truncated to what the model reads."""
        most = self.recipe.text.max_length - 1
        return [tuple(list(f)[:most] for f in row) for row in self.encode(list(examples))]

    @abstractmethod
    def loss(self, model: ModelT, batch: Batch) -> Loss:
        """Compute the loss of a batch."""

    @abstractmethod
    def states(self, model: ModelT, batch: Batch) -> Tensor:
        """Run the model on a batch and return its last states; taps fire on the way."""

    @property
    def embedded_tokens(self) -> int | None:
        """Return the most tokens of a text that its vector depends on; None for any number."""
        return self.recipe.text.max_length - 2  # [CLS] and [SEP]

    def embeds(self, model: ModelT) -> bool:
        """Whether texts have vectors: a body reads each of them in one pass."""
        whole = self.recipe.model.documents.read == "whole"
        return whole and isinstance(getattr(model, "body", None), nn.Module)

    def vectors(self, model: ModelT, texts: Sequence[str]) -> Float[Tensor, "text feature"]:
        """Embed texts: the mean of the body's last states, 0 for a blank text."""
        return torch.stack([states.mean(dim=0) for states in self.token_states(model, texts)])

    @torch.inference_mode()
    def token_states(
        self, model: ModelT, texts: Sequence[str]
    ) -> list[Float[Tensor, "token feature"]]:
        """Return the body's last states of each text, special tokens included."""
        if not self.embeds(model):
            raise UsageError(
                f"vectors need an encoder. The task of this run is {self.recipe.task}.",
                "Use a run of another task, such as retrieval or masked-pretraining.",
            )
        model.eval()
        found: list[Tensor] = []
        body: Any = model.body
        hook = body.register_forward_hook(lambda _body, _given, states: found.append(states))
        try:
            for text in texts:
                if text.strip():
                    self.states(model, self.encode_text(text).to(device_of(model)))
                else:
                    found.append(torch.zeros(1, 1, self.recipe.model.width))
        finally:
            hook.remove()
        return [states[0].float().cpu() for states in found]

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
    ) -> Evaluation:
        """Evaluate the model; ``quick`` is the cheaper evaluation during training."""

    @abstractmethod
    def answer(
        self,
        model: ModelT,
        texts: Sequence[str],
        *,
        quick: bool = False,
        truncate: bool = False,
    ) -> list[Prediction]:
        """Answer each text; one that is too long raises an error unless ``truncate``."""
