"""Reviews of several sentences, each with its rating and with the words that give it.

    plain      one sentence holds the writer's verdict; others' opinions and chatter surround it
    context    one sentence names the thing that counts, the next one judges several things:
               "Only the soup counts for me. I found the bread superb, the soup weak and …"

In the second kind neither sentence says the rating alone. A reader that makes one vector of each
sentence before it sees the others would have to keep every pair of thing and opinion in it; one
that knows what was named needs one of them. A guess by the commonest opinion of the list is right
in about half of such reviews.

``reviews("train")`` yields them with gold rationale: the sentences and words without which nobody
could know. The splits share every word, but no pair of thing and opinion.
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

__all__ = ["CONTEXT", "COUNTS", "Review", "reviews", "side_of"]

COUNTS: dict[Split, int] = {"train": 6_000, "valid": 500, "test": 1_000}
"""How many reviews a split has unless asked for more or fewer."""
CONTEXT = 0.5
"""Share of the reviews whose rating needs two sentences."""
LISTED = (2, 3, 4)
"""How many things a list judges."""
AROUND = (1, 2, 3)
"""How many sentences stand around those that matter."""
_HEARSAY, _NEGATION = 0.5, 0.3
_SIDES: dict[int, Split] = {0: "valid", 1: "test"}

_Item = TypeVar("_Item")
Place = tuple[int, int]
"""Sentence and word, both from 0; words are what stands between spaces."""


class Review(NamedTuple):
    """A review with its truth."""

    sentences: tuple[str, ...]
    rating: str
    rationale_sentences: tuple[int, ...]
    """Those without which the rating could not be known."""
    rationale_words: tuple[Place, ...]
    """The opinion, a "not" before it, and the thing that was named."""
    needs_context: bool

    @property
    def text(self) -> str:
        """The whole review."""
        return " ".join(self.sentences)


class _Judged(NamedTuple):
    """A thing and what is said of it."""

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


def reviews(
    split: str, *, count: int | None = None, seed: int = 0, context: float = CONTEXT
) -> Iterator[Review]:
    """Draw distinct reviews of a split, the same for the same seed on every machine."""
    side = to_split(split)
    chance, seen = Chance(side, seed, world="reviews"), set[str]()
    wanted = COUNTS[side] if count is None else count
    while len(seen) < wanted:
        review = _in_context(chance) if chance.happens(context) else _plain(chance)
        if review.text not in seen:
            seen.add(review.text)
            yield review


def _plain(chance: Chance) -> Review:
    judged = _judged(chance, chance.pick(ASPECTS))
    verdict = chance.pick(VERDICT).format(aspect=judged.aspect, opinion=judged.said)
    sentences, (at,) = _surrounded(chance, [verdict])
    words = [(at, place) for place in _spans(verdict, judged.said)]
    return Review(tuple(sentences), str(judged.rating), (at,), tuple(words), False)


def _in_context(chance: Chance) -> Review:
    things = _several(chance, ASPECTS, chance.pick(LISTED))
    listed = [_judged(chance, aspect) for aspect in things]
    counts = chance.pick(listed)
    naming = chance.pick(NAMING).format(aspect=counts.aspect)
    frame = chance.pick(LISTS)
    pair = PAIRS.get(frame, "the {aspect} was {opinion}")
    said = [pair.format(aspect=each.aspect, opinion=each.said) for each in listed]
    *rest, last = said
    long = frame.format(pairs=f"{', '.join(rest)} and {last}")
    sentences, (named_at, listed_at) = _surrounded(chance, [naming, long])
    words = [
        *((named_at, place) for place in _spans(naming, counts.aspect)),
        *((listed_at, place) for place in _spans(long, counts.said, after=counts.aspect)),
    ]
    needed = (named_at, listed_at)
    return Review(tuple(sentences), str(counts.rating), needed, tuple(words), True)


def side_of(aspect: str, opinion: str) -> Split:
    """Find a pair's split: of a thing's seven words for a rating, valid and test have one each."""
    words = OPINIONS[RATING_OF[opinion]]
    turn = (ASPECTS.index(aspect) + words.index(opinion)) % len(words)
    return _SIDES.get(turn, "train")


def _judged(chance: Chance, aspect: str) -> _Judged:
    """Judge a thing by a word that this split may use with it, every rating as likely."""
    rating = chance.pick(tuple(OPINIONS))
    allowed = [word for word in OPINIONS[rating] if side_of(aspect, word) == chance.split]
    return _Judged(aspect, chance.pick(allowed), rating in NEGATED and chance.happens(_NEGATION))


def _surrounded(chance: Chance, matter: list[str]) -> tuple[list[str], list[int]]:
    """Put sentences that do not matter around one that does, or behind two; say where they are."""
    chatter = [_chatter(chance) for _ in range(chance.pick(AROUND))]
    first = chance.pick(range(len(chatter) + 1)) if len(matter) == 1 else 0
    places = list(range(first, first + len(matter)))
    return [*chatter[:first], *matter, *chatter[first:]], places


def _chatter(chance: Chance) -> str:
    frames = HEARSAY if chance.happens(_HEARSAY) else SETTING
    return chance.pick(frames).format(
        person=chance.pick(PEOPLE),
        day=chance.pick(DAYS),
        opinion=chance.pick(OPINIONS[chance.pick(tuple(OPINIONS))]),
    )


def _several(chance: Chance, items: Sequence[_Item], count: int) -> list[_Item]:
    left = list(items)
    return [left.pop(left.index(chance.pick(left))) for _ in range(count)]


def _spans(sentence: str, said: str, *, after: str = "") -> Iterator[int]:
    """Yield where the words of ``said`` stand in a sentence, looking behind the word ``after``."""
    words = [word.rstrip(".,") for word in sentence.split()]
    begin = words.index(after) if after else 0
    wanted = said.split()
    while words[begin : begin + len(wanted)] != wanted:
        begin += 1
    yield from range(begin, begin + len(wanted))
