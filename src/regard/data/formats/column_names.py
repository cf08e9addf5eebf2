"""Usual names of columns, so that common files need no ``data.fields``."""

import re
from collections.abc import Collection, Iterator
from itertools import product

from regard.data.record import LABEL, Request

_LABELLED = (
    (("text",), ("sentence",), ("review",), ("message",)),
    ("label", "sentiment", "stars", "category"),
)
_TEXTS: dict[int, tuple[tuple[str, ...], ...]] = {
    1: (("text",), ("sentence",), ("content",), ("document",)),
    2: (
        ("source", "target"),
        ("src", "tgt"),
        ("document", "summary"),
        ("text", "summary"),
        ("article", "highlights"),
        ("article", "summary"),
        ("dialogue", "summary"),
        ("body", "subject"),
        ("query", "passage"),
        ("question", "answer"),
    ),
    3: (("query", "positive", "negative"),),
}
_LABELLED_PAIRS = (
    ("premise", "hypothesis", "label"),
    ("sentence1", "sentence2", "label"),
    ("sentence1", "sentence2", "score"),
    ("text1", "text2", "label"),
    ("text1", "text2", "score"),
    ("sentence_a", "sentence_b", "entailment_judgment"),
    ("question1", "question2", "is_duplicate"),
    ("#1 string", "#2 string", "quality"),
)
_OF_TEXTS = (
    "abstract article body comment content description document feedback hypothesis message "
    "nachricht passage post premise query question review sentence texte text tweet utterance "
    "string source target"
)
_OF_LABELS = (
    "category class genre intent judgment kategorie label polarity quality rating score sentiment "
    "similarity stars tag target topic"
)
_OF_NEITHER = (
    "author created date email id index key lang language link name split time timestamp updated "
    "url user uuid"
)


_TEXT_WORDS, _LABEL_WORDS = frozenset(_OF_TEXTS.split()), frozenset(_OF_LABELS.split())
_OTHER_WORDS = frozenset(_OF_NEITHER.split())
_KNOWN = _TEXT_WORDS | _LABEL_WORDS | _OTHER_WORDS


def find_usual_names(names: Collection[str], request: Request) -> tuple[str, ...]:
    """Return the usual names among ``names``, in the task's order; () if there are none."""
    count = request.expected
    for wanted in _list_usual(request):
        if wanted and (count or 3) >= len(wanted) and all(name in names for name in wanted):
            return wanted
    return ()


def is_name_of(role: str, name: str) -> bool:
    """Whether a name suits a column of texts or of labels."""
    words = _split_words(name)
    return not words & _OTHER_WORDS and bool(
        words & (_LABEL_WORDS if role == LABEL else _TEXT_WORDS)
    )


def is_known(name: str) -> bool:
    """Whether a name is usual for a column of any kind."""
    return bool(_split_words(name) & _KNOWN)


def _list_usual(request: Request) -> Iterator[tuple[str, ...]]:
    """Yield usual names for the fields of the request; those of labels only for a label."""
    count, labelled = request.expected, request.roles[-1:] == (LABEL,)
    languages = tuple(language.lower() for language in request.languages)
    if count in (None, len(languages)):
        yield from (languages, tuple(f"translation.{language}" for language in languages))
    for each in [count] if count else [3, 2, 1]:
        either = labelled or not request.roles
        if each == 3 and either:
            yield from _LABELLED_PAIRS
        if each == 2 and either:
            yield from ((*text, label) for text, label in product(*_LABELLED))
        if not labelled:
            yield from _TEXTS.get(each, ())


def _split_words(name: str) -> set[str]:
    words = re.findall(r"[^\W\d_]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).casefold())
    return {*words, *(word.removesuffix("s") for word in words)}
