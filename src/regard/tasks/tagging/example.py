"""Examples of tagging: a text, and an annotation with its tokens and their tags.

    ("Anna lives in Rome.", {"scheme": "IOB2", "tags": ["B-PER", …], "tokens": [[0, 4], …]})

Tokens are those of the data: the lines of a CoNLL file, or, for character spans, the words of the
text. The model reads each token as one or more words (letters and digits, or one punctuation mark),
because plain text is split in the same way.
"""

import json
import re
import unicodedata
from functools import cache
from typing import NamedTuple

from regard.tasks.tagging.schemes import OUTSIDE, Scheme, Span, read_spans, write_tags

LEARNED: Scheme = "IOB2"
"""The scheme of targets and predictions, whatever the data has."""

_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_JOINERS = "\u200c\u200d"

Place = tuple[int, int]
"""Begin and end of a token in its text, in characters; the end is exclusive."""


class Annotation(NamedTuple):
    """The second field of an example."""

    scheme: Scheme
    tags: tuple[str, ...]
    """One per token, as in the data."""
    tokens: tuple[Place, ...]

    def as_field(self) -> str:
        """Return it as text."""
        return json.dumps(self._asdict(), ensure_ascii=False)

    @classmethod
    def from_field(cls, field: str) -> "Annotation":
        """Read what :meth:`as_field` wrote."""
        found = json.loads(field)
        places = tuple((begin, end) for begin, end in found["tokens"])
        return cls(found["scheme"], tuple(found["tags"]), places)

    @property
    def spans(self) -> list[Span]:
        """The spans of tokens that the tags mark."""
        return read_spans(self.tags, self.scheme)

    @property
    def learned(self) -> tuple[str, ...]:
        """The tags in the scheme of the targets."""
        scheme = "none" if self.scheme == "none" else LEARNED
        return tuple(write_tags(self.spans, len(self.tags), scheme))


def find_words(text: str) -> list[Place]:
    """Split a text into words, Chinese characters and punctuation marks."""
    return [found.span() for found in _word().finditer(text)]


def words_of(token: str) -> list[str]:
    """Split a token into words."""
    return _word().findall(token)


def inner_tag(tag: str, scheme: Scheme) -> str:
    """Return the tag of a token's second word and those after it."""
    return tag if scheme == "none" or tag == OUTSIDE else f"I-{tag.partition('-')[2]}"


@cache
def _word() -> re.Pattern[str]:
    # Vowel signs of Indic scripts and other combining marks continue a word; \w leaves them out.
    every = map(chr, range(0x300, 0x1F000))
    marks = "".join(one for one in every if unicodedata.category(one).startswith("M"))
    letter = rf"[^\W{_IDEOGRAPHS}]"
    return re.compile(rf"[{_IDEOGRAPHS}]|{letter}(?:{letter}|[{marks}{_JOINERS}])*|[^\w\s]")
