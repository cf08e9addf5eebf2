"""The store: the ids of a corpus on disk, memory-mapped, so that its size costs no RAM.

A store is a folder named by the fingerprint of its content (the data's bytes, the tokenizer, the
number of fields). Each field is one flat file of ids and one file of offsets; example n of field f
is ``ids_f[offsets_f[n] : offsets_f[n + 1]]``. It is written under a temporary name, sealed with the
hash of every file and renamed at the end. The hashes are compared whenever it is opened; a store
that does not match them is written anew.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.store_cache import evict_least_recent, mark_used, open_root
from regard.errors import DataError
from regard.files import find_broken, lock_file, read_seal, sync, write_seal

FORMAT = 1
SEALED = 2
"""Format of the seal; the names of stores hold FORMAT, on which old checkpoints rely."""
SEAL = "store.json"
PIECE = 1 << 22  # ids counted at once
CHUNK = 8192  # examples encoded at once: fast, and little memory

Encode = Callable[[list[tuple[str, ...]]], list[tuple[list[int], ...]]]
"""Encodes the texts of many examples, field by field."""


class Counts(NamedTuple):
    """How many examples were stored, and how many were too long."""

    kept: int
    overlong: int


class Store:
    """Ids of one split, with random access.

    Args:
        folder: The folder of the store.

    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        facts = read_seal(folder / SEAL, digested=SEALED)
        self.fingerprint: str = folder.name
        self.counts = Counts(facts["kept"], facts["overlong"])
        self._offsets = [
            np.load(folder / f"offsets-{field}.npy", mmap_mode="r")
            for field in range(facts["fields"])
        ]
        self._ids = [_map_file(folder / f"ids-{field}.bin") for field in range(facts["fields"])]

    def __len__(self) -> int:
        return self.counts.kept

    @property
    def tokens(self) -> int:
        """Tokens of the last field in all examples; the last field is the one to predict."""
        return int(self._offsets[-1][-1])

    def count_tokens(self, field: int, *, tokens: int) -> NDArray[np.int64]:
        """Count the occurrences of each of ``tokens`` in a field."""
        counts = np.zeros(tokens, dtype=np.int64)
        ids = self._ids[field]
        for begin in range(0, len(ids), PIECE):
            counts += np.bincount(ids[begin : begin + PIECE], minlength=tokens)
        return counts

    def find_present(self, field: int, *, tokens: int) -> NDArray[np.bool_]:
        """Return which of ``tokens`` occur in a field."""
        return self.count_tokens(field, tokens=tokens) > 0

    def flat(self, field: int) -> NDArray[np.uint32]:
        """Return all ids of a field, memory-mapped, example after example."""
        return self._ids[field]

    def rows(self, field: int) -> Iterator[NDArray[np.uint32]]:
        """Iterate over the ids of one field, example by example."""
        return (self[number][field] for number in range(len(self)))

    def owners(
        self, field: int, places: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the example of each index into :meth:`flat`, and where that example starts."""
        offsets = self._offsets[field]
        owners = np.searchsorted(offsets, places, side="right") - 1
        return owners, offsets[owners]

    def lengths(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the tokens of these examples, one column per field."""
        return np.stack(
            [offsets[numbers + 1] - offsets[numbers] for offsets in self._offsets], axis=1
        )

    def __getitem__(self, number: int) -> tuple[NDArray[np.uint32], ...]:
        """Return the ids of one example, field by field."""
        return tuple(
            ids[offsets[number] : offsets[number + 1]]
            for ids, offsets in zip(self._ids, self._offsets, strict=True)
        )

    @classmethod
    def open_or_write(
        cls,
        root: Path,
        examples: Callable[[], Iterable[tuple[str, ...]]],
        encode: Encode,
        *,
        key: tuple[str, ...],
        longest: int | None,
        say: Callable[[str], None] = lambda text: None,
    ) -> "Store":
        """Open the store named by ``key`` and the examples' bytes; write it if it is missing.

        ``key`` holds what else determines the ids: the tokenizer's fingerprint, the task.
        Examples with a text of more than ``longest`` tokens are left out and counted.
        """
        open_root(root)
        folder = root / _make_fingerprint(examples(), (*key, str(longest), str(FORMAT)))
        with lock_file(root / f".{folder.name}.lock", wait=True):
            if why := _find_fault(folder):
                if folder.exists():
                    say(f"the stored ids {folder} cannot be used ({why}): writing them anew")
                _write_whole(folder, examples, encode, longest=longest)
            mark_used(folder)
            opened = cls(folder)
        for name in evict_least_recent(root, keep=folder):
            say(f"removed the stored ids {name}, the least recently used, to bound {root}")
        return opened


def _find_fault(folder: Path) -> str:
    """Say why a store cannot be opened; an empty string if it can."""
    try:
        facts = read_seal(folder / SEAL, digested=SEALED)
    except (OSError, ValueError) as error:
        return f"{SEAL}: {error}"
    if facts["format"] != SEALED:
        return "written by an earlier version"
    broken = find_broken(folder, facts["files"])
    return f"{broken} was changed" if broken else ""


def _write_whole(
    folder: Path,
    examples: Callable[[], Iterable[tuple[str, ...]]],
    encode: Encode,
    *,
    longest: int | None,
) -> None:
    """Write a store to a temporary file, then rename it; the caller holds its lock."""
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    try:
        _write(unfinished, examples(), encode, longest=longest)
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.rename(folder)
        sync(folder.parent)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _make_fingerprint(examples: Iterable[tuple[str, ...]], key: tuple[str, ...]) -> str:
    """Hash every text after its length, so that no two corpora are hashed alike."""
    digest = sha256("\0".join(key).encode())
    for example in examples:
        for text in example:
            raw = text.encode("utf-8")
            digest.update(len(raw).to_bytes(8, "little"))
            digest.update(raw)
    return digest.hexdigest()[:32]


def _write(
    folder: Path, examples: Iterable[tuple[str, ...]], encode: Encode, *, longest: int | None
) -> None:
    writers: list[_FieldWriter] = []
    kept = overlong = 0
    for chunk in _cut_chunks(examples):
        for fields in encode(chunk):
            if not writers:
                writers = [_FieldWriter(folder, field) for field in range(len(fields))]
            if longest is not None and max(map(len, fields)) > longest:
                overlong += 1
                continue
            kept += 1
            for writer, ids in zip(writers, fields, strict=True):
                writer.add(ids)
    for writer in writers:
        writer.close()
    if not kept:
        raise DataError(
            f"a corpus must contain at least one example that fits. Got none; {overlong} were "
            f"longer than {longest} tokens.",
            "Add text, or raise text.max_length.",
        )
    facts = {"format": SEALED, "fields": len(writers), "kept": kept, "overlong": overlong}
    write_seal(folder / SEAL, facts, [file.name for file in sorted(folder.iterdir())])


class _FieldWriter:
    """Appends the ids of one field to its file; offsets are written as they come."""

    def __init__(self, folder: Path, field: int) -> None:
        self.ids = (folder / f"ids-{field}.bin").open("wb")
        self.raw = folder / f"offsets-{field}.raw"
        self.offsets = self.raw.open("wb")
        self.end = 0
        self.offsets.write(np.int64(0).tobytes())

    def add(self, ids: list[int]) -> None:
        self.ids.write(np.asarray(ids, dtype=np.uint32).tobytes())
        self.end += len(ids)
        self.offsets.write(np.int64(self.end).tobytes())

    def close(self) -> None:
        self.ids.close()
        self.offsets.close()
        mapped = np.memmap(self.raw, dtype=np.int64, mode="r")
        np.save(self.raw.with_suffix(".npy"), mapped)
        del mapped
        self.raw.unlink()


def _map_file(file: Path) -> NDArray[np.uint32]:
    """Memory-map a file of ids; an empty file cannot be mapped and is an empty array."""
    if not file.stat().st_size:
        return np.empty(0, dtype=np.uint32)
    return np.memmap(file, dtype=np.uint32, mode="r")


def _cut_chunks(examples: Iterable[tuple[str, ...]]) -> Iterator[list[tuple[str, ...]]]:
    iterator = iter(examples)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk
