"""Durable files: after a power cut a file is there whole, or not at all.

    write .NAME.unfinished    fsync it    rename it to NAME    fsync the folder

A seal is a JSON file that holds the SHA-256 of every other file of its folder. It is written last,
when the files that it names are on the disk: a folder with a seal is whole.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor


def write_whole(file: Path, text: str) -> None:
    """Write a text atomically and durably."""
    _write_whole(file, lambda unfinished: unfinished.write_text(text, encoding="utf-8"))


def write_tensors_whole(file: Path, tensors: "Mapping[str, Tensor]") -> None:
    """Write tensors atomically and durably."""
    _write_whole(file, lambda unfinished: write_tensors(unfinished, tensors))


def write_tensors(file: Path, tensors: "Mapping[str, Tensor]") -> None:
    """Write tensors to a safetensors file that the caller syncs."""
    from safetensors.torch import save_file  # torch is imported only where tensors are written

    with raise_os_errors(), _keep_mode(file):
        save_file({name: tensor.cpu().contiguous() for name, tensor in tensors.items()}, file)


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
    write_whole(file, json.dumps({**facts, "files": hashes}, indent=1))


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
