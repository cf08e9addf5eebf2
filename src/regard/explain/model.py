"""What ``regard.load`` and ``regard.explain`` are."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.explain.explain import Choice
from regard.explain.explain import explain as explain_run
from regard.explain.explanation import Explanation
from regard.inference.predictor import Predictor, opened
from regard.run import Run


class Model(Predictor):
    """A trained model, to be asked and looked into."""

    def explain(self, text: str, target: str | None = None, **choice: Any) -> Explanation:  # noqa: ANN401
        """Answer a text and say where the model looked; see :class:`Choice` for what can be chosen.

        ``target`` gives a translation instead of the model's own.
        """
        return explain(self.run, text, target, **choice)


def load(
    path: str | Path,
    *,
    ensemble: Sequence[str | Path] = (),
    decoding: Mapping[str, Any] | None = None,
) -> Model:
    """Open a run folder to ask it and to look into it.

    Runs named ``beside`` it answer as well, with equal shares; ``decoding`` says how to answer
    where it is not to be as the recipe has it, as in ``{"method": "sample", "temperature": 0.5}``.
    """
    return Model(opened(path, ensemble=ensemble, decoding=decoding))


def explain(
    run: Run | str | Path,
    text: str,
    target: str | None = None,
    **choice: Any,  # noqa: ANN401 - the fields of Choice
) -> Explanation:
    """Answer a text with a run, or with the run in a folder, and explain the answer.

    ``target`` is explained instead of the model's own translation; ``choice`` are fields of
    :class:`Choice`, as in ``regard.explain("runs/reviews", "not bad", reading="occlusion")``.
    """
    opened_run = run if isinstance(run, Run) else opened(run)
    return explain_run(opened_run, text, target, Choice(**choice))
