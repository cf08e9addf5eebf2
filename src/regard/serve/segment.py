"""Long texts in sentences that fit a model, and joined again.

    text  ->  verbatim parts and units to translate, whose concatenation is the text

Line ends stay where they are; a sentence that is too long is cut at a clause or a space.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from regard.serve.protect import OBJECT, Protected
from regard.text.sentences import find_sentences

Fits = Callable[[Protected], bool]
Part = str | Protected
"""What is kept as it is, or a unit to translate."""

_LINE = re.compile(r"[^\n\r]+")
_CLAUSE = re.compile(r"[,;:–—，、；：]\s*|\s[-–—]\s")
_SPACE = re.compile(r"\s+")
_ANYWHERE = re.compile(r"(?=.)", re.DOTALL)


def split_text(text: Protected, fits: Fits) -> list[Part]:
    """Split a text at line ends and sentences."""
    parts: list[Part] = []
    done = 0
    for line in _LINE.finditer(text.text):
        parts.append(str(text.cut(done, line.start())))
        parts += split_line(text.cut(*line.span()), fits)
        done = line.end()
    return [*parts, str(text.cut(done, len(text.text)))]


def split_line(text: Protected, fits: Fits) -> Iterator[Part]:
    """Split a text into sentences, and into parts that fit."""
    done = 0
    for begin, end in find_sentences(text.text):
        yield str(text.cut(done, begin))
        yield from cut_to_fit(text.cut(begin, end), fits)
        done = end
    yield str(text.cut(done, len(text.text)))


def cut_to_fit(unit: Protected, fits: Fits) -> Iterator[Part]:
    """Cut a unit near its middle until its parts fit."""
    stripped = unit.text.strip()
    begin = unit.text.find(stripped)
    end = begin + len(stripped)
    core = unit.cut(begin, end)
    yield str(unit.cut(0, begin))
    if not core.translatable:
        yield str(core)
    elif fits(core) or len(stripped) < 2:
        yield core
    else:
        middle = _find_middle(stripped)
        yield from cut_to_fit(core.cut(0, middle), fits)
        yield from cut_to_fit(core.cut(middle, len(stripped)), fits)
    yield str(unit.cut(end, len(unit.text)))


def _find_middle(text: str) -> int:
    """Return where to cut: after a clause or before a space in the middle half, else anywhere."""
    half = len(text) / 2
    for pattern in (_CLAUSE, _SPACE, _ANYWHERE):
        places = [found.end() for found in pattern.finditer(text) if 0 < found.end() < len(text)]
        best = min(places, key=lambda place: abs(place - half), default=0)
        if best and (pattern is _ANYWHERE or abs(best - half) <= half / 2):
            return best
    raise AssertionError("a text of two characters has a middle")


def around(unit: Protected) -> list[Part]:
    """Split a unit at its objects, so that each part can be translated without them."""
    parts: list[Part] = []
    objects = iter(unit.objects)
    for n, piece in enumerate(unit.text.split(OBJECT)):
        if n:
            parts.append(next(objects))
        parts += cut_to_fit(Protected(piece, ()), lambda _: True)
    return parts


def drop_added_stop(answer: str, source: str) -> str:
    """Drop the full stop that a translator adds to a fragment without one."""
    if answer[-1:] in set(".。") and source[-1:] not in set(".。!?…:;"):
        return answer[:-1]
    return answer


def join(parts: Sequence[Part], translate: Callable[[Protected], str]) -> str:
    """Join the parts, units translated."""
    return "".join(part if isinstance(part, str) else translate(part) for part in parts)
