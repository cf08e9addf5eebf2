"""Durable files: after a power cut a file is there whole, or not at all.

    write .NAME.unfinished    fsync it    rename it to NAME    fsync the folder

A seal is a JSON file that holds the SHA-256 of every other file of its folder, and a digest of
itself. It is written last, when the files that it names are on the disk: a folder with a seal is
whole.
"""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor


LOCK = ".lock"
"""Lock of a folder that is being written."""


def write_whole(file: Path, text: str) -> None:
    """Write a text atomically and durably."""
    _write_whole(file, lambda unfinished: unfinished.write_text(text, encoding="utf-8"))


def write_tensors_whole(file: Path, tensors: "Mapping[str, Tensor]") -> None:
    """Write tensors atomically and durably."""
    _write_whole(file, lambda unfinished: write_tensors(unfinished, tensors))


def write_tensors(
    file: Path, tensors: "Mapping[str, Tensor]", *, metadata: dict[str, str] | None = None
) -> None:
    """Write tensors to a safetensors file that the caller syncs."""
    from safetensors.torch import save_file  # torch is imported only where tensors are written

    whole = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
    with raise_os_errors(), _keep_mode(file):
        save_file(whole, file, metadata=metadata)


def write_arrays(file: Path, arrays: "Mapping[str, NDArray[Any]]") -> None:
    """Write NumPy arrays to a safetensors file that the caller syncs."""
    from safetensors.numpy import save_file

    with raise_os_errors(), _keep_mode(file):
        save_file(dict(arrays), file)


def write_seal(file: Path, facts: Mapping[str, Any], names: Iterable[str]) -> None:
    """Sync the named files of its folder, then write ``facts`` and their hashes into ``file``."""
    folder, hashes = file.parent, {}
    for name in names:
        sync(folder / name)
        hashes[name] = hash_file(folder / name)
    sync(folder)
    sealed = {**facts, "files": hashes}
    write_whole(file, json.dumps({**sealed, "digest": digest_facts(sealed)}, indent=1))


def read_seal(file: Path, *, digested: int) -> dict[str, Any]:
    """Read a seal; a ValueError says why it cannot be used.

    From format ``digested`` on it must hold a digest of itself.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        format, hashes = found["format"], found["files"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(str(error) or type(error).__name__) from None
    digest = found.pop("digest", None)
    named = isinstance(hashes, dict) and all(isinstance(value, str) for value in hashes.values())
    if type(format) is not int or not named or any("/" in name for name in hashes):
        raise ValueError("it is not a seal")
    if (format >= digested or digest) and digest != digest_facts(found):
        raise ValueError("it was changed after it was written")
    return found


def digest_facts(facts: Mapping[str, Any]) -> str:
    """Compute the SHA-256 of facts, in whatever order they are written."""
    return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def find_broken(folder: Path, hashes: Mapping[str, str]) -> str:
    """Return the first file that is not what its hash says; an empty name if all are."""
    for name, digest in hashes.items():
        if not (folder / name).is_file() or hash_file(folder / name) != digest:
            return name
    return ""


@contextmanager
def lock_file(file: Path, *, wait: bool) -> Iterator[None]:
    """Hold a lock that one process at a time can hold; raise BlockingIOError if it is held."""
    while True:
        with file.open("w") as opened:
            fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if not _is_same_file(opened.fileno(), file):
                continue  # its last holder has removed it
            try:
                yield
            finally:
                file.unlink(missing_ok=True)
            return


def _is_same_file(handle: int, file: Path) -> bool:
    try:
        return os.fstat(handle).st_ino == file.stat().st_ino
    except FileNotFoundError:
        return False


def make_folder(folder: Path) -> None:
    """Make a new folder and those above it, all of them on the disk."""
    missing = [above for above in folder.parents if not above.exists()]
    for above in reversed(missing):
        above.mkdir(exist_ok=True)
        sync(above.parent)
    folder.mkdir()
    sync(folder.parent)


@contextmanager
def new_folder(folder: Path, seal: str) -> Iterator[None]:
    """Make a folder, locked while it is written; it goes if the writing fails.

    One that a killed process left, without its seal, is made anew; any other is a FileExistsError.
    """
    if _is_abandoned(folder, seal):
        shutil.rmtree(folder)
    make_folder(folder)
    with lock_file(folder / LOCK, wait=False):
        sync(folder)
        try:
            yield
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _is_abandoned(folder: Path, seal: str) -> bool:
    if (folder / seal).exists() or not (folder / LOCK).exists():
        return False
    try:
        with lock_file(folder / LOCK, wait=False):
            return True
    except BlockingIOError:
        return False


def hash_file(file: Path) -> str:
    """Compute a file's SHA-256, reading it in pieces."""
    with file.open("rb") as handle:
        return file_digest(handle, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Flush a file or a folder to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def cache_folder() -> Path:
    """Return the folder of what can be computed again; REGARD_CACHE names another one."""
    if named := os.environ.get("REGARD_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "regard"


@contextmanager
def raise_os_errors() -> Iterator[None]:
    """Turn safetensors' own error into an OSError where the system refused to write."""
    from safetensors import SafetensorError

    try:
        yield
    except SafetensorError as error:
        if refused := re.search(r"os error (\d+)", str(error)):
            number = int(refused[1])
            raise OSError(number, os.strerror(number)) from error
        raise


@contextmanager
def _keep_mode(file: Path) -> Iterator[None]:
    """Give the file the mode that the umask asks for; safetensors writes it as 0600."""
    file.touch()
    mode = file.stat().st_mode
    yield
    file.chmod(mode)


def _write_whole(file: Path, write: Callable[[Path], object]) -> None:
    unfinished = file.with_name(f".{file.name}.unfinished")
    write(unfinished)
    sync(unfinished)
    unfinished.replace(file)
    sync(file.parent)
