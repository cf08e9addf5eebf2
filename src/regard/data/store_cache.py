"""The folder of stores: one owner, and a bound on its size.

Each use of a store writes the next number into its file ``used``, so that which one was used last
follows from no clock. When all of them have more bytes than REGARD_CACHE_BYTES (20 GB unless it is
set), the least recently used ones go. A training that has one mapped keeps its pages.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from regard.errors import UsageError
from regard.files import lock_file

MOST_BYTES = 20_000_000_000
USED = "used"
_NAME = "[0-9a-f]" * 32


def open_root(root: Path) -> None:
    """Make the folder for its owner alone; refuse one in which others may write."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = root.stat()
    if found.st_uid != os.geteuid() or found.st_mode & stat.S_IWOTH:
        raise UsageError(
            f"the cache {root} must belong to you, and not be writable for everybody, for what is "
            "in it decides what is trained.",
            "Name a folder of your own in the environment variable REGARD_CACHE.",
        )


def mark_used(folder: Path) -> None:
    """Make a store the most recently used one."""
    latest = max((_use_of(other) for other in _stores(folder.parent)), default=0)
    (folder / USED).write_text(f"{latest + 1}", encoding="utf-8")


def evict_least_recent(root: Path, *, keep: Path) -> Iterator[str]:
    """Remove stores until the bound holds, and yield their names; ``keep`` stays."""
    most = _read_bound()
    for unfinished in root.glob(f".{_NAME}.unfinished"):
        _remove(unfinished, unfinished.name[1:33])
    sizes = {folder: _size_of(folder) for folder in _stores(root)}
    total = sum(sizes.values())
    for folder in sorted(sizes, key=_use_of):
        if total <= most:
            return
        if folder != keep and _remove(folder, folder.name):
            total -= sizes[folder]
            yield folder.name


def _read_bound() -> int:
    named = os.environ.get("REGARD_CACHE_BYTES") or str(MOST_BYTES)
    if not named.isdecimal():
        raise UsageError(
            f"REGARD_CACHE_BYTES must be a whole number of bytes. Got {named!r}.",
            "Correct the environment variable, or remove it.",
        )
    return int(named)


def _remove(folder: Path, name: str) -> bool:
    """Remove a folder unless another process is opening or writing the store of that name."""
    try:
        with lock_file(folder.with_name(f".{name}.lock"), wait=False):
            shutil.rmtree(folder)
    except BlockingIOError:
        return False
    return True


def _stores(root: Path) -> Iterator[Path]:
    return (folder for folder in root.glob(_NAME) if (folder / "store.json").is_file())


def _use_of(folder: Path) -> int:
    try:
        return int((folder / USED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0


def _size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())
