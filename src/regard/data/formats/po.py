"""GNU gettext catalogues (``.po``): messages and their translations, through ``polib``."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import polib

from regard.data.lines import document
from regard.data.record import Fault, Found, Request, examined

_LINE = re.compile(r"\(line (\d+)\)")


class _Content(str):
    """A catalogue for polib, whose lines end with line feeds only, as they do in a file."""

    __slots__ = ()

    def splitlines(self, keepends: bool = False) -> list[str]:
        assert not keepends
        return self.split("\n")


def read_po(files: Sequence[Path], _request: Request) -> Iterator[Found]:
    """Read (message, translation); untranslated, fuzzy and obsolete entries are passed over."""
    for path in files:
        text = document(path)
        if isinstance(text, Fault):
            # The grammar needs the whole file, so a bad line spoils it.
            yield text._replace(severity="fatal")
            continue
        try:
            # The line feed at the end keeps polib from taking the text for a file's name.
            catalogue = polib.pofile(_Content(text[0] + "\n"), encoding="utf-8")
        except (OSError, ValueError, IndexError, UnicodeError) as error:
            yield _broken(path, error)
            continue
        for entry in catalogue:
            yield from _records(path, entry)


def _records(path: Path, entry: polib.POEntry) -> Iterator[Found]:
    if not entry.translated():
        problem = "The message has no translation in use (untranslated, fuzzy or obsolete)."
        yield Fault("untranslated", "note", str(path), entry.linenum, problem, "It is passed over.")
    elif entry.msgid_plural:
        forms = [entry.msgstr_plural[number] for number in sorted(entry.msgstr_plural)]
        yield examined((entry.msgid, forms[0]), path, entry.linenum)
        yield examined((entry.msgid_plural, forms[-1]), path, entry.linenum)
    else:
        yield examined((entry.msgid, entry.msgstr), path, entry.linenum)


def _broken(path: Path, error: Exception) -> Fault:
    place = _LINE.search(str(error))
    line = int(place.group(1)) if place else 0
    remedy = "Let msgfmt --check name every fault of the file, and correct it."
    return Fault("po", "fatal", str(path), line, "The catalogue is not well-formed.", remedy)
