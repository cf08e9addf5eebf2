"""API keys: which requests are let in.

    Authorization: Bearer KEY

Keys are compared by their hashes in constant time, each with all, so that time tells nothing.
"""

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from pathlib import Path

from regard.errors import UsageError
from regard.serve.refusal import Refusal

SHORTEST = 16  # characters


class Keys:
    """The keys that are accepted; without any, everybody is let in.

    Args:
        keys: The keys themselves; only their hashes are kept.

    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._hashes = [_hash(key) for key in keys]

    @classmethod
    def read(cls, file: Path) -> "Keys":
        """Read a file with a key on each line; lines that begin with # are comments."""
        try:
            lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{file} cannot be read: {error}.", "Name a file of keys.") from error
        keys = [line for line in lines if line and not line.startswith("#")]
        if not keys or min(map(len, keys)) < SHORTEST:
            raise UsageError(
                f"a file of API keys has keys of {SHORTEST} characters or more. {file} has "
                f"{len(keys)} keys, the shortest of {min(map(len, keys), default=0)} characters.",
                'Make one: python -c "import secrets; print(secrets.token_urlsafe(32))"',
            )
        return cls(keys)

    def __bool__(self) -> bool:
        return bool(self._hashes)

    def accept(self, key: str) -> bool:
        """Whether a key is one of them; anything is if there are none."""
        found = [hmac.compare_digest(_hash(key), known) for known in self._hashes]
        return any(found) or not self._hashes

    def check(self, headers: Sequence[tuple[bytes, bytes]]) -> None:
        """Refuse a request whose Authorization header has none of them."""
        given = dict(headers).get(b"authorization", b"").decode("latin-1")
        scheme, _, key = given.partition(" ")
        if not self.accept(key.strip() if scheme.lower() == "bearer" else ""):
            message = "an API key is needed. Send the header Authorization: Bearer KEY."
            raise Refusal(401, "unauthorized", message)


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
