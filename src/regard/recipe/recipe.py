"""A recipe: everything a run needs to know, in one file."""

from typing import Literal

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
from regard.recipe.text import TextSettings
from regard.recipe.training import TrainingSettings

ENCODER_DECODERS = ("translation", "summarization", "denoising")
"""Tasks whose model reads one text and writes another."""
OF_DOCUMENTS = ("document-pretraining", "document-vectors")
"""Tasks that learn from whole documents."""


class Recipe(Settings):
    """Everything a run needs to know."""

    task: Literal[
        "translation",
        "language-modelling",
        "masked-pretraining",
        "document-pretraining",
        "document-vectors",
        "classification",
        "sentence-pair",
        "summarization",
        "denoising",
        "retrieval",
    ]
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
        writes = (*ENCODER_DECODERS, "language-modelling")
        if self.text.tokenizer == "bert" and self.task in writes:
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
    def _copying_has_a_source(self) -> "Recipe":
        copying, training = self.model.copying, self.training
        if copying and self.task not in ENCODER_DECODERS:
            raise Refused(
                f'model.copying takes tokens of a source over, and task "{self.task}" has none',
                "Take copying out",
            )
        if not copying and (training.coverage or self.decoding.coverage):
            name = "training.coverage" if training.coverage else "decoding.coverage"
            raise Refused(
                f"{name} is about where a model points, but model.copying is false",
                "Set model.copying to true, or take coverage out",
            )
        if copying and training.consistency:
            raise Refused(
                f"training.consistency = {training.consistency:g} compares what two passes write, "
                "but model.copying lets them copy as well",
                "Set one of them only",
            )
        return self

    @model_validator(mode="after")
    def _documents_are_read_once(self) -> "Recipe":
        if self.task != "denoising" and self.denoising != DenoisingSettings():
            raise Refused(
                f'the table [denoising] has no effect while task is "{self.task}"',
                'Set task to "denoising", or take the table out',
            )
        if self.task not in ("summarization", "denoising"):
            return self
        parts = ("windows", "head-tail") if self.task == "denoising" else ("windows",)
        if self.text.overlong in parts:
            raise Refused(
                f'text.overlong is "{self.text.overlong}", but the task {self.task} reads a '
                "document once, in one piece" + (" or two" if len(parts) == 1 else ""),
                'Set text.overlong to "head"',
            )
        if self.model.start.lexicon:
            raise Refused(
                f"model.start.lexicon learns a translator's lexicon, but the task is {self.task}",
                "Take lexicon out",
            )
        return self

    @model_validator(mode="after")
    def _labels_are_asked_for(self) -> "Recipe":
        model = self.model
        asked = {
            "model.documents.read": model.documents.read == "sentences",
            "model.bare": model.bare,
            'model.head.pooling = "hops"': model.head.pooling == "hops",
            "training.adversarial": self.training.adversarial > 0,
            "model.embedding.ngram_min_count": model.embedding.ngram_min_count > 1,
        }
        labels = ("classification", "sentence-pair")
        tasks = {
            "model.documents.read": ("classification",),
            "model.embedding.ngram_min_count": (*labels, *OF_DOCUMENTS),
        }
        for name, set_so in asked.items():
            fitting = tasks.get(name, labels)
            if set_so and self.task not in fitting:
                raise Refused(
                    f"{name} is for labels of texts (task {' or '.join(fitting)}), but task is "
                    f'"{self.task}"',
                    "Take it out, or set another task",
                )
        return self

    @model_validator(mode="after")
    def _tokens_are_told_apart_where_all_are_written(self) -> "Recipe":
        if self.training.softmax != "full" and self.task != "language-modelling":
            raise Refused(
                f'training.softmax = "{self.training.softmax}" is for language models, but task is '
                f'"{self.task}"',
                'Set it to "full", or take it out',
            )
        return self

    @model_validator(mode="after")
    def _retrieval_is_asked_for(self) -> "Recipe":
        if self.task != "retrieval" and self.retrieval != RetrievalSettings():
            raise Refused(
                f'the table [retrieval] has no effect while task is "{self.task}"',
                'Set task to "retrieval", or take the table out',
            )
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
    def _vectors_of_documents_are_asked_for(self) -> "Recipe":
        if self.task != "document-vectors":
            if self.data.labelled:
                raise Refused(
                    f'data.labelled has no effect while task is "{self.task}"',
                    'Name the files in data.train, or set task to "document-vectors"',
                )
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
    def _pretraining_is_asked_for(self) -> "Recipe":
        if self.task != "masked-pretraining":
            if self.pretraining != PretrainingSettings():
                raise Refused(
                    f'the table [pretraining] has no effect while task is "{self.task}"',
                    'Set task to "masked-pretraining", or take the table out',
                )
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
