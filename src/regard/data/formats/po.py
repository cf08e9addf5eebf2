"""GNU gettext catalogues (``.po``): messages and their translations, through ``polib``."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import polib

from regard.data.lines import read_document
from regard.data.record import Fault, Found, Request, make_record

_LINE = re.compile(r"\(line (\d+)\)")


class _Content(str):
    """A catalogue for polib, split at line feeds only."""

    __slots__ = ()

    def splitlines(self, keepends: bool = False) -> list[str]:
        assert not keepends
        return self.split("\n")


def read_po(files: Sequence[Path], _request: Request) -> Iterator[Found]:
    """Read (message, translation); untranslated, fuzzy and obsolete entries are skipped."""
    for path in files:
        text = read_document(path)
        if isinstance(text, Fault):
            # The parser needs the whole file, so one bad line is fatal.
            yield text._replace(severity="fatal")
            continue
        try:
            # The final line feed keeps polib from taking the text for a file name.
            catalogue = polib.pofile(_Content(text[0] + "\n"), encoding="utf-8")
        except (OSError, ValueError, IndexError, UnicodeError) as error:
            yield _make_broken_fault(path, error)
            continue
        for entry in catalogue:
            yield from _read_entry(path, entry)


def _read_entry(path: Path, entry: polib.POEntry) -> Iterator[Found]:
    if not entry.translated():
        problem = "The message is untranslated, fuzzy or obsolete."
        yield Fault("untranslated", "note", str(path), entry.linenum, problem, "It is skipped.")
    elif entry.msgid_plural:
        forms = [entry.msgstr_plural[number] for number in sorted(entry.msgstr_plural)]
        yield make_record((entry.msgid, forms[0]), path, entry.linenum)
        yield make_record((entry.msgid_plural, forms[-1]), path, entry.linenum)
    else:
        yield make_record((entry.msgid, entry.msgstr), path, entry.linenum)


def _make_broken_fault(path: Path, error: Exception) -> Fault:
    place = _LINE.search(str(error))
    line = int(place.group(1)) if place else 0
    remedy = "Correct the errors that msgfmt --check reports."
    return Fault("po", "fatal", str(path), line, "The catalogue is not well-formed.", remedy)
