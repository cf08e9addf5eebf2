"""A question: numbers that a model computes from a text, and the words they may come from.

    label              the logit of one label
    translation        for every written word, log p(word | source, the words before it)
    language model     for every word of the ending, log p(word | the text before it)
    masked words       for every [MASK], log p(the word that fills it)

An attribution evaluates them many times, with words left out or with other vectors in the words'
places, and says which words the numbers came from. All but the words of the text stays the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.data.batch import Batch
from regard.models.heads import TokenHead
from regard.models.token_attention import TokenAttention
from regard.text.tokenizer import Tokenizer

Row = list[int]
Score = Callable[[Sequence[Row]], Tensor]
"""Rows of ids to the numbers of each: a tensor "row answer" that can be differentiated."""
TOKENS_AT_ONCE = 1 << 12


class Inquiry(NamedTuple):
    """Which answer to a text is to be explained, and by what."""

    text: str
    target: str | None = None
    """A written answer instead of the model's own."""
    label: str | None = None
    """Another label than the likeliest."""
    continue_text: bool = False
    """Explain what a language model writes next instead of the last word given."""
    pieces: bool = False
    """Score tokens instead of words."""


class AnsweredBatch(NamedTuple):
    """An answer, and the text (with what was written) as the model reads it."""

    answer: str
    batch: Batch


class TextAttention(NamedTuple):
    """A text, where poolings attended in it, and the answer."""

    ids: Row
    tokens: TokenAttention
    answer: str


class Positions(NamedTuple):
    """What one call of the embedding reads."""

    row: Int[Tensor, "sentence position"]
    """Of which row of the batch."""
    position: Int[Tensor, "sentence position"]
    """At which position of that row."""


class Member(NamedTuple):
    """One member of an ensemble."""

    name: str
    weight: float
    """Its weight in the answer."""
    probability: float
    """Of the answer by it alone."""


class Hierarchy(NamedTuple):
    """How a network that reads sentence by sentence reads a text."""

    calls: Callable[[int], list[Positions]]
    """What each call of the embedding reads of that many copies of the text."""
    attention: Callable[[], TextAttention]


@dataclass(frozen=True)
class Question:
    """What there is to explain about the answer to one text."""

    model: nn.Module
    tokenizer: Tokenizer
    ids: tuple[int, ...]
    """The text as the embedding reads it, special tokens included."""
    words: tuple[slice, ...]
    """Its words, or its tokens one by one."""
    score: Score
    probability: Score
    """The same rows to the probability of the answer (of a written one, the geometric mean per
    token): a tensor " row"."""
    answers: tuple[str, ...]
    """What each number is of: a label, or a written word."""
    kind: str
    """What the numbers are, in words."""
    predicting: NDArray[np.float64]
    """Which states predict each answer: "answer position", rows that sum to one."""
    forward: Callable[[], Tensor]
    """Runs the model over the text, for whoever listens to its taps."""
    hierarchy: Hierarchy | None = None
    output: str = ""
    """What an answer is called where each is a log-probability of its own: "written word"."""
    score_range: tuple[float, float] | None = None
    """What the probabilities 0 and 1 stand for where the answer is a score."""
    others: Score | None = None
    """What the number is if only the other members of an ensemble read these rows."""
    members: tuple[Member, ...] = ()
    """Who answers together with the network; empty where it answers alone."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every word as it is shown."""
        tokens = self.tokenizer.tokens(self.ids)
        return tuple("".join(tokens[p]) for p in self.words)

    @property
    def erasable(self) -> tuple[int, ...]:
        """Words that can be left out: all but special tokens."""
        special = self.tokenizer.is_special
        return tuple(n for n, p in enumerate(self.words) if not special(self.ids[p.start]))

    def without(self, erased: Sequence[int]) -> Row:
        """Return the ids without these words."""
        gone = {place for n in erased for place in range(self.words[n].start, self.words[n].stop)}
        return [id for place, id in enumerate(self.ids) if place not in gone]

    @torch.inference_mode()
    def evaluate(self, rows: Sequence[Row], *, score: Score | None = None) -> NDArray[np.float64]:
        """Score many rows, a bounded number of tokens at a time."""
        chosen = score or self.score
        most = max(1, TOKENS_AT_ONCE // max(map(len, rows), default=1))
        found = [chosen(rows[n : n + most]).cpu().double() for n in range(0, len(rows), most)]
        return torch.cat(found).numpy()


def one_by_one(count: int) -> tuple[slice, ...]:
    """Let every token be a word."""
    return tuple(slice(n, n + 1) for n in range(count))


def group_words(tokenizer: Tokenizer, ids: Row, *, pieces: bool) -> tuple[slice, ...]:
    """Group ids into words, or leave every piece by itself."""
    return one_by_one(len(ids)) if pieces else tuple(w.tokens for w in tokenizer.words(ids))


def log_p(
    head: TokenHead, states: Float[Tensor, "row step width"], written: Row
) -> Float[Tensor, "row step"]:
    """Log-probability of what was written; a token that cannot be written counts as certain."""
    places = head.places(torch.tensor(written, device=states.device))
    log_p = head.logits(states[:, : len(written)]).log_softmax(dim=-1)
    found = log_p.gather(2, places.clamp(min=0).expand(len(states), -1)[:, :, None])[:, :, 0]
    return found * (places >= 0)


def predicting_states(groups: Sequence[slice], begin: int, positions: int) -> NDArray[np.float64]:
    """Average, for every written word, the states that predict its pieces, from ``begin`` on."""
    predicting = np.zeros((len(groups), positions))
    for answer, group in enumerate(groups):
        length = group.stop - group.start
        predicting[answer, begin + group.start : begin + group.stop] = 1 / length
    return predicting


def add_pieces(each: Float[Tensor, "row step"], groups: Sequence[slice]) -> Tensor:
    """Add the log-probabilities of a word's pieces."""
    return torch.stack([each[:, group].sum(dim=1) for group in groups], dim=1)
