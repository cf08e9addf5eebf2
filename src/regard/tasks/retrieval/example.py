"""What an example of retrieval is: two texts, and a third field that says how they belong together.

    document   (title, body)          a document; its title, or first sentence, may ask for it
    pair       (query, document)      labelled; ``also`` names other documents that answer the query
    judged     (query, "")            a question with the grades of its documents, to be measured on
    scored     (text, text)           how alike they are, to be measured on

The third field is kept as text, so that examples stay what they are everywhere: texts.
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
    """Where the documents are that a judged query asks for."""
    score: float = 0.0

    def written(self) -> str:
        """Return it as text, defaults left out."""
        plain = self._field_defaults
        told = {n: v for n, v in self._asdict().items() if n == "kind" or v != plain[n]}
        return json.dumps(told, ensure_ascii=False)

    @classmethod
    def read(cls, written: str) -> "Tag":
        """Read what :meth:`written` wrote."""
        told = json.loads(written)
        return cls(**{**told, "also": tuple(told.get("also", ()))})


def number_of(name: str) -> int:
    """Give a document's name a number of 32 bits; two that meet only hide one competitor."""
    return int.from_bytes(blake2b(name.encode(), digest_size=4).digest())
