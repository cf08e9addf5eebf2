"""From a recipe to its task and its examples."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from regard.data.split import is_held_out, split_at_end
from regard.errors import UsageError
from regard.recipe.recipe import Recipe
from regard.tasks.labelling.classification import Classification
from regard.tasks.labelling.sentence_pair import SentencePair
from regard.tasks.language.language_modelling import LanguageModelling
from regard.tasks.pretraining.document_pretraining import DocumentPretraining
from regard.tasks.pretraining.document_vectors import DocumentVectorLearning
from regard.tasks.pretraining.masked_pretraining import MaskedPretraining
from regard.tasks.retrieval.retrieval import Retrieval
from regard.tasks.task import Examples, Task, Texts
from regard.tasks.translation import Translation
from regard.tasks.writing.denoising import Denoising
from regard.tasks.writing.summarization import Summarization
from regard.text.from_recipe import tokenizer_from_recipe
from regard.text.tokenizer import Tokenizer

TASKS: dict[str, type[Task]] = {
    "translation": Translation,
    "masked-pretraining": MaskedPretraining,
    "document-pretraining": DocumentPretraining,
    "document-vectors": DocumentVectorLearning,
    "language-modelling": LanguageModelling,
    "classification": Classification,
    "sentence-pair": SentencePair,
    "summarization": Summarization,
    "denoising": Denoising,
    "retrieval": Retrieval,
}


def make_task(recipe: Recipe, tokenizer: Tokenizer) -> Task:
    """Return the task a recipe asks for."""
    return TASKS[recipe.task](recipe, tokenizer)


def make_tokenizer(recipe: Recipe, source: Examples) -> Tokenizer:
    """Train the tokenizer a recipe asks for on the examples' texts."""
    fields = TASKS[recipe.task].texts
    texts = chain.from_iterable(example[:fields] for example in source())
    return tokenizer_from_recipe(recipe.text, texts, seed=recipe.seed)


def examples(recipe: Recipe, split: str) -> Examples:
    """Return the examples of a split: ``train``, ``valid`` or ``test``.

    Without files of its own, ``valid`` is the share of ``train`` that a hash of each example's
    content, or of its group, picks out, or the end of it; ``train`` is then the rest.
    """
    files = {"train": recipe.data.train, "valid": recipe.data.valid, "test": recipe.data.test}
    if split not in files:
        raise UsageError(
            f"a split is train, valid or test. Got {split!r}.", "Name one of the three."
        )
    if split == "test" and not files["test"]:
        return examples(recipe, "valid")
    if files["valid"] or split == "test":
        return lambda: read_examples(recipe, files[split], split)
    wanted = split == "valid"
    share, seed = recipe.data.holdout, recipe.seed
    if recipe.data.holdout_from == "end":
        return lambda: split_at_end(
            lambda: read_examples(recipe, files["train"], "train"), share=share, wanted=wanted
        )
    task = TASKS[recipe.task]
    return lambda: (
        record.fields
        for record in task.read_records(recipe, files["train"], "train")
        if is_held_out(record.fields, share=share, seed=seed, group=record.group) == wanted
    )


def first(source: Examples, most: int) -> list[Texts]:
    """Return the first examples of a split, at most ``most``."""
    return list(islice(source(), most))


def read_examples(recipe: Recipe, files: Sequence[str], split: str) -> Iterator[Texts]:
    """Read files as the recipe says."""
    return TASKS[recipe.task].read_examples(recipe, files, split)
