"""A trace: where a translator looked, for every layer and head, while it wrote an answer.

    row t of a map is the look that was taken when word t was written

The weights are the equation's own: while someone listens the model computes by the equation, and
otherwise by the fused kernel, which is proven equal. Heads are never averaged unless asked.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from regard.layers.tap import listen
from regard.run import Run


@dataclass(frozen=True)
class Trace:
    """Cross-attention of one answer."""

    source: tuple[str, ...]
    """What was looked at, piece by piece; the last one is the end of the text."""
    target: tuple[str, ...]
    """What was written, piece by piece; the last one is the end of the answer."""
    weights: NDArray[np.float32]
    """Axes: layer, head, target, source. Each row over ``source`` sums to one."""
    source_words: tuple[slice, ...]
    target_words: tuple[slice, ...]

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
    )
