"""Decoding token by token: the pieces, joined, are the decoded text.

A token may end inside a character of several bytes: this character is held back until it is
complete, so that every piece is valid text.
"""

import codecs
from collections.abc import Sequence

from regard.text.special import SPECIAL


class TextStream:
    """Decodes ids one at a time.

    Args:
        spelled: The bytes of each token.
        strip: Whether the space before the first word is removed.

    """

    def __init__(self, spelled: Sequence[bytes], *, strip: bool) -> None:
        self._spelled, self._strip = spelled, strip
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, id: int) -> str:
        """Return the text that is complete with this token."""
        return self._begin(self._decoder.decode(self._spelled[id]))

    def end(self) -> str:
        """Return what is left: a replacement character if a character is incomplete."""
        return self._begin(self._decoder.decode(b"", final=True))

    def spell(self, id: int) -> str:
        r"""Return the text of a token that would come next, or ``bytes:\xc3`` if it is none."""
        if id < len(SPECIAL):
            return SPECIAL[id]
        spelled = self._spelled[id]
        try:
            text = spelled.decode("utf-8")
        except UnicodeDecodeError:
            return "bytes:" + "".join(f"\\x{byte:02x}" for byte in spelled)
        return text.removeprefix(" ") if self._strip else text

    def _begin(self, text: str) -> str:
        """Remove the space at the very beginning."""
        if not text or not self._strip:
            return text
        self._strip = False
        return text.removeprefix(" ")
