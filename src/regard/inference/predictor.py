"""The predictor: a run that answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.encoding import find_encoding
from regard.inference.engines.attach import attach_engine
from regard.run import Run
from regard.tasks.examples import examples, first, read_examples, read_other_files
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

    def answer(
        self, texts: Sequence[str], *, truncate: bool = False, vectors: bool = False
    ) -> list[Prediction]:
        """Answer each text, or give its vector in place of an answer."""
        if not vectors:
            return self.predict(texts, truncate=truncate)
        found = self.encode(texts).tolist()
        return [Prediction("", 0.0, 0, vector=tuple(vector)) for vector in found]

    def evaluate(
        self,
        *,
        split: str = "test",
        files: Sequence[str] = (),
        fields: Sequence[str] = (),
        skip: bool = False,
        most: int = 100_000,
    ) -> Evaluation:
        """Measure on a split of the recipe, or on other files.

        Their columns may be others, their encoding is detected, and ``skip`` leaves out lines that
        cannot be used.
        """
        task, model = self.run.task, self.run.model
        if not files:
            return task.measure(model, first(examples(self.run.recipe, split), most), quick=False)
        reader = read_other_files(self.run.recipe, files, fields, skip=skip)
        found = [record.fields for record in islice(reader, most)]
        measured = task.measure(model, found, quick=False)
        if not reader.skipped:
            return measured
        return measured._replace(details={**measured.details, "skipped": reader.skipped})

    def find_encoding(self, files: Sequence[str]) -> str:
        """Return the encoding of files that were named by hand."""
        return find_encoding(files[0], self.run.recipe.data.encoding)

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

    Its answers come from the library that ``decoding.engine`` names.
    The networks of the runs in ``ensemble`` answer as well, with equal shares.
    """
    run = Run(Path(path), decoding=decoding)
    attach_engine(run)
    for other in (Run(Path(place)) for place in ensemble):
        run.task.answer_with(other.task, other.model)
    return run
