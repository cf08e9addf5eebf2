"""The tasks, one row each: a new task is a folder in this room and a row in this table.

Which settings of a recipe apply to a task is declared in :mod:`regard.recipe.tasks`, which does not
need torch.
"""

from itertools import chain
from typing import Any, NamedTuple

from regard.recipe.recipe import Recipe
from regard.tasks.labelling.classification import Classification
from regard.tasks.labelling.sentence_pair import SentencePair
from regard.tasks.language.language_modelling import LanguageModelling
from regard.tasks.pretraining.document_pretraining import DocumentPretraining
from regard.tasks.pretraining.document_vectors import DocumentVectorLearning
from regard.tasks.pretraining.masked_pretraining import MaskedPretraining
from regard.tasks.retrieval.retrieval import Retrieval
from regard.tasks.suggest.labelled import suggest_classification, suggest_sentence_pair
from regard.tasks.suggest.language_model import suggest_language_model
from regard.tasks.suggest.pretraining import (
    suggest_document_pretraining,
    suggest_document_vectors,
    suggest_pretraining,
)
from regard.tasks.suggest.retrieval import suggest_retrieval
from regard.tasks.suggest.summarization import suggest_denoising, suggest_summarization
from regard.tasks.suggest.survey import Choose
from regard.tasks.suggest.translation import suggest_translation
from regard.tasks.tagging.suggest import suggest_tagging
from regard.tasks.tagging.tagging import Tagging
from regard.tasks.task import Examples, Task
from regard.tasks.translation import Translation
from regard.tasks.writing.denoising import Denoising
from regard.tasks.writing.summarization import Summarization
from regard.text.from_recipe import tokenizer_from_recipe
from regard.text.tokenizer import Tokenizer


class Captions(NamedTuple):
    """What a report calls the three sides of a sample, and a sentence about them."""

    asked: str
    expected: str
    answered: str
    note: str


class Kind(NamedTuple):
    """What is known of a task without a recipe."""

    task: type[Task[Any]]
    suggest: Choose
    """What `regard init` writes for it."""
    pipeline_tag: str
    """What model hubs call it."""
    captions: Captions | None
    """None where a sample is not two texts and an answer."""
    example: str = "a text"
    """What a run may be asked, for a first try."""


LABEL = Captions("Text", "Label", "Answer", "Held-out examples, the first ones.")

KINDS: dict[str, Kind] = {
    "translation": Kind(
        Translation,
        suggest_translation,
        "translation",
        Captions(
            "Source",
            "Reference",
            "Answer",
            "Held-out examples. Marked: where the answer's words differ from the reference, which "
            "is one good answer among many.",
        ),
    ),
    "language-modelling": Kind(
        LanguageModelling,
        suggest_language_model,
        "text-generation",
        Captions(
            "Prompt",
            "Original continuation",
            "Generated continuation",
            "Held-out text. A model is not expected to reproduce it, only to continue it as such "
            "texts do.",
        ),
    ),
    "masked-pretraining": Kind(
        MaskedPretraining,
        suggest_pretraining,
        "fill-mask",
        Captions(
            "Masked",
            "Original",
            "Filled in",
            "Held-out text. Marked: where the model's words differ from the original.",
        ),
        example="A [MASK] of bread.",
    ),
    "document-pretraining": Kind(
        DocumentPretraining,
        suggest_document_pretraining,
        "feature-extraction",
        Captions(
            "One part",
            "Words asked for in another part",
            "Words that the part makes more likely",
            "Held-out documents, the first ones.",
        ),
    ),
    "document-vectors": Kind(
        DocumentVectorLearning,
        suggest_document_vectors,
        "feature-extraction",
        Captions(
            "First half",
            "Second half",
            "Words whose vectors are nearest to the first half's",
            "Held-out documents, the first ones.",
        ),
    ),
    "classification": Kind(Classification, suggest_classification, "text-classification", LABEL),
    "sentence-pair": Kind(SentencePair, suggest_sentence_pair, "text-classification", LABEL),
    "tagging": Kind(
        Tagging,
        suggest_tagging,
        "token-classification",
        Captions("Text", "True tags", "Predicted tags", "Held-out texts, the first ones."),
    ),
    "summarization": Kind(
        Summarization,
        suggest_summarization,
        "summarization",
        Captions(
            "Document",
            "Reference",
            "Summary",
            "Held-out documents, truncated here. The reference is one good summary among many. "
            "Where the model can copy, words of its summary are the darker the more of them was "
            "copied.",
        ),
    ),
    "denoising": Kind(
        Denoising,
        suggest_denoising,
        "text2text-generation",
        Captions(
            "Corrupted document",
            "Original",
            "Reconstruction",
            "Held-out documents. Marked: where the model's words differ from the original.",
        ),
    ),
    "retrieval": Kind(Retrieval, suggest_retrieval, "sentence-similarity", None),
}


def kind_of(recipe: Recipe) -> Kind:
    """Return the row of a recipe's task."""
    return KINDS[recipe.task]


def task_class(recipe: Recipe) -> type[Task[Any]]:
    """Return the class of a recipe's task."""
    return KINDS[recipe.task].task


def make_task(recipe: Recipe, tokenizer: Tokenizer) -> Task[Any]:
    """Return the task of a recipe."""
    return task_class(recipe)(recipe, tokenizer)


def make_tokenizer(recipe: Recipe, source: Examples) -> Tokenizer:
    """Train the tokenizer of a recipe on the examples' texts."""
    fields = task_class(recipe).texts
    texts = chain.from_iterable(example[:fields] for example in source())
    return tokenizer_from_recipe(recipe.text, texts, seed=recipe.seed)
