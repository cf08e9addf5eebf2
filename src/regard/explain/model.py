"""What ``regard.load`` and ``regard.explain`` are."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.explain.explain import ExplainOptions
from regard.explain.explain import explain as explain_run
from regard.explain.explanation import Explanation
from regard.inference.predictor import Predictor, load_run
from regard.run import Run


class Model(Predictor):
    """A trained model that answers and explains its answers."""

    def __repr__(self) -> str:
        size = self.run.metrics["training"]["parameters"]
        return f"<regard.Model {self.run.recipe.task}, {size:,} parameters, {self.run.folder}>"

    def explain(self, text: str, target: str | None = None, **options: Any) -> Explanation:  # noqa: ANN401
        """Answer a text and explain the answer; ``options`` are fields of :class:`ExplainOptions`.

        ``target`` is explained instead of the model's own translation.
        """
        return explain(self.run, text, target, **options)


def load(
    path: str | Path,
    *,
    ensemble: Sequence[str | Path] = (),
    decoding: Mapping[str, Any] | None = None,
) -> Model:
    """Load a run folder to predict with it and to explain its answers.

    The networks of the runs in ``ensemble`` answer as well, with equal shares; ``decoding``
    overrides settings of the recipe's table [decoding], as in
    ``{"method": "sample", "temperature": 0.5}``.
    """
    return Model(load_run(path, ensemble=ensemble, decoding=decoding))


def explain(
    run: Run | str | Path,
    text: str,
    target: str | None = None,
    **options: Any,  # noqa: ANN401 - the fields of ExplainOptions
) -> Explanation:
    """Answer a text with a run, or with the run in a folder, and explain the answer.

    ``target`` is explained instead of the model's own translation; ``options`` are fields of
    :class:`ExplainOptions`, as in
    ``regard.explain("runs/reviews", "not bad", attribution="occlusion")``.
    """
    loaded = run if isinstance(run, Run) else load_run(run)
    return explain_run(loaded, text, target, ExplainOptions(**options))
