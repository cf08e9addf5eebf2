"""The cost of each task's steps, one row per task, importable without torch.

The classes of :mod:`regard.tasks.kinds` inherit from these classes.
"""

from regard.recipe.recipe import Recipe
from regard.tasks.cost import Cost
from regard.tasks.labelling.cost import LabelCost
from regard.tasks.language.cost import LanguageModelCost
from regard.tasks.pretraining.cost import DocumentCost, DocumentVectorsCost, MaskedCost
from regard.tasks.retrieval.cost import RetrievalCost
from regard.tasks.tagging.cost import TaggingCost
from regard.tasks.writing.cost import DocumentWritingCost, SummaryCost, WritingCost

COSTS: dict[str, type[Cost]] = {
    "translation": WritingCost,
    "language-modelling": LanguageModelCost,
    "masked-pretraining": MaskedCost,
    "document-pretraining": DocumentCost,
    "document-vectors": DocumentVectorsCost,
    "classification": LabelCost,
    "sentence-pair": LabelCost,
    "tagging": TaggingCost,
    "summarization": SummaryCost,
    "denoising": DocumentWritingCost,
    "retrieval": RetrievalCost,
}


def cost_of(recipe: Recipe) -> type[Cost]:
    """Return the cost of a recipe's task."""
    return COSTS[recipe.task]
