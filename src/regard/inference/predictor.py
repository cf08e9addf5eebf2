"""The predictor: a run that answers."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from regard.run import Run
from regard.tasks.from_recipe import examples, read_examples
from regard.tasks.task import Answered, Measured

ASKED_AT_ONCE = 512  # texts held in memory while a file is answered


class Predictor:
    """A trained model and everything it needs to answer.

    Args:
        run: The finished run.

    """

    def __init__(self, run: Run) -> None:
        self.run = run

    def predict(self, texts: str | Sequence[str], *, truncate: bool = False) -> list[Answered]:
        """Answer each text, in order; one too long is refused unless ``truncate``."""
        asked = [texts] if isinstance(texts, str) else list(texts)
        return self.run.task.answer(self.run.model, asked, cut=truncate)

    def predict_all(self, texts: Iterable[str], *, truncate: bool = False) -> Iterator[Answered]:
        """Answer a stream of any length, a bounded number of texts at a time."""
        iterator = iter(texts)
        while chunk := list(islice(iterator, ASKED_AT_ONCE)):
            yield from self.predict(chunk, truncate=truncate)

    def evaluate(
        self, *, split: str = "test", files: Sequence[str] = (), most: int = 100_000
    ) -> Measured:
        """Measure on a split of the recipe, or on other files of the same kind."""
        recipe = self.run.recipe
        given = read_examples(recipe, files, "test") if files else examples(recipe, split)()
        found = list(islice(given, most))
        return self.run.task.measure(self.run.model, found, quick=False)


def load(path: str | Path) -> Predictor:
    """Open a run folder to ask it."""
    return Predictor(Run(Path(path)))
