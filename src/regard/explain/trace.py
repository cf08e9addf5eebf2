"""A trace: where a model looked, for every layer and head.

    translation    row t is the look into the source that was taken when word t was written
    one text       row t is the look of word t into the text itself, wherever it could see

The weights are the equation's own: while someone listens the model computes by the equation, and
otherwise by the fused kernel, which is proven equal. Heads are never averaged unless asked.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.errors import UsageError
from regard.layers.tap import listen
from regard.models.body import Body
from regard.run import Run


@dataclass(frozen=True)
class Trace:
    """Attention of one answer."""

    source: tuple[str, ...]
    """What was looked at, piece by piece; in a translation the last one is the end of the text."""
    target: tuple[str, ...]
    """Who looked, piece by piece; in a translation what was written, the end of it last."""
    weights: NDArray[np.float32]
    """Axes: layer, head, target, source. Each row over ``source`` sums to one."""
    source_words: tuple[slice, ...]
    target_words: tuple[slice, ...]
    own: bool = False
    """Whether the text looked at itself."""
    answer: str = ""
    """What the model answered."""

    def by_words(self) -> "Trace":
        """Merge pieces into words.

        A look at a word is the sum over its pieces, and a word's look is the mean over its pieces,
        so that every row still sums to one.
        """
        onto = np.stack([self.weights[..., p].sum(-1) for p in self.source_words], axis=-1)
        merged = np.stack([onto[:, :, p].mean(-2) for p in self.target_words], axis=-2)
        return replace(
            self,
            source=tuple("".join(self.source[p]) for p in self.source_words),
            target=tuple("".join(self.target[p]) for p in self.target_words),
            weights=merged,
            source_words=tuple(slice(n, n + 1) for n in range(len(self.source_words))),
            target_words=tuple(slice(n, n + 1) for n in range(len(self.target_words))),
        )


def trace(run: Run, asked: str, target: str | None = None) -> Trace:
    """Answer a text and record every look; ``target`` gives a translator's answer instead."""
    if run.recipe.task == "translation":
        return trace_translation(run, asked, target)
    if target is not None:
        raise UsageError(
            f"only a translation has a target. Got one for a run of {run.recipe.task}.",
            "Leave the target out.",
        )
    if not looks_within(run):
        raise UsageError(
            f"only attention can be looked at. This model mixes by {run.recipe.model.mixer.kind}.",
            'Train one with model.mixer.kind = "attention".',
        )
    return _trace_body(run, asked)


def looks_within(run: Run) -> bool:
    """Whether the body of a model of one text attends."""
    return run.recipe.model.mixer.kind == "attention" and hasattr(run.model, "body")


def _trace_body(run: Run, asked: str) -> Trace:
    batch = run.task.asked(asked)
    read: list[Tensor] = []

    def hear(_part: nn.Module, given: tuple[Tensor, ...]) -> None:
        read.append(given[0])

    body = run.model.eval().body
    assert isinstance(body, Body)
    hook = body.reading.register_forward_pre_hook(hear)
    try:
        with torch.inference_mode(), listen(body, "mixer.part.weights") as heard:
            run.task.states(run.model, batch)
    finally:
        hook.remove()
    ids = read[0][0].tolist()
    pieces = tuple(run.tokenizer.tokens(ids))
    words = tuple(word.tokens for word in run.tokenizer.words(ids))
    weights = torch.stack([weights[0][0] for weights in heard.values()]).float().numpy()
    return Trace(pieces, pieces, weights, words, words, own=True, answer=_answer(run, asked))


def _answer(run: Run, asked: str) -> str:
    try:
        return run.task.answer(run.model, [asked], quick=True, cut=True)[0].text
    except UsageError:  # a text can be looked at that asks nothing, such as one without a mask
        return ""


def trace_translation(run: Run, source: str, target: str | None = None) -> Trace:
    """Translate ``source``, or take ``target`` as the translation, and record every look."""
    if target is None:
        target = run.task.answer(run.model, [source], cut=True)[0].text
    store_row = run.task.encode([(source, target)])[0]
    batch = run.task.pad([store_row])
    with torch.inference_mode(), listen(run.model, "cross.part.weights") as heard:
        run.task.states(run.model.eval(), batch)
    layers = [weights[0][0] for weights in heard.values()]
    tokenizer = run.tokenizer
    return Trace(
        source=tuple(tokenizer.tokens(store_row[0])),
        target=tuple(tokenizer.tokens(store_row[1])),
        weights=torch.stack(layers).float().numpy(),
        source_words=tuple(word.tokens for word in tokenizer.words(store_row[0])),
        target_words=tuple(word.tokens for word in tokenizer.words(store_row[1])),
        answer=target,
    )
