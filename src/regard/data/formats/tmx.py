"""Translation memories (TMX): units with one segment per language.

Parsed as a stream by ``defusedxml``: memory does not grow with the file, and entities, the usual
attack on XML parsers, are refused.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from regard.data.compression import BROKEN, open_bytes
from regard.data.lines import LONGEST_LINE, make_unreadable_fault
from regard.data.record import Fault, Found, Request, make_fault, make_record

_CHUNK = 1 << 16
_MOST_TAG = 1 << 20
"""Bytes of a tag with its attributes, which the parser keeps and reads again with every chunk."""
_MOST_DEPTH = 100
_ELEMENT = 64  # characters that an element counts for, however short its name is
_CODES = {"bpt", "ept", "ph", "it", "ut"}  # markup of the translated document, not its text
_LANGUAGE = ("{http://www.w3.org/XML/1998/namespace}lang", "lang")


def read_tmx(files: Sequence[Path], request: Request) -> Iterator[Found]:
    """Read the segments of the given languages, or else of those in the first unit."""
    for path in files:
        units = _Units(path, tuple(map(_to_primary, request.languages)))
        parser = DefusedXMLParser(target=units)
        units.parser = parser.parser
        try:
            with open_bytes(path) as file:
                fed = 0
                while chunk := file.read(_CHUNK):
                    parser.feed(chunk)
                    fed += len(chunk)
                    _check_progress(parser.parser, fed)
                    yield from units.take_units()
                parser.close()
        except (
            *BROKEN,
            OSError,
            ParseError,
            DefusedXmlException,
            ValueError,
            LookupError,
        ) as error:
            yield from units.take_units()
            yield _make_broken_fault(path, error)
            continue
        yield from units.take_units()


class _TooLarge(ValueError):
    """The file is XML, but of parts that no translation memory has."""


def _check_progress(parser: Any, fed: int) -> None:  # noqa: ANN401 - expat has no types
    """Refuse a tag that does not end."""
    if fed - parser.CurrentByteIndex > _MOST_TAG + _CHUNK:
        raise _TooLarge(f"line {parser.CurrentLineNumber}: a tag has more than {_MOST_TAG:,} bytes")


def _to_primary(language: str) -> str:
    return language.lower().replace("_", "-").partition("-")[0]


def _make_broken_fault(path: Path, error: Exception) -> Fault:
    kind, line, problem = "xml", 0, f"The file is not well-formed XML: {error}."
    if isinstance(error, _TooLarge):
        problem = f"This is no translation memory: {error}."
    remedy = "Export the translation memory again, or correct this line."
    if isinstance(error, ParseError):
        line = error.position[0]
    elif isinstance(error, DefusedXmlException):
        problem = f"The file declares entities, which are refused: {type(error).__name__}."
    elif isinstance(error, BROKEN):
        kind, problem = "compression", f"The compressed data is broken: {error}."
    elif isinstance(error, OSError):
        return make_unreadable_fault(path, error)
    return Fault(kind, "fatal", str(path), line, problem, remedy)


class _Units:
    """The target of the parser: collects segments and returns finished units."""

    def __init__(self, path: Path, languages: tuple[str, ...]) -> None:
        self._path = path
        self._languages = languages
        self._done: list[Found] = []
        self._unit: dict[str, str] = {}
        self._line = 0
        self._language = ""
        self._text: list[str] | None = None
        self._codes = self._depth = self._size = 0
        # Set after the parser is made, which needs its target first.
        self.parser: object = None

    def take_units(self) -> list[Found]:
        """Return the units finished since the last call."""
        done, self._done = self._done, []
        return done

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Start an element."""
        self._depth += 1
        self._count(len(tag) + _ELEMENT)
        if self._depth > _MOST_DEPTH:
            raise _TooLarge(f"elements are nested more than {_MOST_DEPTH} levels deep")
        if tag == "tu":
            self._size = 0
            self._unit, self._line = {}, getattr(self.parser, "CurrentLineNumber", 0)
        elif tag == "tuv":
            named = next((attributes[key] for key in _LANGUAGE if key in attributes), "")
            self._language = _to_primary(named)
        elif tag == "seg":
            self._text = []
        elif tag in _CODES:
            self._codes += 1

    def data(self, text: str) -> None:
        """Append text inside a segment."""
        if self._text is not None and not self._codes:
            self._count(len(text))
            self._text.append(text)

    def _count(self, size: int) -> None:
        """Bound what is kept of a unit, and the elements in it."""
        self._size += size
        if self._size > LONGEST_LINE:
            raise _TooLarge(f"the unit of line {self._line} has over {LONGEST_LINE:,} characters")

    def end(self, tag: str) -> None:
        """End an element."""
        self._depth -= 1
        if tag == "seg" and self._text is not None:
            self._unit.setdefault(self._language, "".join(self._text))
            self._text = None
        elif tag == "tu":
            self._done.append(self._make_record())
        elif tag in _CODES:
            self._codes -= 1

    def close(self) -> None:
        """End of the file."""

    def _make_record(self) -> Found:
        self._languages = self._languages or tuple(self._unit)
        for language in self._languages:
            if language not in self._unit:
                has = ", ".join(self._unit) or "no language"
                problem = f"The unit has no segment in {language!r}; it has {has}."
                return make_fault("missing-field", self._path, self._line, problem)
        fields = tuple(self._unit[language] for language in self._languages)
        return make_record(fields, self._path, self._line)
