"""A recipe: all settings of a run, in one file."""

from typing import Any

from pydantic import model_validator

from regard.recipe.data import DataSettings
from regard.recipe.decoding import DecodingSettings
from regard.recipe.denoising import DenoisingSettings
from regard.recipe.model import (
    LearnedSettings,
    ModelSettings,
    RelativeSettings,
    SinusoidalSettings,
)
from regard.recipe.pretraining import PretrainingSettings
from regard.recipe.retrieval import RetrievalSettings
from regard.recipe.settings import Refused, Seed, Settings
from regard.recipe.tasks import LABELLERS, WRITERS, TaskName, refuse_idle
from regard.recipe.text import TextSettings
from regard.recipe.training import TrainingSettings

MAY_BE_IDLE = "may be idle"
"""Key of a validation context: whether settings without an effect are allowed, as in old runs."""


class Recipe(Settings):
    """All settings of a run."""

    task: TaskName
    """The task."""
    seed: Seed = 1
    """Random seed: the same recipe and seed give the same run."""
    text: TextSettings = TextSettings()
    data: DataSettings
    model: ModelSettings = ModelSettings()
    pretraining: PretrainingSettings = PretrainingSettings()
    denoising: DenoisingSettings = DenoisingSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    training: TrainingSettings = TrainingSettings()
    decoding: DecodingSettings = DecodingSettings()

    @property
    def seed_of_draws(self) -> int:
        """The seed of sampled answers."""
        return self.seed if self.decoding.seed is None else self.decoding.seed

    def flat(self) -> dict[str, Any]:
        """Return every setting by its dotted path, as JSON has it."""
        return _flatten(self.model_dump(mode="json"))

    @model_validator(mode="after")
    def _check_effects(self, info: Any) -> "Recipe":  # noqa: ANN401 - pydantic's
        if not (info.context or {}).get(MAY_BE_IDLE):
            refuse_idle(self)
        return self

    @model_validator(mode="after")
    def _check_training_files(self) -> "Recipe":
        imported = self.model.start.imported is not None
        if not self.data.train and not imported:
            raise Refused("data.train names no file", "Name at least one, or world:scenes")
        if self.data.train and imported:
            raise Refused(
                "model.start.imported is for a run without training, but data.train names "
                f"{self.data.train[0]}",
                "Take imported out; to fine-tune, name the imported run in model.start.run",
            )
        return self

    @model_validator(mode="after")
    def _check_tokenizer(self) -> "Recipe":
        if self.text.tokenizer == "bert" and self.task in WRITERS:
            raise Refused(
                f'text.tokenizer "bert" is lossy, but task "{self.task}" generates text',
                "Start from a run that was trained here, or choose another task",
            )
        return self

    @model_validator(mode="after")
    def _check_positions(self) -> "Recipe":
        place = self.model.position
        if not isinstance(place, RelativeSettings | LearnedSettings):
            return self
        if isinstance(place, RelativeSettings) and place.buckets is not None:
            return self
        if self.text.max_length > place.positions:
            raise Refused(
                f"text.max_length = {self.text.max_length} is more than "
                f"model.position.positions = {place.positions}",
                f"Set text.max_length to at most {place.positions}, or raise positions",
            )
        return self

    @model_validator(mode="after")
    def _check_copying(self) -> "Recipe":
        if self.model.copying and self.training.consistency:
            raise Refused(
                f"training.consistency = {self.training.consistency:g} compares the generated "
                "distributions of two passes, but model.copying mixes them with copied tokens",
                "Set one of them only",
            )
        return self

    @model_validator(mode="after")
    def _check_overlong(self) -> "Recipe":
        whole = {"summarization": ("windows",), "denoising": ("windows", "head-tail")}
        if self.text.overlong in whole.get(self.task, ()):
            raise Refused(
                f'text.overlong = "{self.text.overlong}" does not keep the document in one piece, '
                f"which task {self.task} needs",
                'Set text.overlong to "head"',
            )
        return self

    @model_validator(mode="after")
    def _check_hops(self) -> "Recipe":
        if self.model.head.pooling == "hops" and self.task not in LABELLERS:
            raise Refused(
                f'model.head.pooling = "hops" is for labels, but task is "{self.task}"',
                'Set pooling to "mean", or task to "classification"',
            )
        return self

    @model_validator(mode="after")
    def _check_retrieval(self) -> "Recipe":
        if self.task == "retrieval" and self.data.group:
            raise Refused(
                f'data.group = "{self.data.group}" is a column, but retrieval is trained on '
                "documents without columns",
                "Take data.group out",
            )
        if self.retrieval.term_weights != "even" and self.model.head.pooling != "mean":
            raise Refused(
                "retrieval.term_weights are weights of mean pooling, but model.head.pooling is "
                f'"{self.model.head.pooling}"',
                'Set pooling to "mean", or term_weights to "even"',
            )
        return self

    @model_validator(mode="after")
    def _check_document_vectors(self) -> "Recipe":
        if self.task != "document-vectors":
            return self
        if self.model.depth:
            raise Refused(
                "document-vectors trains embeddings without blocks, but model.depth is "
                f"{self.model.depth}",
                "Set depth to 0; blocks can be added in the run that starts from this one",
            )
        if self.training.optimizer.kind != "sgd":
            raise Refused(
                "document-vectors is trained with SGD, but training.optimizer.kind is "
                f'"{self.training.optimizer.kind}"',
                'Set kind to "sgd"',
            )
        return self

    @model_validator(mode="after")
    def _check_pretraining(self) -> "Recipe":
        if self.task != "masked-pretraining":
            return self
        objective, position = self.pretraining.objective, self.model.position
        if objective == "autoencoder" and not isinstance(
            position, SinusoidalSettings | LearnedSettings
        ):
            raise Refused(
                'pretraining.objective "autoencoder" needs positions that are added to the '
                f'states, but model.position.kind is "{position.kind}"',
                'Set model.position.kind to "sinusoidal" or "learned"',
            )
        if objective == "hybrid" and self.model.mixer.kind != "attention":
            raise Refused(
                'pretraining.objective "hybrid" needs a causal mask in some rows, which only '
                f'attention has; model.mixer.kind is "{self.model.mixer.kind}"',
                'Set model.mixer.kind to "attention", or the objective to "masked"',
            )
        if self.model.causal:
            raise Refused(
                "masked-pretraining is bidirectional, but model.causal is true",
                'Take causal out, or set task to "language-modelling"',
            )
        if self.pretraining.pairs != "none" and self.model.embedding.segments == 1:
            raise Refused(
                "sentence pairs need two segments, but model.embedding.segments is 1",
                "Set segments to 2, or to 0 to separate the sentences by [SEP] alone",
            )
        return self


def _flatten(tables: dict[str, Any], path: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in tables.items():
        where = f"{path}{name}"
        found |= _flatten(value, f"{where}.") if isinstance(value, dict) else {where: value}
    return found
