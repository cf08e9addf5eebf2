"""BERT's own way of cutting text: taken over with a checkpoint, never trained.

    text -> cleaned, folded -> words, single marks of punctuation -> ##pieces of words, or unknown

Unlike the kinds of :mod:`.layout` it loses something: white space, what folding takes away, and any
word that its pieces cannot spell. So it serves models that read, not models that write
(Devlin et al. 2019; the pieces are WordPiece's: Wu et al. 2016).
"""

from typing import Any, NamedTuple

CONTINUING = "##"
"""Marks a token that continues a word."""


class Folding(NamedTuple):
    """What happens to a text before it is cut, beside folding capitals."""

    clean: bool = True
    """Whether control characters go and all white space becomes a space."""
    chinese: bool = True
    """Whether every Chinese character is a word."""
    accents: bool | None = None
    """Whether accents are taken off; None: where capitals are folded."""


USUAL = Folding()


def pipeline(*, lowercase: bool, folding: Folding) -> dict[str, Any]:
    """Write everything of a ``tokenizer.json`` that comes before and after the vocabulary."""
    return {
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": folding.clean,
            "handle_chinese_chars": folding.chinese,
            "strip_accents": folding.accents,
            "lowercase": lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": CONTINUING, "cleanup": False},
    }


def read_normalizer(found: object) -> tuple[bool, Folding] | None:
    """Say whether a ``normalizer`` folds capitals, and what else it does; None if not BERT's."""
    if not isinstance(found, dict) or found.get("type") != "BertNormalizer":
        return None
    names = ("lowercase", "clean_text", "handle_chinese_chars", "strip_accents")
    lowercase, clean, chinese, accents = (found.get(name) for name in names)
    switches = (lowercase, clean, chinese, False if accents is None else accents)
    if not all(type(switch) is bool for switch in switches):
        return None
    return lowercase is True, Folding(clean is True, chinese is True, accents)


def token_bytes(token: str) -> bytes:
    """Return the bytes a token stands for: a word brings the space before it."""
    if token.startswith(CONTINUING) and token != CONTINUING:
        return token.removeprefix(CONTINUING).encode("utf-8")
    return f" {token}".encode()
