"""A recipe: everything a run needs to know, in one file."""

from typing import Any

from pydantic import NonNegativeInt, model_validator

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
from regard.recipe.settings import Refused, Settings
from regard.recipe.tasks import LABELLERS, WRITERS, TaskName, refuse_idle
from regard.recipe.text import TextSettings
from regard.recipe.training import TrainingSettings

MAY_BE_IDLE = "may be idle"
"""Key of a validation context: whether settings without an effect are let in, as in an old run."""


class Recipe(Settings):
    """Everything a run needs to know."""

    task: TaskName
    """What the model is to answer."""
    seed: NonNegativeInt = 1
    """Every random choice is derived from it: the same recipe and seed give the same run."""
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
        """What a sampled answer is derived from."""
        return self.seed if self.decoding.seed is None else self.decoding.seed

    def flat(self) -> dict[str, Any]:
        """Return every setting by its dotted path, as JSON has it."""
        return _flatten(self.model_dump(mode="json"))

    @model_validator(mode="after")
    def _every_setting_has_an_effect(self, info: Any) -> "Recipe":  # noqa: ANN401 - pydantic's
        if not (info.context or {}).get(MAY_BE_IDLE):
            refuse_idle(self)
        return self

    @model_validator(mode="after")
    def _there_is_something_to_learn_from(self) -> "Recipe":
        imported = self.model.start.imported is not None
        if not self.data.train and not imported:
            raise Refused("data.train names no file", "Name at least one, or world:scenes")
        if self.data.train and imported:
            raise Refused(
                "model.start.imported is for a run that learned nothing, but data.train names "
                f"{self.data.train[0]}",
                "Take imported out; to train on, name the imported run in model.start.run",
            )
        return self

    @model_validator(mode="after")
    def _what_is_written_can_be_spelled(self) -> "Recipe":
        if self.text.tokenizer == "bert" and self.task in WRITERS:
            raise Refused(
                'text.tokenizer "bert" cuts texts so that they cannot be put together again, but '
                f'task "{self.task}" writes them',
                "Begin from a run that was trained here, or take another task",
            )
        return self

    @model_validator(mode="after")
    def _texts_fit_the_positions(self) -> "Recipe":
        place = self.model.position
        if not isinstance(place, RelativeSettings | LearnedSettings):
            return self
        if isinstance(place, RelativeSettings) and place.buckets is not None:
            return self
        if self.text.max_length > place.positions:
            raise Refused(
                f"text.max_length = {self.text.max_length} lets in texts that "
                f"model.position.positions = {place.positions} cannot number",
                f"Set text.max_length to at most {place.positions}, or give more positions",
            )
        return self

    @model_validator(mode="after")
    def _copying_is_compared_once(self) -> "Recipe":
        if self.model.copying and self.training.consistency:
            raise Refused(
                f"training.consistency = {self.training.consistency:g} compares what two passes "
                "write, but model.copying lets them copy as well",
                "Set one of them only",
            )
        return self

    @model_validator(mode="after")
    def _documents_are_read_once(self) -> "Recipe":
        whole = {"summarization": ("windows",), "denoising": ("windows", "head-tail")}
        if self.text.overlong in whole.get(self.task, ()):
            raise Refused(
                f'text.overlong = "{self.text.overlong}" reads a document in parts, but the task '
                f"{self.task} reads it once",
                'Set text.overlong to "head"',
            )
        return self

    @model_validator(mode="after")
    def _hops_tell_labels(self) -> "Recipe":
        if self.model.head.pooling == "hops" and self.task not in LABELLERS:
            raise Refused(
                f'model.head.pooling = "hops" is for labels, but task is "{self.task}"',
                'Set pooling to "mean", or task to "classification"',
            )
        return self

    @model_validator(mode="after")
    def _retrieval_compares_means(self) -> "Recipe":
        if self.task == "retrieval" and self.data.group:
            raise Refused(
                f'data.group = "{self.data.group}" groups examples with columns, but retrieval '
                "learns from documents",
                "Take data.group out",
            )
        if self.retrieval.term_weights != "even" and self.model.head.pooling != "mean":
            raise Refused(
                "retrieval.term_weights weigh a mean, but model.head.pooling is "
                f'"{self.model.head.pooling}"',
                'Set pooling to "mean", or term_weights to "even"',
            )
        return self

    @model_validator(mode="after")
    def _document_vectors_have_no_blocks(self) -> "Recipe":
        if self.task != "document-vectors":
            return self
        if self.model.depth:
            raise Refused(
                "document-vectors learns what enters a model, but model.depth = "
                f"{self.model.depth} puts blocks on it",
                "Set depth to 0; put blocks on the vectors in the run that begins from this one",
            )
        if self.training.optimizer.kind != "sgd":
            raise Refused(
                "document-vectors learns by plain steps, but training.optimizer.kind is "
                f'"{self.training.optimizer.kind}"',
                'Set kind to "sgd"',
            )
        return self

    @model_validator(mode="after")
    def _objectives_fit_the_model(self) -> "Recipe":
        if self.task != "masked-pretraining":
            return self
        objective, position = self.pretraining.objective, self.model.position
        if objective == "autoencoder" and not isinstance(
            position, SinusoidalSettings | LearnedSettings
        ):
            raise Refused(
                'pretraining.objective "autoencoder" tells places apart by positions on the '
                f'states, but model.position.kind is "{position.kind}"',
                'Set model.position.kind to "sinusoidal" or "learned"',
            )
        if objective == "hybrid" and self.model.mixer.kind != "attention":
            raise Refused(
                'pretraining.objective "hybrid" hides the future in some rows only, which only '
                f'attention can; model.mixer.kind is "{self.model.mixer.kind}"',
                'Set model.mixer.kind to "attention", or the objective to "masked"',
            )
        if self.model.causal:
            raise Refused(
                "masked-pretraining guesses from both sides, but model.causal is true",
                'Take causal out, or set task to "language-modelling"',
            )
        if self.pretraining.pairs != "none" and self.model.embedding.segments == 1:
            raise Refused(
                "pairs have two spans, but model.embedding.segments is 1",
                "Set segments to 2, or to 0 to tell the spans apart by [SEP] alone",
            )
        return self


def _flatten(tables: dict[str, Any], path: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in tables.items():
        where = f"{path}{name}"
        found |= _flatten(value, f"{where}.") if isinstance(value, dict) else {where: value}
    return found
