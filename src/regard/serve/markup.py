"""HTML: translate what a reader sees, and keep every tag, attribute, comment and entity.

    <p>Ein <b>Hund</b> läuft.</p>
    ^block  ^inline tags at offsets of a flow: "Ein Hund läuft."

A *flow* is the text between two block tags. Its sentences are translated whole. Tags inside a
sentence go where the translations of the parts between them are found, in order; if they are not
found, the parts are translated one by one. Code, ``translate="no"`` and symbols such as ``&lt;``
are objects (:mod:`regard.serve.protect`). The scanner is linear: an unclosed tag ends the markup.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import groupby, pairwise
from operator import itemgetter

from regard.serve.protect import OBJECT, Protected, protect
from regard.serve.segment import Fits, Part, cut_to_fit, drop_added_stop, join
from regard.text.sentences import find_sentences

_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|<[!?][^>]*(?:>|\Z)"
    r"|<(?P<close>/?)(?P<name>[A-Za-z][^\s/>]*+)"
    r"""(?P<attributes>(?:=\s*+(?:"[^"]*+"|'[^']*+')|[^>])*+)(?:>|\Z)""",
    re.DOTALL,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{0,31});|[<&]")
_KEPT = re.compile(
    r"(?:^|\s)(?:translate\s*=\s*[\"']?no\b|class\s*=\s*[\"'][^\"']*\bnotranslate\b)", re.I
)
_JOINED = re.compile(r"\w&[^;]+;\w")
_INLINE = re.compile(
    r"a|abbr|acronym|b|bdi|bdo|big|cite|data|del|dfn|em|font|i|img|ins|label|mark|meter|output|q"
    r"|ruby|s|small|span|strike|strong|sub|sup|time|u|wbr"
)
_KEPT_INLINE = re.compile(r"code|kbd|samp|tt|var|svg|math")
_KEPT_BLOCK = re.compile(r"pre|script|style|textarea|template|noscript")
_VOID = re.compile(r"area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr")

PLACED = 32  # places of tags inside a sentence; with more its parts are translated one by one


@dataclass
class Flow:
    """Text between two block tags, with inline tags at offsets."""

    text: str = ""
    objects: list[str] = field(default_factory=list)
    tags: list[tuple[int, str]] = field(default_factory=list)

    def add(self, found: Protected) -> None:
        """Append a text."""
        self.text += found.text
        self.objects += found.objects


@dataclass(frozen=True)
class Tagged:
    """A sentence with tags inside: the whole, its parts, and the tags between them."""

    whole: Protected
    parts: tuple[tuple[Part, ...], ...]
    tags: tuple[str, ...]

    @property
    def units(self) -> Iterator[Protected]:
        """All that must be translated to place the tags."""
        yield self.whole
        yield from (part for parts in self.parts for part in parts if isinstance(part, Protected))


class Document:
    """An HTML text, split into what is kept and what is translated.

    Args:
        source: The text.
        fits: Whether a unit fits the model.

    """

    def __init__(self, source: str, fits: Fits) -> None:
        self.parts: list[Part | Tagged] = []
        self.entities: dict[str, str] = {}
        for piece in _scan(source, self.entities):
            self.parts += [piece] if isinstance(piece, str) else _split_flow(piece, fits)

    @property
    def units(self) -> Iterator[Protected]:
        """What is to be translated."""
        for part in self.parts:
            if isinstance(part, Tagged):
                yield from part.units
            elif isinstance(part, Protected):
                yield part

    def escape(self, text: str) -> str:
        """Escape a translated text; characters that the source writes as entities stay so."""
        text = escape(text, quote=False)
        for character, entity in self.entities.items():
            text = text.replace(character, entity)
        return text

    def render(self, translate: Callable[[Protected], str]) -> str:
        """Write the document with its units translated (and escaped)."""
        return "".join(
            _place(part, translate) if isinstance(part, Tagged) else join([part], translate)
            for part in self.parts
        )


def _scan(source: str, entities: dict[str, str]) -> Iterator[str | Flow]:
    """Yield block markup as it is, and flows."""
    flow, done = Flow(), 0
    while (found := _MARKUP.search(source, done)) is not None:
        flow.add(_read_text(source[done : found.start()], entities))
        end, name = found.end(), (found["name"] or "").lower()
        kept = name and not found["close"] and _is_kept(name, found["attributes"])
        if kept:
            end = _find_end(source, end, name)
        markup = source[found.start() : end]
        inline = _INLINE.fullmatch(name) or _KEPT_INLINE.fullmatch(name)
        if kept and inline:
            flow.add(Protected(OBJECT, (markup,)))
        elif not name or inline:
            flow.tags.append((len(flow.text), markup))
        else:
            yield flow
            yield markup
            flow = Flow()
        done = end
    flow.add(_read_text(source[done:], entities))
    yield flow


def _is_kept(name: str, attributes: str) -> bool:
    if _VOID.fullmatch(name) or attributes.endswith("/"):
        return False
    kept = _KEPT_INLINE.fullmatch(name) or _KEPT_BLOCK.fullmatch(name)
    return bool(kept or _KEPT.search(attributes))


def _find_end(source: str, begin: int, name: str) -> int:
    """Find the end of an element whose content is kept; one that is not closed goes to the end."""
    depth, tag = 1, re.compile(rf"<(/?){re.escape(name)}(?=[\s/>])[^>]*(?:>|\Z)", re.IGNORECASE)
    for found in tag.finditer(source, begin):
        depth += -1 if found[1] else 1
        if not depth or (found[1] and name in ("script", "style", "textarea")):
            return found.end()
    return len(source)


def _read_text(text: str, entities: dict[str, str]) -> Protected:
    """Decode entities of letters; those of symbols are objects."""
    parts, objects, done = [], list[str](), 0

    def add(plain: str) -> None:
        found = protect(plain)
        parts.append(found.text)
        objects.extend(found.objects)

    pending = ""
    for found in _ENTITY.finditer(text):
        pending += text[done : found.start()]
        done, character = found.end(), unescape(found[0])
        joins = _JOINED.search(text, max(0, found.start() - 1), found.end() + 1)
        if _is_symbol(character) or (character.isspace() and not joins):
            add(pending)
            parts.append(OBJECT)
            objects.append(found[0])
            pending = ""
            continue
        pending += character
        if character in "\"'" or not (character.isascii() or character.isalnum()):
            entities[character] = found[0]
    add(pending + text[done:])
    return Protected("".join(parts), tuple(objects))


def _is_symbol(character: str) -> bool:
    category = unicodedata.category(character[0])
    return len(character) > 1 or character in "<>&" or category[0] in "SC"


def _split_flow(flow: Flow, fits: Fits) -> Iterator[Part | Tagged]:
    """Yield a flow's sentences, white space and tags."""
    text = Protected(flow.text, tuple(flow.objects))
    offsets = [offset for offset, _ in flow.tags]
    done = 0

    def gap(begin: int, end: int) -> Iterator[Part]:
        """Yield what stands between two sentences, with the tags there."""
        for offset, tag in flow.tags[bisect_left(offsets, begin) : bisect_right(offsets, end)]:
            yield str(text.cut(begin, offset))
            yield tag
            begin = offset
        yield str(text.cut(begin, end))

    for begin, end in find_sentences(flow.text):
        yield from gap(done, begin)
        inside = slice(bisect_right(offsets, begin), bisect_left(offsets, end))
        yield from _split_sentence(text, (begin, end), flow.tags[inside], fits)
        done = end
    yield from gap(done, len(flow.text))


def _split_sentence(
    text: Protected, span: tuple[int, int], tags: Sequence[tuple[int, str]], fits: Fits
) -> Iterator[Part | Tagged]:
    whole = text.cut(*span)
    if not tags:
        yield from cut_to_fit(whole, fits)
        return
    grouped = {
        offset: "".join(tag for _, tag in there) for offset, there in groupby(tags, itemgetter(0))
    }
    edges, between = [span[0], *grouped, span[1]], list(grouped.values())
    parts = [tuple(cut_to_fit(text.cut(begin, end), fits)) for begin, end in pairwise(edges)]
    if whole.translatable and len(between) <= PLACED and fits(whole):
        yield Tagged(whole, tuple(parts), tuple(between))
        return
    for part, tag in zip(parts, [*between, ""], strict=True):
        yield from (*part, tag)


def _place(tagged: Tagged, translate: Callable[[Protected], str]) -> str:
    """Put the tags into the translated sentence, or between the translated parts."""
    pieces = [
        join(part, lambda unit: drop_added_stop(translate(unit), str(unit)))
        for part in tagged.parts
    ]
    spans = _find_spans(translate(tagged.whole), pieces) or pieces
    return "".join(map("".join, zip(spans, [*tagged.tags, ""], strict=True)))


def _find_spans(whole: str, pieces: Sequence[str]) -> list[str] | None:
    """Cut a sentence where its pieces are found; None if a tag between two has no certain place."""
    cuts = _find_cuts(whole, pieces)
    if cuts is None:
        return None
    edges = [0, *cuts, len(whole)]
    spans = [whole[begin:end] for begin, end in pairwise(edges)]
    empty = (not span.strip() and piece.strip() for span, piece in zip(spans, pieces, strict=True))
    return None if any(empty) else spans


def _find_cuts(whole: str, pieces: Sequence[str]) -> list[int] | None:
    """Find where each piece but the last ends; None if that is not certain."""
    spans: list[tuple[int, int] | None] = []
    done = 0
    for piece in pieces:
        found = _find_once(whole, piece.strip(), done)
        spans.append(found)
        done = found[1] if found else done
    cuts: list[int] = []
    for n, (left, right) in enumerate(pairwise(spans)):
        if left is None and right is None:
            return None
        if left and right and whole[left[1] : right[0]].strip():
            return None
        cut = _cut_before(whole, right, pieces[n]) if right else left[1] if left else 0
        cuts.append(cut)
    return cuts


def _cut_before(whole: str, right: tuple[int, int], left: str) -> int:
    """Cut before a piece; the space before it belongs to the tag's inside if it did so before."""
    begin = right[0]
    if left and not left[-1:].isspace() and whole[begin - 1 : begin].isspace():
        return begin - 1
    return begin


def _find_once(whole: str, piece: str, begin: int) -> tuple[int, int] | None:
    """Find a piece that occurs exactly once, as whole words, after a place."""
    if not piece:
        return None
    pattern = re.compile(rf"(?<!\w){re.escape(piece)}(?!\w)", re.IGNORECASE)
    found = [one.span() for one in pattern.finditer(whole)]
    return found[0] if len(found) == 1 and found[0][0] >= begin else None
