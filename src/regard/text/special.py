"""The special tokens: the same seven, with the same ids, in every vocabulary.

They mark places, never text: a text that happens to contain ``</s>`` is five ordinary characters.
"""

SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", "[CLS]", "[SEP]", "[MASK]")
"""Their spellings, in the order of their ids."""

PAD, UNKNOWN, BEGIN, END, CLS, SEP, MASK = range(len(SPECIAL))
