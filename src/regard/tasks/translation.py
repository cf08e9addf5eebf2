"""Translation by an encoder-decoder."""

from collections.abc import Sequence

from regard.errors import UsageError
from regard.models.transformer import Transformer
from regard.tasks.metrics import translation_metrics
from regard.tasks.task import Evaluation, Sample
from regard.tasks.writing.text_to_text import TextToText
from regard.text import special


class Translation(TextToText):
    """Translation by an encoder-decoder.

    Args:
        recipe: The whole recipe.
        tokenizer: One vocabulary for both languages.

    """

    fields = texts = 2
    roles = ("source", "target")
    metric = "bleu"
    baseline = "copying the source"
    corpus_metric = True
    pruning_examples = 64

    def encode(self, examples: list[tuple[str, ...]]) -> list[tuple[list[int], ...]]:
        """Encode both sides, each with an end token."""
        sides = [
            [[*ids, special.END] for ids in self.tokenizer.encode_batch(list(texts))]
            for texts in zip(*examples, strict=True)
        ]
        return list(zip(*sides, strict=True))

    def encode_sources(self, texts: Sequence[str]) -> list[list[int]]:
        return self.tokenizer.encode_batch(list(texts))

    def truncate_source(self, ids: list[int], most: int, *, truncate: bool) -> list[int]:
        """Truncate only if allowed, because the translation would be incomplete."""
        if len(ids) <= most or truncate:
            return ids[:most]
        raise UsageError(
            f"a text must fit the model's input. Got {len(ids)} tokens; this model reads at most "
            f"{most}.",
            "Split the text into sentences, or truncate it with --truncate.",
        )

    def measure(
        self, model: Transformer, examples: Sequence[tuple[str, ...]], *, quick: bool
    ) -> Evaluation:
        """Translate and score; ``quick`` decodes greedily."""
        sources, references = (list(side) for side in zip(*examples, strict=True))
        answers = [
            answered.text for answered in self.answer(model, sources, quick=quick, truncate=True)
        ]
        metrics = translation_metrics(answers, references)
        copied = translation_metrics(sources, references)
        samples = [Sample(*row) for row in zip(sources, references, answers, strict=True)]
        return Evaluation(metrics.scores, copied.scores, metrics.signature, len(samples), samples)
