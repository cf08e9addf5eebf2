"""Tag schemes: spans of tokens written as one tag per token, and read back.

    IOB2    B-PER I-PER O B-LOC    every span begins with B
    IOB1    I-PER I-PER O I-LOC    B only where a span follows another of the same type
    BIOES   B-PER E-PER O S-LOC    the end and the single token have prefixes of their own
    none    DET NOUN VERB          one tag per token and no spans, as for parts of speech

BILOU writes L and U for E and S, BMES writes M for I; both are BIOES. Tags are read in one of two
modes, both as ``seqeval`` has them: by default as conlleval does, which finds a span in any
sequence, or strictly, where only what a scheme allows is a span.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

Scheme = Literal["IOB1", "IOB2", "BIOES", "none"]
OUTSIDE = "O"

_PREFIXED = re.compile(r"[BIESLUM](-.+)?")
_SAME_AS = str.maketrans("LUM", "ESI")


class Span(NamedTuple):
    """Tokens ``begin`` up to but not including ``end``, and what they are."""

    begin: int
    end: int
    label: str


class _Tag(NamedTuple):
    prefix: str
    label: str


_BOUNDARY = _Tag(OUTSIDE, "")


def is_prefixed(tag: str) -> bool:
    """Whether a tag has a prefix of some scheme, or is O."""
    return tag == OUTSIDE or _PREFIXED.fullmatch(tag) is not None


def normalize(tag: str) -> str:
    """Rewrite a prefix of BILOU or BMES as the one of BIOES that means the same."""
    return tag[:1].translate(_SAME_AS) + tag[1:]


def detect_scheme(sequences: Iterable[Sequence[str]]) -> Scheme:
    """Detect the scheme of tag sequences: the one with the fewest violations."""
    prefixes: set[str] = set()
    prefixed = plain = bare = needless = 0
    for tags in sequences:
        before = _BOUNDARY
        for tag in tags:
            if tag != OUTSIDE and not is_prefixed(tag):
                plain += 1
                before = _BOUNDARY
                continue
            prefixed += tag != OUTSIDE
            here = _parse(normalize(tag))
            prefixes.add(here.prefix)
            continues = before.prefix in ("B", "I") and before.label == here.label
            bare += here.prefix == "I" and not continues
            needless += here.prefix == "B" and not continues
            before = here
    if plain > prefixed or not prefixed | plain:
        return "none" if plain else "IOB2"
    if prefixes & {"E", "S"}:
        return "BIOES"
    return "IOB1" if bare > needless else "IOB2"


def read_spans(tags: Sequence[str], scheme: Scheme, *, strict: bool = False) -> list[Span]:
    """Read the spans of a sequence: any by default, those the scheme allows if ``strict``."""
    if scheme == "none":
        return [Span(at, at + 1, tag) for at, tag in enumerate(tags)]
    parsed = [_parse(tag) for tag in tags]
    return _strict_spans(parsed, scheme) if strict else _lenient_spans(parsed)


def write_tags(spans: Iterable[Span], length: int, scheme: Scheme) -> list[str]:
    """Write spans that do not overlap as tags."""
    tags = [OUTSIDE] * length
    before = Span(0, 0, "")
    for span in sorted(spans):
        adjacent = span.begin == before.end and span.label == before.label
        tags[span.begin : span.end] = _write(span, scheme, adjacent=adjacent)
        before = span
    return tags


def _write(span: Span, scheme: Scheme, *, adjacent: bool) -> list[str]:
    if scheme == "none":
        return [span.label] * (span.end - span.begin)
    prefixes = ["I"] * (span.end - span.begin)
    if scheme != "IOB1" or adjacent:
        prefixes[0] = "B"
    if scheme == "BIOES":
        prefixes[-1] = "S" if len(prefixes) == 1 else "E"
    return [f"{prefix}-{span.label}" for prefix in prefixes]


def _parse(tag: str) -> _Tag:
    prefix, _, label = tag.partition("-")
    return _BOUNDARY if tag == OUTSIDE else _Tag(prefix, label or "_")


def _lenient_spans(tags: Sequence[_Tag]) -> list[Span]:
    """Begin a span wherever conlleval does; it ends at the next one or at O."""
    found: list[Span] = []
    begin, before = 0, _BOUNDARY
    for at, here in enumerate([*tags, _BOUNDARY]):
        same = before.label == here.label
        ends = before.prefix in ("E", "S") or here.prefix in ("B", "S", OUTSIDE) or not same
        if before.prefix != OUTSIDE and ends:
            found.append(Span(begin, at, before.label))
        if here.prefix != OUTSIDE and (ends or before.prefix == OUTSIDE):
            begin = at
        before = here
    return found


def _strict_spans(tags: Sequence[_Tag], scheme: Scheme) -> list[Span]:
    """Find spans that begin, continue and end as the scheme requires."""
    found: list[Span] = []
    closed = [*tags, _BOUNDARY]
    at, before = 0, _BOUNDARY
    while at < len(tags):
        if not _begins(before, closed[at], scheme):
            before, at = closed[at], at + 1
            continue
        end = at + 1
        while _continues(closed[end - 1], closed[end], scheme):
            end += 1
        if _ends(closed[end - 1], closed[end], scheme):
            found.append(Span(at, end, closed[at].label))
        before, at = closed[end - 1], end
    return found


def _begins(before: _Tag, here: _Tag, scheme: Scheme) -> bool:
    same = before.label == here.label
    if scheme == "IOB1":
        first = here.prefix == "I" and (before.prefix in ("O", "B") or not same)
        return first or (here.prefix == "B" and before.prefix in ("B", "I") and same)
    return here.prefix == "B" or (scheme == "BIOES" and here.prefix == "S")


def _continues(before: _Tag, here: _Tag, scheme: Scheme) -> bool:
    inner = ("I", "E") if scheme == "BIOES" else ("I",)
    return before.prefix in ("B", "I") and here.prefix in inner and before.label == here.label


def _ends(before: _Tag, here: _Tag, scheme: Scheme) -> bool:
    if scheme == "BIOES":
        return before.prefix in ("E", "S")
    same = before.label == here.label
    # seqeval: in IOB1, B after a B of another type does not end that one.
    return scheme == "IOB2" or here.prefix != "B" or before.prefix == "I" or same
