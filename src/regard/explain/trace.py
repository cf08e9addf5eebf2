"""A trace: where a model looked, for every layer and head.

    cross      row t is the look into the source that was taken when word t was written
    decoder    row t is the look into what had been written when word t was written
    encoder    row t is the look of word t of the source into the source
    self       row t is the look of word t into its own text, wherever it could see
    pointer    row t is where word t was pointed at to be copied, in a model that copies
    pool       row h is hop h's look at the text, when its states were made into one

The weights are the equation's own: while someone listens the model computes by the equation, and
otherwise by the fused kernel, which is proven equal. Heads are never averaged unless asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.batch import Batch
from regard.errors import UsageError
from regard.explain.record_attention import Stacks, record_attention
from regard.run import Run
from regard.tasks.question import one_by_one

OF_ITSELF = frozenset({"encoder", "self"})
"""Stacks in which a text looks at itself: rows and columns are the same words."""


@dataclass(frozen=True)
class Trace:
    """The looks of one stack while one text was answered."""

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
    stack: str = "cross"
    """Which stack looked: one of those above."""
    sinks: tuple[int, ...] = ()
    """Columns that often hold looks that look for nothing: special tokens, else the first one."""
    ids: tuple[int, ...] = ()
    """Of what was looked at, piece by piece; none once merged."""

    def by_words(self) -> "Trace":
        """Merge pieces into words.

        A look at a word is the sum over its pieces, and a word's look is the mean over its pieces,
        so that every row still sums to one.
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

        With ``renormalised`` they sum to one again, unless all of a row was there.
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
    """Everything that was heard while one text was answered."""

    answer: str
    looks: dict[str, Trace]
    """By stack; the one to look at first comes first. Empty for a model that does not attend."""

    @property
    def main(self) -> Trace:
        """The looks to show unless others are asked for."""
        return next(iter(self.looks.values()))


def trace(run: Run, asked: str, target: str | None = None) -> Trace:
    """Answer a text and record the looks that matter most: into the source, or into the text."""
    found = trace_all(run, asked, target)
    if not found.looks:
        raise no_looks(run)
    return found.main


def trace_translation(run: Run, source: str, target: str | None = None) -> Trace:
    """Translate ``source``, or take ``target`` as the translation, and record every look."""
    return trace(run, source, target)


def trace_all(run: Run, asked: str, target: str | None = None, *, go_on: bool = False) -> Traced:
    """Answer a text and record every look of every stack.

    ``target`` gives a translator's answer instead of its own; ``go_on`` lets a language model go
    on with the text and records what it wrote as well.
    """
    answer, batch = run.task.answer_batch(run.model, asked, target, go_on=go_on)
    looks = trace_batch(run, batch)
    return Traced(answer, {name: replace(t, answer=answer) for name, t in looks.items()})


def no_looks(run: Run) -> UsageError:
    """Say that a model has no attention, and what works nevertheless."""
    return UsageError(
        f"only attention can be looked at. This model mixes by {run.recipe.model.mixer.kind}.",
        "Take a reading that needs no attention: --reading gradient, integrated or occlusion.",
    )


def trace_batch(run: Run, batch: Batch) -> dict[str, Trace]:
    """Record every look over one example, put as its task puts it."""
    ids, stacks = record_attention(run.model, lambda: run.task.states(run.model, batch))
    if not run.task.writes_target:
        return _within_one_text(run, ids[0], stacks)
    source, target = (field.ids[0].tolist() for field in batch.fields)
    looks: dict[str, Trace] = {}
    for stack in (name for name in ("cross", "pointer", "encoder", "decoder") if name in stacks):
        columns = ids[1] if stack == "decoder" else source
        rows = source if stack == "encoder" else target
        looks[stack] = _placed(run, stack, stacks[stack], columns, rows)
    return looks


def _within_one_text(run: Run, ids: list[int], stacks: Stacks) -> dict[str, Trace]:
    """Put words beside the looks at one text, its looks at itself first."""
    order = sorted(stacks, key=lambda stack: stack != "self")
    fits = [stack for stack in order if stacks[stack].shape[-1] == len(ids)]
    return {stack: _placed(run, stack, stacks[stack], ids, ids) for stack in fits}


def _placed(
    run: Run,
    stack: str,
    weights: NDArray[np.float32],
    columns: Sequence[int],
    rows: Sequence[int],
) -> Trace:
    """Put words beside the weights of one stack."""
    tokenizer = run.tokenizer
    hops = weights.shape[-2]
    special = tuple(n for n, id in enumerate(columns) if tokenizer.is_special(id))
    looked = tuple(word.tokens for word in tokenizer.words(columns))
    own = stack in OF_ITSELF
    return Trace(
        source=tuple(tokenizer.tokens(columns)),
        target=tuple(f"hop {n + 1}" for n in range(hops))
        if stack == "pool"
        else tuple(tokenizer.tokens(rows)),
        weights=weights,
        source_words=looked,
        target_words=one_by_one(hops)
        if stack == "pool"
        else tuple(word.tokens for word in tokenizer.words(rows)),
        own=own,
        stack=stack,
        sinks=special or (0,),
        ids=tuple(columns),
    )
