"""A question: numbers that a model computes of a text, and the words they may come from.

    label              the logit of one label
    translation        for every written word, log p(word | source, what was written before it)
    language model     for every word of the ending, log p(word | the text before it)
    masked words       for every [MASK], log p(the word that fills it)

A reading asks again and again, with words left out or with other states in the words' places, and
says which words the numbers came from. Everything but the words of the text stays as it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from regard.explain.trace import singly
from regard.models.heads import TokenHead
from regard.run import Run

Row = list[int]
Ask = Callable[[Sequence[Row]], Tensor]
"""Rows of ids to the numbers of each: a tensor "row answer" that can be differentiated."""
ASKED_AT_ONCE = 1 << 12  # tokens


@dataclass(frozen=True)
class Question:
    """What is asked of one text."""

    run: Run
    asked: str
    ids: tuple[int, ...]
    """The text as the model's first reading sees it, special tokens included."""
    words: tuple[slice, ...]
    """Its words, or its pieces one by one."""
    ask: Ask
    chance: Ask
    """The same rows to the probability of the answer as a whole: a tensor " row"."""
    answers: tuple[str, ...]
    """What each number speaks for: a label, or a written word."""
    kind: str
    """What the numbers are, in words."""
    readers: NDArray[np.float64]
    """Which states speak for each answer: "answer position", rows that sum to one."""
    batch: Any
    """The text as the run's task puts it, for whoever listens to the taps."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every word as it is shown."""
        tokens = self.run.tokenizer.tokens(self.ids)
        return tuple("".join(tokens[p]) for p in self.words)

    @property
    def erasable(self) -> tuple[int, ...]:
        """Words that can be left out: all but special tokens."""
        special = self.run.tokenizer.is_special
        return tuple(n for n, p in enumerate(self.words) if not special(self.ids[p.start]))

    def without(self, erased: Sequence[int]) -> Row:
        """Return the ids without these words."""
        gone = {place for n in erased for place in range(self.words[n].start, self.words[n].stop)}
        return [id for place, id in enumerate(self.ids) if place not in gone]

    @torch.inference_mode()
    def numbers(self, rows: Sequence[Row], *, ask: Ask | None = None) -> NDArray[np.float64]:
        """Ask many rows, a bounded number of tokens at a time."""
        asked = ask or self.ask
        most = max(1, ASKED_AT_ONCE // max(map(len, rows), default=1))
        found = [asked(rows[n : n + most]).double() for n in range(0, len(rows), most)]
        return torch.cat(found).numpy()


def words(run: Run, ids: Row, pieces: bool) -> tuple[slice, ...]:
    """Group ids into words, or leave every piece for itself."""
    return singly(len(ids)) if pieces else tuple(w.tokens for w in run.tokenizer.words(ids))


def log_p(
    head: TokenHead, states: Float[Tensor, "row step width"], written: Row
) -> Float[Tensor, "row step"]:
    """Log-probability of what was written; a token that cannot be written counts as certain."""
    places = head.places(torch.tensor(written))
    log_p = head.logits(states[:, : len(written)]).log_softmax(dim=-1)
    found = log_p.gather(2, places.clamp(min=0).expand(len(states), -1)[:, :, None])[:, :, 0]
    return found * (places >= 0)


def speaking(groups: Sequence[slice], begin: int, positions: int) -> NDArray[np.float64]:
    """Let every answer be spoken for by the states that wrote its pieces, from ``begin`` on."""
    readers = np.zeros((len(groups), positions))
    for answer, group in enumerate(groups):
        readers[answer, begin + group.start : begin + group.stop] = 1 / (group.stop - group.start)
    return readers


def grouped(each: Float[Tensor, "row step"], groups: Sequence[slice]) -> Tensor:
    """Add the log-probabilities of a word's pieces."""
    return torch.stack([each[:, group].sum(dim=1) for group in groups], dim=1)
