"""Formal languages: synthetic examples whose labels follow from a rule.

======== ===========================================================================
copy     the target is the source
reverse  the target is the source, backwards
first    the target is the first symbol of the source
parity   ``yes`` if the number of 1s is odd (Hahn 2020: hard for attention)
dyck     ``yes`` if brackets of ``kinds`` kinds are balanced, never deeper than ``depth``
aa       ``yes`` if the number of as is even: the language (aa)*, over one symbol
======== ===========================================================================

Symbols are separated by spaces. The three labelled languages are balanced: every other string is a
member. Non-members of Dyck differ from a member in one or two symbols.
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


class StringSpec(NamedTuple):
    """What to draw: a length, whether the string is a member, kinds and depth of Dyck."""

    length: int
    belongs: bool
    kinds: int
    depth: int


def draw_language(
    name: str,
    *,
    lengths: Sequence[int],
    count: int,
    seed: int = 0,
    kinds: int = 2,
    depth: int = 3,
) -> Iterator[Pair]:
    """Draw ``count`` pairs of (source, target) whose sources have one of the lengths.

    If no string of a length can have the required label (balanced strings have even length), the
    next longer length is used.
    """
    _check(name, lengths, kinds, depth)
    draw, chance = LANGUAGES[name], random.Random(f"languages/{name}/{seed}")
    for index in range(count):
        length = lengths[int(chance.random() * len(lengths))]
        source, target = draw(chance, StringSpec(length, index % 2 == 0, kinds, depth))
        yield " ".join(source), target


def draw_split(name: str, split: Split) -> Iterator[Pair]:
    """Draw the default examples of a language; valid and test have no short strings."""
    lengths, count, seed = _SPLITS[split]
    return draw_language(name, lengths=lengths, count=count, seed=seed)


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
    """Return whether brackets are balanced and at most ``depth`` are open at once."""
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


def _draw_letters(chance: random.Random, length: int, alphabet: Sequence[str] = LETTERS) -> Symbols:
    return [_pick(chance, alphabet) for _ in range(length)]


def _pick(chance: random.Random, items: Sequence[str]) -> str:
    return items[int(chance.random() * len(items))]


def _draw_copy(chance: random.Random, spec: StringSpec) -> tuple[Symbols, str]:
    source = _draw_letters(chance, spec.length)
    return source, " ".join(source)


def _draw_reverse(chance: random.Random, spec: StringSpec) -> tuple[Symbols, str]:
    source = _draw_letters(chance, spec.length)
    return source, " ".join(reversed(source))


def _draw_first(chance: random.Random, spec: StringSpec) -> tuple[Symbols, str]:
    source = _draw_letters(chance, spec.length)
    return source, source[0]


def _draw_parity(chance: random.Random, spec: StringSpec) -> tuple[Symbols, str]:
    source = _draw_letters(chance, spec.length, "01")
    odd = source.count("1") % 2 == 1
    if odd != spec.belongs:
        flipped = int(chance.random() * spec.length)
        source[flipped] = "0" if source[flipped] == "1" else "1"
    return source, YES if spec.belongs else NO


def _draw_aa(_chance: random.Random, spec: StringSpec) -> tuple[Symbols, str]:
    even = spec.length % 2 == 0
    return ["a"] * (spec.length + (even != spec.belongs)), YES if spec.belongs else NO


def _draw_dyck(chance: random.Random, spec: StringSpec) -> tuple[Symbols, str]:
    source = _draw_balanced(chance, spec)
    if spec.belongs:
        return source, YES
    while is_dyck(source, kinds=spec.kinds, depth=spec.depth):
        source = _spoil(chance, source, spec)
    return source, NO


def _draw_balanced(chance: random.Random, spec: StringSpec) -> Symbols:
    pairs = BRACKETS[: spec.kinds]
    waiting: Symbols = []
    source: Symbols = []
    length = spec.length + spec.length % 2
    for left in range(length, 0, -1):
        must_close = len(waiting) in (left, spec.depth)
        if waiting and (must_close or chance.random() < 0.5):
            source.append(waiting.pop())
            continue
        pair = _pick(chance, pairs)
        source.append(pair[0])
        waiting.append(pair[1])
    return source


def _spoil(chance: random.Random, source: Symbols, spec: StringSpec) -> Symbols:
    changed = list(source)
    place = int(chance.random() * len(source))
    if chance.random() < 0.5:
        changed[place] = _pick(chance, [*"".join(BRACKETS[: spec.kinds])])
        return changed
    other = int(chance.random() * len(source))
    changed[place], changed[other] = changed[other], changed[place]
    return changed


LANGUAGES: dict[str, Callable[[random.Random, StringSpec], tuple[Symbols, str]]] = {
    "copy": _draw_copy,
    "reverse": _draw_reverse,
    "first": _draw_first,
    "parity": _draw_parity,
    "dyck": _draw_dyck,
    "aa": _draw_aa,
}
