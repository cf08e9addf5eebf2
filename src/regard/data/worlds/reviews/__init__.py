"""Reviews of several sentences, with their rating and the words that determine it (rationale).

    plain      one sentence is the author's verdict; other people's opinions and filler surround it
    context    one sentence names the aspect that counts, the next one judges several aspects:
               "Only the soup counts for me. I found the bread superb, the soup weak and …"

In the second kind neither sentence determines the rating alone. A model that encodes each sentence
without the others has to keep every (aspect, opinion) pair in its vector; a context-aware model
needs one pair. The most frequent opinion of the list is right in about half of such reviews.

``draw_reviews("train")`` yields them with the gold rationale: the sentences and words that are
necessary for the rating. The splits share every word, but no pair of aspect and opinion.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from regard.data.worlds.reviews.words import (
    ASPECTS,
    DAYS,
    HEARSAY,
    LISTS,
    NAMING,
    NEGATED,
    OPINIONS,
    PAIRS,
    PEOPLE,
    RATING_OF,
    SETTING,
    VERDICT,
)
from regard.data.worlds.scenes.chance import Chance
from regard.data.worlds.splits import Split, to_split

__all__ = ["CONTEXT", "COUNTS", "Review", "draw_reviews", "side_of"]

COUNTS: dict[Split, int] = {"train": 6_000, "valid": 500, "test": 1_000}
"""Default number of reviews of each split."""
CONTEXT = 0.5
"""Share of the reviews whose rating needs two sentences."""
LISTED = (2, 3, 4)
"""Number of aspects in a list."""
AROUND = (1, 2, 3)
"""Number of filler sentences."""
_HEARSAY, _NEGATION = 0.5, 0.3
_SIDES: dict[int, Split] = {0: "valid", 1: "test"}

_Item = TypeVar("_Item")
WordPosition = tuple[int, int]
"""Sentence and word, both from 0; words are separated by spaces."""


class Review(NamedTuple):
    """A review with its rating and rationale."""

    sentences: tuple[str, ...]
    rating: str
    rationale_sentences: tuple[int, ...]
    """Sentences that are necessary for the rating."""
    rationale_words: tuple[WordPosition, ...]
    """The opinion, a "not" before it, and the aspect that was named."""
    needs_context: bool

    @property
    def text(self) -> str:
        """The whole review."""
        return " ".join(self.sentences)


class _Opinion(NamedTuple):
    """An aspect and the opinion on it."""

    aspect: str
    opinion: str
    negated: bool

    @property
    def rating(self) -> int:
        rating = RATING_OF[self.opinion]
        return NEGATED[rating] if self.negated else rating

    @property
    def said(self) -> str:
        return f"not {self.opinion}" if self.negated else self.opinion


def draw_reviews(
    split: str, *, count: int | None = None, seed: int = 0, context: float = CONTEXT
) -> Iterator[Review]:
    """Draw distinct reviews of a split, the same for the same seed on every machine."""
    side = to_split(split)
    chance, seen = Chance(side, seed, world="reviews"), set[str]()
    wanted = COUNTS[side] if count is None else count
    while len(seen) < wanted:
        review = _draw_in_context(chance) if chance.happens(context) else _draw_plain(chance)
        if review.text not in seen:
            seen.add(review.text)
            yield review


def _draw_plain(chance: Chance) -> Review:
    judged = _judge(chance, chance.pick(ASPECTS))
    verdict = chance.pick(VERDICT).format(aspect=judged.aspect, opinion=judged.said)
    sentences, (at,) = _surround(chance, [verdict])
    words = [(at, place) for place in _find_words(verdict, judged.said)]
    return Review(tuple(sentences), str(judged.rating), (at,), tuple(words), False)


def _draw_in_context(chance: Chance) -> Review:
    things = _pick_several(chance, ASPECTS, chance.pick(LISTED))
    listed = [_judge(chance, aspect) for aspect in things]
    counts = chance.pick(listed)
    naming = chance.pick(NAMING).format(aspect=counts.aspect)
    frame = chance.pick(LISTS)
    pair = PAIRS.get(frame, "the {aspect} was {opinion}")
    said = [pair.format(aspect=each.aspect, opinion=each.said) for each in listed]
    *rest, last = said
    long = frame.format(pairs=f"{', '.join(rest)} and {last}")
    sentences, (named_at, listed_at) = _surround(chance, [naming, long])
    words = [
        *((named_at, place) for place in _find_words(naming, counts.aspect)),
        *((listed_at, place) for place in _find_words(long, counts.said, after=counts.aspect)),
    ]
    needed = (named_at, listed_at)
    return Review(tuple(sentences), str(counts.rating), needed, tuple(words), True)


def side_of(aspect: str, opinion: str) -> Split:
    """Return the split of a pair: of an aspect's seven words for a rating, one each is held out."""
    words = OPINIONS[RATING_OF[opinion]]
    turn = (ASPECTS.index(aspect) + words.index(opinion)) % len(words)
    return _SIDES.get(turn, "train")


def _judge(chance: Chance, aspect: str) -> _Opinion:
    """Draw an opinion that this split may use for an aspect; ratings are equally likely."""
    rating = chance.pick(tuple(OPINIONS))
    allowed = [word for word in OPINIONS[rating] if side_of(aspect, word) == chance.split]
    return _Opinion(aspect, chance.pick(allowed), rating in NEGATED and chance.happens(_NEGATION))


def _surround(chance: Chance, matter: list[str]) -> tuple[list[str], list[int]]:
    """Put filler around one relevant sentence, or after two; return where these are."""
    chatter = [_draw_filler(chance) for _ in range(chance.pick(AROUND))]
    first = chance.pick(range(len(chatter) + 1)) if len(matter) == 1 else 0
    places = list(range(first, first + len(matter)))
    return [*chatter[:first], *matter, *chatter[first:]], places


def _draw_filler(chance: Chance) -> str:
    frames = HEARSAY if chance.happens(_HEARSAY) else SETTING
    return chance.pick(frames).format(
        person=chance.pick(PEOPLE),
        day=chance.pick(DAYS),
        opinion=chance.pick(OPINIONS[chance.pick(tuple(OPINIONS))]),
    )


def _pick_several(chance: Chance, items: Sequence[_Item], count: int) -> list[_Item]:
    left = list(items)
    return [left.pop(left.index(chance.pick(left))) for _ in range(count)]


def _find_words(sentence: str, said: str, *, after: str = "") -> Iterator[int]:
    """Yield the indices of the words of ``said`` in a sentence, from the word ``after`` on."""
    words = [word.rstrip(".,") for word in sentence.split()]
    begin = words.index(after) if after else 0
    wanted = said.split()
    while words[begin : begin + len(wanted)] != wanted:
        begin += 1
    yield from range(begin, begin + len(wanted))
