"""Summarization: a document in, what it says in short out."""

from collections.abc import Sequence
from typing import Any

from regard.models.transformer import Transformer
from regard.recipe.recipe import Recipe
from regard.tasks.foreign import Export
from regard.tasks.task import Evaluation, Examples, Prediction, Sample
from regard.tasks.writing.copied import copied_words
from regard.tasks.writing.cost import SummaryCost
from regard.tasks.writing.documents import fold_space, truncate_for_inference, truncate_for_training
from regard.tasks.writing.lead import choose_lead, lead, lead_words
from regard.tasks.writing.novelty import novelty
from regard.tasks.writing.rouge import SIGNATURE, Rouge, mean_rouge, rouge
from regard.tasks.writing.text_to_text import TextToText
from regard.text import special
from regard.text.tokenizer import Tokenizer

SHOWN = 400  # characters of a document kept as a sample
COPIED = 12  # answers of which it is said what was copied


class Summarization(SummaryCost, TextToText):
    """Summarization by an encoder-decoder; white space in documents and summaries is fold_space.

    Args:
        recipe: The whole recipe, complete.
        tokenizer: One vocabulary for documents and summaries.

    """

    fields = texts = 2
    roles = ("document", "summary")
    metric = "rougel"
    pruning_examples = 32

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        super().__init__(recipe, tokenizer)
        self.lead = recipe.decoding.lead or 1
        several = "sentence" if self.lead == 1 else f"{self.lead} sentences"
        self.baseline = f"lead-{self.lead}, the document's first {several}"

    @classmethod
    def complete(cls, recipe: Recipe, source: Examples) -> Recipe:
        """Write into the recipe how many sentences the lead has, if it does not say."""
        if recipe.decoding.lead is not None:
            return recipe
        chosen = recipe.decoding.model_copy(update={"lead": choose_lead(source)})
        return recipe.model_copy(update={"decoding": chosen})

    @property
    def encoding_key(self) -> tuple[str, ...]:
        return (self.recipe.text.overlong, str(self.positions))

    def encode(self, examples: list[tuple[str, ...]]) -> list[tuple[list[int], ...]]:
        """Both texts, each closed by the token of ending; a long document as it is to be read."""
        documents, *summaries = (self.encode_sources(side) for side in zip(*examples, strict=True))
        most, text = self.positions - 1, self.recipe.text
        sides = [[truncate_for_training(ids, most, text) for ids in documents], *summaries]
        closed = [[[*ids, special.END] for ids in side] for side in sides]
        return list(zip(*closed, strict=True))

    def encode_sources(self, texts: Sequence[str]) -> list[list[int]]:
        return self.tokenizer.encode_batch([fold_space(text) for text in texts])

    def export(self) -> Export:
        return super().export()._replace(reads="folded")

    def truncate_source(self, ids: list[int], most: int, *, truncate: bool) -> list[int]:
        return truncate_for_inference(ids, most, self.recipe.text, truncate=truncate)

    def measure(
        self, model: Transformer, examples: Sequence[tuple[str, ...]], *, quick: bool
    ) -> Evaluation:
        """Summarize and score; ``quick`` decodes greedily."""
        documents, references = (list(side) for side in zip(*examples, strict=True))
        given = self.answer(model, documents, quick=quick, truncate=True)
        answers = [one.text for one in given]
        each = _score(answers, references)
        scores = mean_rouge(each)._asdict()
        leads = [lead(document, self.lead) for document in documents]
        samples = [
            Sample(_shorten(document), fold_space(reference), answer, score.rougel)
            for document, reference, answer, score in zip(
                documents, references, answers, each, strict=True
            )
        ]
        return Evaluation(
            scores,
            mean_rouge(_score(leads, references))._asdict(),
            dict.fromkeys(scores, SIGNATURE),
            len(samples),
            samples,
            details={}
            if quick
            else {
                **_details(documents, references, answers),
                **self._describe_copies(model, documents, given),
            },
        )

    def _describe_copies(
        self, model: Transformer, documents: Sequence[str], given: Sequence[Prediction]
    ) -> dict[str, Any]:
        """Say of the first answers how much of each word was copied, if the model can."""
        if model.copying is None:
            return {}
        most = self.positions - 1
        read = [
            self.truncate_source(ids, most, truncate=True)
            for ids in self.encode_sources(documents[:COPIED])
        ]
        rows = [(ids, list(one.ids)) for ids, one in zip(read, given, strict=False)]
        return {"copied_words": copied_words(model, self.tokenizer, rows)}


def _shorten(document: str) -> str:
    whole = fold_space(document)
    return whole if len(whole) <= SHOWN else f"{whole[:SHOWN]}…"


def _score(answers: Sequence[str], references: Sequence[str]) -> list[Rouge]:
    return [rouge(*pair) for pair in zip(answers, references, strict=True)]


def _details(
    documents: Sequence[str], references: Sequence[str], answers: Sequence[str]
) -> dict[str, Any]:
    """Say how much is copied, by the model and by the writers, and what as many first words get."""
    length = max(1, round(sum(len(text.split()) for text in references) / len(references)))
    cut = [lead_words(document, length) for document in documents]
    return {
        "answers": novelty(documents, answers),
        "references": novelty(documents, references),
        "lead_words": {"words": length, **mean_rouge(_score(cut, references))._asdict()},
    }
