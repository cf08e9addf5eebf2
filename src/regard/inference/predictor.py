"""The predictor: a run that answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.run import Run
from regard.tasks.examples import examples, read_examples
from regard.tasks.task import Evaluation, Prediction

CHUNK = 512  # texts held in memory while a stream is answered


class Predictor:
    """A trained model and everything it needs to answer.

    Args:
        run: The finished run.

    """

    def __init__(self, run: Run) -> None:
        self.run = run

    def predict(self, texts: str | Sequence[str], *, truncate: bool = False) -> list[Prediction]:
        """Answer each text, in order; one too long is refused unless ``truncate``."""
        batch = [texts] if isinstance(texts, str) else list(texts)
        return self.run.task.answer(self.run.model, batch, truncate=truncate)

    def predict_all(self, texts: Iterable[str], *, truncate: bool = False) -> Iterator[Prediction]:
        """Answer a stream of any length, a bounded number of texts at a time."""
        iterator = iter(texts)
        while chunk := list(islice(iterator, CHUNK)):
            yield from self.predict(chunk, truncate=truncate)

    def encode(self, texts: str | Sequence[str]) -> NDArray[np.float32]:
        """Give a vector for each text: a searcher's own, else the mean of the body's states."""
        batch = [texts] if isinstance(texts, str) else list(texts)
        task, model = self.run.task, self.run.model
        found = task.vectors(model, batch)
        return found.numpy()

    def encode_all(self, texts: Iterable[str]) -> Iterator[Prediction]:
        """Give the vectors of a stream of any length, a bounded number of texts at a time."""
        iterator = iter(texts)
        while chunk := list(islice(iterator, CHUNK)):
            for vector in self.encode(chunk).tolist():
                yield Prediction("", 0.0, 0, vector=tuple(vector))

    def evaluate(
        self,
        *,
        split: str = "test",
        files: Sequence[str] = (),
        fields: Sequence[str] = (),
        most: int = 100_000,
    ) -> Evaluation:
        """Measure on a split of the recipe, or on other files, whose columns may be others."""
        recipe = self.run.recipe
        if fields:
            data = recipe.data.model_copy(update={"fields": tuple(fields)})
            recipe = recipe.model_copy(update={"data": data})
        given = read_examples(recipe, files, "test") if files else examples(recipe, split)()
        found = list(islice(given, most))
        return self.run.task.measure(self.run.model, found, quick=False)

    def examples(
        self, *, split: str = "test", files: Sequence[str] = (), most: int = 100_000
    ) -> Iterator[tuple[str, ...]]:
        """Read examples of a split of the recipe, or of other files of the same kind."""
        recipe = self.run.recipe
        given = read_examples(recipe, files, "test") if files else examples(recipe, split)()
        return islice(given, most)


def load_run(
    path: str | Path,
    *,
    ensemble: Sequence[str | Path] = (),
    decoding: Mapping[str, Any] | None = None,
) -> Run:
    """Load a run folder to predict with it; ``decoding`` overrides settings of [decoding].

    The networks of the runs in ``ensemble`` answer as well, with equal shares.
    """
    run = Run(Path(path), decoding=decoding)
    for other in (Run(Path(place)) for place in ensemble):
        run.task.answer_with(other.task, other.model)
    return run
