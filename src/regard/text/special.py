"""The special tokens: the same seven, with the same ids, in every vocabulary.

They never come from text: a text that contains ``</s>`` is encoded as ordinary characters.
"""

from collections.abc import Iterable

SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", "[CLS]", "[SEP]", "[MASK]")
"""Their spellings, in the order of their ids."""

PAD, UNKNOWN, BEGIN, END, CLS, SEP, MASK = range(len(SPECIAL))


def frame(ids: Iterable[int]) -> list[int]:
    """Add [CLS] and [SEP]."""
    return [CLS, *ids, SEP]
