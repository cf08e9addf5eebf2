"""A trace: the attention weights of every layer and head for one text and its answer.

    cross      row t: from the state that predicts written word t to the source
    decoder    row t: from the state that predicts written word t to the words before it
    encoder    row t: from word t of the source to the source
    self       row t: from word t of a text to the text, as far as it is visible
    pointer    row t: the copying distribution over the source when word t was written
    pool       row h: from hop h of the pooling to the text

The weights are the equation's own: while a tap is recorded the model computes by the equation, and
otherwise by the fused kernel, which is tested to be equal. Heads are never averaged unless asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.batch import Batch
from regard.device import device_of
from regard.errors import UsageError
from regard.explain.record_attention import Stacks, record_attention
from regard.run import Run
from regard.tasks.question import one_by_one

SELF_ATTENTION = frozenset({"encoder", "self"})
"""Stacks whose rows and columns are the same words."""


@dataclass(frozen=True)
class Trace:
    """The attention weights of one stack."""

    source: tuple[str, ...]
    """What is attended to, piece by piece; of a translation the last one is the end of the text."""
    target: tuple[str, ...]
    """What attends, piece by piece; of a translation what was written, its end last."""
    weights: NDArray[np.float32]
    """Axes: layer, head, target, source. Each row over ``source`` sums to one."""
    source_words: tuple[slice, ...]
    target_words: tuple[slice, ...]
    self_attention: bool = False
    """Whether rows and columns are the same words."""
    answer: str = ""
    """What the model answered."""
    stack: str = "cross"
    """Which stack: one of those above."""
    sinks: tuple[int, ...] = ()
    """Columns that are often attention sinks: special tokens, else the first one."""
    ids: tuple[int, ...] = ()
    """Of what is attended to, piece by piece; empty once merged."""

    def by_words(self) -> "Trace":
        """Merge pieces into words.

        Attention to a word is the sum over its pieces, attention from a word the mean over its
        pieces, so that every row still sums to one.
        """
        onto = np.stack([self.weights[..., p].sum(-1) for p in self.source_words], axis=-1)
        merged = np.stack([onto[:, :, p].mean(-2) for p in self.target_words], axis=-2)
        sinks = {n for n, p in enumerate(self.source_words) if p.start in self.sinks}
        return replace(
            self,
            source=tuple("".join(self.source[p]) for p in self.source_words),
            target=tuple("".join(self.target[p]) for p in self.target_words),
            weights=merged,
            source_words=one_by_one(len(self.source_words)),
            target_words=one_by_one(len(self.target_words)),
            sinks=tuple(sorted(sinks)),
            ids=(),
        )

    def without_sinks(self, *, renormalised: bool = False) -> "Trace":
        """Leave out the columns of :attr:`sinks`; rows then sum to less than one.

        With ``renormalised`` they sum to one again, unless all weight was on the sinks.
        """
        kept = [n for n in range(len(self.source)) if n not in self.sinks]
        weights = self.weights[..., kept]
        if renormalised:
            weights = weights / np.maximum(weights.sum(-1, keepdims=True), np.float32(1e-12))
        lengths = [sum(n in kept for n in range(p.start, p.stop)) for p in self.source_words]
        ends = np.cumsum([0, *(length for length in lengths if length)]).tolist()
        return replace(
            self,
            source=tuple(self.source[n] for n in kept),
            weights=weights,
            source_words=tuple(slice(a, b) for a, b in pairwise(ends)),
            sinks=(),
            ids=(),
        )


class Traced(NamedTuple):
    """An answer, and the attention of every stack."""

    answer: str
    attention: dict[str, Trace]
    """By stack, the most important first. Empty for a model without attention."""

    @property
    def main(self) -> Trace:
        """The attention to show first."""
        return next(iter(self.attention.values()))


def trace(run: Run, text: str, target: str | None = None) -> Trace:
    """Answer a text and record the main stack: cross-attention, or self-attention."""
    found = trace_all(run, text, target)
    if not found.attention:
        raise no_attention(run)
    return found.main


def trace_translation(run: Run, source: str, target: str | None = None) -> Trace:
    """Translate ``source``, or take ``target`` as the translation, and record cross-attention."""
    return trace(run, source, target)


def trace_all(
    run: Run, text: str, target: str | None = None, *, continue_text: bool = False
) -> Traced:
    """Answer a text and record the attention of every stack.

    ``target`` replaces the answer of an encoder-decoder; ``continue_text`` lets a language model
    generate and traces the generated words as well.
    """
    answer, batch = run.task.answer_batch(run.model, text, target, continue_text=continue_text)
    attention = trace_batch(run, batch)
    return Traced(answer, {name: replace(t, answer=answer) for name, t in attention.items()})


def no_attention(run: Run) -> UsageError:
    """Say that a model has no attention, and which attributions need none."""
    return UsageError(
        "only a model with attention has attention weights. The mixer of this model is "
        f"{run.recipe.model.mixer.kind}.",
        "Take --attribution gradient, integrated-gradients or occlusion.",
    )


def trace_batch(run: Run, batch: Batch) -> dict[str, Trace]:
    """Record the attention of every stack over one example, as its task puts it."""
    batch = batch.to(device_of(run.model))
    ids, stacks = record_attention(run.model, lambda: run.task.states(run.model, batch))
    if not run.task.writes_target:
        return _trace_one_text(run, ids[0], stacks)
    source, target = (field.ids[0].tolist() for field in batch.fields)
    attention: dict[str, Trace] = {}
    for stack in (name for name in ("cross", "pointer", "encoder", "decoder") if name in stacks):
        columns = ids[1] if stack == "decoder" else source
        rows = source if stack == "encoder" else target
        attention[stack] = _name_words(run, stack, stacks[stack], columns, rows)
    return attention


def _trace_one_text(run: Run, ids: list[int], stacks: Stacks) -> dict[str, Trace]:
    """Name the words of the stacks over one text, self-attention first."""
    order = sorted(stacks, key=lambda stack: stack != "self")
    fits = [stack for stack in order if stacks[stack].shape[-1] == len(ids)]
    return {stack: _name_words(run, stack, stacks[stack], ids, ids) for stack in fits}


def _name_words(
    run: Run,
    stack: str,
    weights: NDArray[np.float32],
    columns: Sequence[int],
    rows: Sequence[int],
) -> Trace:
    """Name the words of the rows and columns of one stack."""
    tokenizer = run.tokenizer
    hops = weights.shape[-2]
    special = tuple(n for n, id in enumerate(columns) if tokenizer.is_special(id))
    return Trace(
        source=tuple(tokenizer.tokens(columns)),
        target=tuple(f"hop {n + 1}" for n in range(hops))
        if stack == "pool"
        else tuple(tokenizer.tokens(rows)),
        weights=weights,
        source_words=tuple(word.tokens for word in tokenizer.words(columns)),
        target_words=one_by_one(hops)
        if stack == "pool"
        else tuple(word.tokens for word in tokenizer.words(rows)),
        self_attention=stack in SELF_ATTENTION,
        stack=stack,
        sinks=special or (0,),
        ids=tuple(columns),
    )
