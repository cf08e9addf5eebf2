"""Convert character spans to token tags; a span that does not align with tokens is reported.

"Anna lives in York."   [0, 4, PER] is "Anna"   [14, 17, LOC] ends inside "York"
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from regard.tasks.tagging.example import LEARNED, Annotation, Place
from regard.tasks.tagging.schemes import Span, write_tags


class Marked(NamedTuple):
    """An annotated span of characters; the end is exclusive."""

    begin: int
    end: int
    label: str


class Misfit(NamedTuple):
    """A span that cannot be converted: the kind of fault, the problem and the remedy."""

    kind: str
    problem: str
    remedy: str


def annotate(
    text: str, tokens: Sequence[Place], marked: Sequence[Marked]
) -> Annotation | list[Misfit]:
    """Return the tags of the tokens, or a misfit for every span that does not align."""
    starts = {begin: number for number, (begin, _) in enumerate(tokens)}
    stops = {end: number + 1 for number, (_, end) in enumerate(tokens)}
    misfits: list[Misfit] = []
    spans: list[Span] = []
    widest: Marked | None = None
    for one in sorted(marked):
        fits = one.begin in starts and one.end in stops and one.begin < one.end
        if widest and one.begin < widest.end:
            misfits.append(_overlap(text, widest, one))
        elif fits and one.label.strip():
            spans.append(Span(starts[one.begin], stops[one.end], one.label))
        else:
            misfits.append(_misfit(text, tokens, one))
        widest = one if widest is None or one.end > widest.end else widest
    if misfits:
        return misfits
    return Annotation(LEARNED, tuple(write_tags(spans, len(tokens), LEARNED)), tuple(tokens))


def _misfit(text: str, tokens: Sequence[Place], one: Marked) -> Misfit:
    begin, end, label = one
    if not label.strip():
        return Misfit("span", f"The span {_quote(text, one)} has no label.", "Add one.")
    if not 0 <= begin < end <= len(text):
        problem = (
            f"The span [{begin}, {end}, {label!r}] is outside the text of {len(text)} characters."
        )
        return Misfit(
            "span", problem, "Correct it: offsets are characters from 0, the end is exclusive."
        )
    problem = f"The span {_quote(text, one)} does not begin and end at token boundaries."
    nearest = _nearest(tokens, one)
    if nearest is None:
        return Misfit("span", problem, "Mark at least one token.")
    return Misfit("span", problem, f"The tokens it touches are {_quote(text, nearest)}.")


def _nearest(tokens: Sequence[Place], one: Marked) -> Marked | None:
    """Widen a span to all tokens it touches."""
    first = bisect_right([end for _, end in tokens], one.begin)
    last = bisect_left([begin for begin, _ in tokens], one.end) - 1
    if first > last:
        return None
    return Marked(tokens[first][0], tokens[last][1], one.label)


def _overlap(text: str, one: Marked, other: Marked) -> Misfit:
    problem = f"The spans {_quote(text, one)} and {_quote(text, other)} overlap."
    return Misfit("overlap", problem, "A token has one tag: keep one of the two spans.")


def _quote(text: str, one: Marked) -> str:
    return f"[{one.begin}, {one.end}, {one.label!r}] {text[one.begin : one.end]!r}"
