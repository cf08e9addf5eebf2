"""Score both sides on the run's test split, with the metrics of its task."""

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from torch import Tensor, nn

from regard.interop.exports.reference import Reference
from regard.interop.exports.samples import Samples
from regard.interop.exports.target import Row, Side, Texts
from regard.models.heads import TokenHead
from regard.run import Run
from regard.tasks.foreign import Export
from regard.tasks.task import Prediction

LONGEST_ANSWER = 100
"""Tokens of an answer that is scored."""


def score(
    run: Run, shape: Export, ours: Reference, theirs: Side, samples: Samples, *, name: str
) -> dict[str, Any]:
    """Score both sides on the same examples; without data, say why there are no scores."""
    if not samples.examples:
        return {"none": "the files of the recipe's test split are not there"}
    if shape.head != run.task.export().head or shape.head == "states":
        return {"none": "states and vectors of such a run have no score of their own"}
    if run.recipe.data.apart:
        return {"none": "data.apart hides documents from each other, which the target does not"}
    sides: dict[str, Side] = {"regard": ours, name: theirs}
    scores = {own: _score(run, shape, side, samples.examples) for own, side in sides.items()}
    return {"split": samples.split, "examples": len(samples.examples), **scores}


def _score(run: Run, shape: Export, side: Side, examples: Sequence[Texts]) -> dict[str, float]:
    task = copy(run.task)
    if shape.kind == "encoder-decoder":
        return _score_answers(task, run, side, examples)
    network = stand_in(side, run.model)
    if shape.kind == "causal" and shape.head == "tokens":
        return _score_text(task, network, examples)
    return dict(task.measure(network, examples, quick=True).metrics)


def _score_answers(
    task: Any,  # noqa: ANN401 - any task that writes
    run: Run,
    side: Side,
    examples: Sequence[Texts],
) -> dict[str, float]:
    """Let the task measure the side's answers as if they were its model's."""
    most = min(LONGEST_ANSWER, run.recipe.text.max_length - 1)

    def answer(_model: nn.Module, texts: Sequence[str], **_options: bool) -> list[Prediction]:
        found = side.answer([(text,) for text in texts], most=most)
        assert found is not None
        return [Prediction(text, 0.0, 0) for text in found]

    task.answer = answer
    return dict(task.measure(run.model, examples, quick=True).metrics)


def _score_text(task: Any, network: "Network", examples: Sequence[Texts]) -> dict[str, float]:  # noqa: ANN401 - a language model
    """Return the loss on the beginning of the text."""
    encoded = [id for (ids,) in task.encode(list(examples)) for id in ids]
    ids = np.asarray(encoded[: 64 * task.context], dtype=np.uint32)
    log_p = task.log_p(network, ids, context=task.context, stride=task.context)
    return {"loss": -float(log_p.mean())}


def stand_in(side: Side, model: nn.Module) -> "Network":
    """Return a side as a model of the task's own class."""
    kind = type("StandIn", (Network, type(model)), {})
    return kind(side, getattr(model, "head", None))


class Network(nn.Module):
    """A side in the place of a task's model.

    Args:
        side: Computes the outputs.
        head: The head of the task's model, for its output vocabulary.

    """

    pair_head = None

    def __init__(self, side: Side, head: nn.Module | None) -> None:
        nn.Module.__init__(self)
        self.side = side
        self.head = PassingHead(head) if isinstance(head, TokenHead) else nn.Linear(1, 1)

    def forward(
        self,
        ids: Tensor,
        *,
        lengths: Tensor | None = None,
        visible: Tensor | None = None,
        segments: Tensor | None = None,
    ) -> Tensor:
        """Return the logits or vectors of every row, padded with 0."""
        if lengths is None:
            lengths = ids.new_full((len(ids),), ids.shape[1])
            if visible is not None:
                lengths = visible.expand(len(ids), 1, 1, -1)[:, 0, 0].sum(dim=-1)
        rows = []
        for number, length in enumerate(lengths.tolist()):
            own = () if segments is None else tuple(segments[number, :length].tolist())
            rows.append(Row(ids[number, :length].tolist(), segments=own))
        found = [next(iter(output.values())).float() for output in self.side.outputs(rows)]
        return nn.utils.rnn.pad_sequence(found, batch_first=True)


class PassingHead(TokenHead):
    """A head whose states are logits already.

    Args:
        head: The head in whose place it stands.

    """

    def __init__(self, head: TokenHead) -> None:
        super().__init__(1, head.tokens)
        if head.written is not None:
            self.restrict_vocabulary(head.written)

    def logits(self, states: Tensor) -> Tensor:
        return states if self.written is None else states.index_select(-1, self.written)
