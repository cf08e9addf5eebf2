"""Examples of retrieval: two texts, and a tag that says how they are related.

    document   (title, body)          a document; its title, or first sentence, can be the query
    pair       (query, document)      labelled; ``also`` names other relevant documents
    judged     (query, "")            a query with the grades of its documents, for evaluation
    scored     (text, text)           their similarity, for evaluation

The tag is stored as text, because the fields of every example are texts.
"""

import json
from hashlib import blake2b
from typing import Literal, NamedTuple

Kind = Literal["document", "pair", "judged", "scored"]


class Tag(NamedTuple):
    """The third field."""

    kind: Kind
    name: str = ""
    """Of the document, or of the judged query."""
    titled: bool = False
    """Whether the first text is a real title."""
    also: tuple[str, ...] = ()
    grades: dict[str, int] = {}  # noqa: RUF012 - never written to
    corpus: str = ""
    """Folder of the documents of a judged query."""
    score: float = 0.0

    def write(self) -> str:
        """Return it as text, defaults left out."""
        plain = self._field_defaults
        given = {n: v for n, v in self._asdict().items() if n == "kind" or v != plain[n]}
        return json.dumps(given, ensure_ascii=False)

    @classmethod
    def read(cls, written: str) -> "Tag":
        """Read what :meth:`written` wrote."""
        given = json.loads(written)
        return cls(**{**given, "also": tuple(given.get("also", ()))})


def number_of(name: str) -> int:
    """Hash a document's name to 32 bits; a collision only excludes one negative."""
    return int.from_bytes(blake2b(name.encode(), digest_size=4).digest())
