"""Formal languages: small worlds whose truth is a rule.

======== ===========================================================================
copy     the target is the source
reverse  the target is the source, backwards
first    the target is the first symbol of the source
parity   ``yes`` if the number of 1s is odd (Hahn 2020: hard for attention)
dyck     ``yes`` if brackets of ``kinds`` kinds are balanced, never deeper than ``depth``
aa       ``yes`` if the number of as is even: the language (aa)*, over one symbol
======== ===========================================================================

Symbols are separated by spaces. The three languages with labels are balanced: every other string
belongs. Strings of Dyck that do not belong are one or two symbols away from one that does.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from regard.data.worlds.splits import Split
from regard.errors import UsageError

LETTERS = tuple("abcdefgh")
BRACKETS = ("()", "[]", "{}", "<>")
YES, NO = "yes", "no"

Pair = tuple[str, str]
Symbols = list[str]


class Choice(NamedTuple):
    """What a string is made for: its length, whether it belongs, and Dyck's two numbers."""

    length: int
    belongs: bool
    kinds: int
    depth: int


def language(
    name: str,
    *,
    lengths: Sequence[int],
    count: int,
    seed: int = 0,
    kinds: int = 2,
    depth: int = 3,
) -> Iterator[Pair]:
    """Draw ``count`` pairs of (source, target) whose sources have one of the lengths.

    Where no string of a length can have the label that is due (there is no balanced string of odd
    length), the nearest longer length that has one is taken.
    """
    _check(name, lengths, kinds, depth)
    draw, chance = LANGUAGES[name], random.Random(f"languages/{name}/{seed}")
    for index in range(count):
        length = lengths[int(chance.random() * len(lengths))]
        source, target = draw(chance, Choice(length, index % 2 == 0, kinds, depth))
        yield " ".join(source), target


def language_split(name: str, split: Split) -> Iterator[Pair]:
    """Draw the default examples of a language; valid and test leave out short strings."""
    lengths, count, seed = _SPLITS[split]
    return language(name, lengths=lengths, count=count, seed=seed)


_SPLITS: dict[Split, tuple[range, int, int]] = {
    "train": (range(1, 21), 10_000, 0),
    "valid": (range(10, 21), 500, 1),
    "test": (range(10, 21), 1_000, 2),
}


def _check(name: str, lengths: Sequence[int], kinds: int, depth: int) -> None:
    if name not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        raise UsageError(f"{name!r} is not a language.", f"Write one of {known}.")
    if not lengths or min(lengths) < 1:
        raise UsageError(
            f"The strings of a language have lengths of at least 1. Got {list(lengths)}.",
            "Give at least one length, none below 1.",
        )
    if not 1 <= kinds <= len(BRACKETS) or depth < 1:
        raise UsageError(
            f"Dyck has 1 to {len(BRACKETS)} kinds of brackets and a depth of at least 1. "
            f"Got kinds={kinds}, depth={depth}.",
            "Give numbers in these ranges.",
        )


def is_dyck(symbols: Sequence[str], *, kinds: int, depth: int) -> bool:
    """Judge whether brackets are balanced and at most ``depth`` are ever open at once."""
    closing = {pair[0]: pair[1] for pair in BRACKETS[:kinds]}
    waiting: list[str] = []
    for symbol in symbols:
        if symbol in closing:
            waiting.append(closing[symbol])
        elif not waiting or waiting.pop() != symbol:
            return False
        if len(waiting) > depth:
            return False
    return not waiting


def _letters(chance: random.Random, length: int, alphabet: Sequence[str] = LETTERS) -> Symbols:
    return [_pick(chance, alphabet) for _ in range(length)]


def _pick(chance: random.Random, items: Sequence[str]) -> str:
    return items[int(chance.random() * len(items))]


def _copy(chance: random.Random, choice: Choice) -> tuple[Symbols, str]:
    source = _letters(chance, choice.length)
    return source, " ".join(source)


def _reverse(chance: random.Random, choice: Choice) -> tuple[Symbols, str]:
    source = _letters(chance, choice.length)
    return source, " ".join(reversed(source))


def _first(chance: random.Random, choice: Choice) -> tuple[Symbols, str]:
    source = _letters(chance, choice.length)
    return source, source[0]


def _parity(chance: random.Random, choice: Choice) -> tuple[Symbols, str]:
    source = _letters(chance, choice.length, "01")
    odd = source.count("1") % 2 == 1
    if odd != choice.belongs:
        flipped = int(chance.random() * choice.length)
        source[flipped] = "0" if source[flipped] == "1" else "1"
    return source, YES if choice.belongs else NO


def _aa(_chance: random.Random, choice: Choice) -> tuple[Symbols, str]:
    even = choice.length % 2 == 0
    return ["a"] * (choice.length + (even != choice.belongs)), YES if choice.belongs else NO


def _dyck(chance: random.Random, choice: Choice) -> tuple[Symbols, str]:
    source = _balanced(chance, choice)
    if choice.belongs:
        return source, YES
    while is_dyck(source, kinds=choice.kinds, depth=choice.depth):
        source = _nearly(chance, source, choice)
    return source, NO


def _balanced(chance: random.Random, choice: Choice) -> Symbols:
    pairs = BRACKETS[: choice.kinds]
    waiting: Symbols = []
    source: Symbols = []
    length = choice.length + choice.length % 2
    for left in range(length, 0, -1):
        must_close = len(waiting) in (left, choice.depth)
        if waiting and (must_close or chance.random() < 0.5):
            source.append(waiting.pop())
            continue
        pair = _pick(chance, pairs)
        source.append(pair[0])
        waiting.append(pair[1])
    return source


def _nearly(chance: random.Random, source: Symbols, choice: Choice) -> Symbols:
    spoilt = list(source)
    place = int(chance.random() * len(source))
    if chance.random() < 0.5:
        spoilt[place] = _pick(chance, [*"".join(BRACKETS[: choice.kinds])])
        return spoilt
    other = int(chance.random() * len(source))
    spoilt[place], spoilt[other] = spoilt[other], spoilt[place]
    return spoilt


LANGUAGES: dict[str, Callable[[random.Random, Choice], tuple[Symbols, str]]] = {
    "copy": _copy,
    "reverse": _reverse,
    "first": _first,
    "parity": _parity,
    "dyck": _dyck,
    "aa": _aa,
}
