"""BERT's tokenizer: imported with a checkpoint, never trained.

    text -> cleaned, folded -> words and single punctuation marks -> ##word pieces, or unknown

Unlike the kinds of :mod:`.layout` it is lossy: white space, case and accents, and any word that its
pieces cannot spell. So it serves models that read text, not models that generate it
(Devlin et al. 2019; WordPiece: Wu et al. 2016).
"""

from typing import Any, NamedTuple

CONTINUING = "##"
"""Marks a token that continues a word."""


class Folding(NamedTuple):
    """How a text is normalized, apart from lowercasing."""

    clean: bool = True
    """Whether control characters are removed and white space becomes spaces."""
    chinese: bool = True
    """Whether every Chinese character is a word."""
    accents: bool | None = None
    """Whether accents are removed; None: if ``lowercase`` is on."""


USUAL = Folding()


def build_pipeline(*, lowercase: bool, folding: Folding) -> dict[str, Any]:
    """Build normalizer, pre-tokenizer and decoder of a ``tokenizer.json``."""
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
    """Return whether a ``normalizer`` lowercases, and what else it does; None if not BERT's."""
    if not isinstance(found, dict) or found.get("type") != "BertNormalizer":
        return None
    names = ("lowercase", "clean_text", "handle_chinese_chars", "strip_accents")
    lowercase, clean, chinese, accents = (found.get(name) for name in names)
    switches = (lowercase, clean, chinese, False if accents is None else accents)
    if not all(type(switch) is bool for switch in switches):
        return None
    return lowercase is True, Folding(clean is True, chinese is True, accents)


def token_bytes(token: str) -> bytes:
    """Return the bytes of a token; the first token of a word includes the space before it."""
    if token.startswith(CONTINUING) and token != CONTINUING:
        return token.removeprefix(CONTINUING).encode("utf-8")
    return f" {token}".encode()
