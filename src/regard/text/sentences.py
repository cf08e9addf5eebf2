"""Sentence splitting, by rules that hold for most European languages.

A sentence ends with ``. ! ? …`` (and closing quotes or brackets) if white space follows and the
next word may start a sentence; with a blank line; or with a Chinese or Japanese full stop, which
needs no space. A period does not end a sentence after an abbreviation, after a single initial, or
between a number and a lower-case word or the name of a month (``am 3. Mai``).
"""

import re
from collections.abc import Iterator

LONGEST = 64  # characters before a period that are searched for an abbreviation

_END = re.compile(
    r"""(?<![.!?…])(?P<mark>[.!?…]+)(?P<close>["'”’»)\]]*)(?P<space>\s+)(?=(?P<next>\S+))"""
    r"""|(?P<wide>[。！？]+[”』」]*)\s*|(?P<break>\n[ \t]*\n\s*)"""
)
_LAST_WORD = re.compile(r"[^\s(\[\"'„“«]+$")
_ABBREVIATIONS = frozenset(
    [
        "abb",
        "abs",
        "al",
        "allg",
        "anm",
        "art",
        "aufl",
        "ausg",
        "bd",
        "best",
        "bzgl",
        "bzw",
        "ca",
        "cf",
        "chap",
        "co",
        "corp",
        "dgl",
        "dipl",
        "dr",
        "ed",
        "eds",
        "eg",
        "etc",
        "evtl",
        "exkl",
        "ff",
        "fig",
        "geb",
        "gen",
        "ggf",
        "gov",
        "hl",
        "hon",
        "hr",
        "hrsg",
        "ie",
        "inc",
        "ing",
        "inkl",
        "insb",
        "jh",
        "jr",
        "kap",
        "lt",
        "ltd",
        "max",
        "mio",
        "mme",
        "mr",
        "mrd",
        "mrs",
        "ms",
        "mt",
        "nr",
        "no",
        "op",
        "orig",
        "pp",
        "prof",
        "rep",
        "resp",
        "rev",
        "sen",
        "sgt",
        "sog",
        "sr",
        "st",
        "std",
        "str",
        "tel",
        "usw",
        "vgl",
        "vol",
        "vs",
        "wg",
        "zit",
        "zzgl",
    ]
)
_DOTTED = re.compile(r"^(?:\w\.)+\w$")
_AFTER_NUMBERS = frozenset(
    [
        "januar",
        "februar",
        "märz",
        "april",
        "mai",
        "juni",
        "juli",
        "august",
        "september",
        "oktober",
        "november",
        "dezember",
        "jahrhundert",
        "jh",
        "klasse",
        "janvier",
        "février",
        "mars",
        "avril",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
    ]
)


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences; only white space is lost."""
    return [" ".join(text[begin:end].split()) for begin, end in find_sentences(text)]


def find_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Find where sentences begin and end; white space between them belongs to none."""
    start = 0
    for match in _END.finditer(text):
        before = text[max(start, match.start() - LONGEST) : match.start()]
        if match["mark"] and not _ends_here(before, match):
            continue
        stop = match.start() if match["break"] else match.end("close" if match["mark"] else "wide")
        yield from _strip(text, start, stop)
        start = match.end()
    yield from _strip(text, start, len(text))


def _strip(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Leave out white space at both ends; nothing is left of a blank part."""
    part = text[begin:end]
    if stripped := part.strip():
        begin += len(part) - len(part.lstrip())
        yield begin, begin + len(stripped)


def _ends_here(before: str, match: re.Match[str]) -> bool:
    following = match["next"].lstrip("\"'„“‚«([-–—¿¡")
    if following[:1].islower():
        return False
    if match["mark"] != "." or "\n\n" in match["space"]:
        return True
    found = _LAST_WORD.search(before)
    word = found[0] if found else ""
    if word.isdecimal():
        return following.rstrip(".,;:").casefold() not in _AFTER_NUMBERS
    return not (_is_initial(word) or _is_abbreviation(word))


def _is_initial(word: str) -> bool:
    return len(word) == 1 and word.isupper() and word != "I"


def _is_abbreviation(word: str) -> bool:
    return word.casefold() in _ABBREVIATIONS or bool(_DOTTED.match(word))
