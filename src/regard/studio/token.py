"""The token of a studio: made once per folder of runs, readable by its owner alone.

It survives a restart, so that a page that is open goes on when the studio is started again.
"""

import hashlib
import os
import secrets
from pathlib import Path

from regard.errors import UsageError
from regard.files import cache_folder

BYTES = 32


def read_token(root: Path) -> str:
    """Return the token of a folder of runs; make one the first time."""
    name = hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:16]
    file = cache_folder() / "studio" / f"{name}.token"
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if file.is_file() and file.stat().st_mode & 0o077:
            file.unlink()  # others may have read it
        if not file.is_file():
            _write(file, secrets.token_urlsafe(BYTES))
        return file.read_text(encoding="ascii")
    except OSError as error:
        raise UsageError(
            f"the studio's token cannot be kept in {file.parent}: {error.strerror}.",
            "Name a folder with write permission in REGARD_CACHE.",
        ) from error


def _write(file: Path, token: str) -> None:
    """Write the file so that nobody else can read it at any time."""
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as opened:
        opened.write(token)
    unfinished.replace(file)
