"""A fault injector: something goes wrong at the Nth file operation below a folder.

    died = attempt(work, root, at=7, fault="kill")     # work() in a process of its own
    for died in every_fault(work, prepare, fault="eio"): ...

An operation is an ``open``, a ``write`` that reaches the system, or a change of a folder (``mkdir``,
``rename``, ``unlink``, ...) whose path is below ``root``; ``fsync`` too, and a whole tensor file,
which a library writes.

    kill     the process dies before the operation (SIGKILL: no handler, no ``finally``)
    tear     half of the bytes are written, then the process dies
    enospc   the operation fails for want of space, and so does every later one that needs some
    eio      the operation fails with an I/O error, once
    broken   the operation and every later one fail with an I/O error
    power    the process dies, and of files and folders only what was synced is there afterwards
    blank    the process dies, names are there, but bytes that were not synced are not

``power`` and ``blank`` are the two ends of what file systems do with writes that were not synced:
nothing of them is kept, or their names are (ext4 then shows empty files). ``flip`` changes a bit of a
file at rest.
"""

import errno
import io
import json
import os
import random
import shutil
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

FAULTS = ("kill", "tear", "enospc", "eio", "broken", "power", "blank")
KILLED = -signal.SIGKILL
SPACE = {"write", "create", "mkdir", "tensors"}
"""Operations that need space."""
CHANGES = ("mkdir", "rmdir", "unlink", "remove", "rename", "replace", "chmod", "truncate", "link")
WRITING = set("wax+")


class Died(NamedTuple):
    """How a process ended."""

    code: int
    """0 where ``work`` returned; its exit code, or 1 where it raised; KILLED."""
    operations: list[str]
    """The operations up to the end, as ``open path``."""
    said: str
    """The exception that it raised, with its traceback."""


def attempt(work: Callable[[], object], root: Path, *, at: int = 0, fault: str = "kill") -> Died:
    """Call ``work`` in a forked process whose operation number ``at`` fails; 0 for none.

    An exception with an ``exit_code`` ends the process with it.
    """
    log = root.parent / f".{root.name}.faults"
    shutil.rmtree(log, ignore_errors=True)
    log.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork of a process with threads
        child = os.fork()
    if not child:
        _work(work, Disk(root, log, at=at, fault=fault))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    operations = (log / "operations").read_text().splitlines()
    said = (log / "said").read_text() if (log / "said").exists() else ""
    if code == KILLED and fault in ("power", "blank"):
        _lose_unsynced(root, log, keep_names=fault == "blank")
    shutil.rmtree(log)
    return Died(code, operations, said)


def every_fault(
    work: Callable[[], object], prepare: Callable[[], Path], *, fault: str, most: int = 0
) -> Iterator[tuple[int, Died]]:
    """Let each operation of ``work`` fail in turn, or ``most`` of them evenly spread.

    ``prepare`` makes the folder anew and returns it.
    """
    calm = attempt(work, prepare())
    assert calm.code == 0, calm.said
    total = len(calm.operations)
    chosen = range(1, total + 1)
    if 0 < most < total:
        chosen = sorted({1 + n * (total - 1) // max(most - 1, 1) for n in range(most)})
    for at in chosen:
        yield at, attempt(work, prepare(), at=at, fault=fault)


def flip(file: Path, rng: random.Random) -> None:
    """Change one bit of a file that has some."""
    whole = bytearray(file.read_bytes())
    whole[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
    file.write_bytes(whole)


def _work(work: Callable[[], object], disk: "Disk") -> None:
    code = 0
    try:
        with disk:
            work()
    except BaseException as error:
        code = getattr(error, "exit_code", 1)
        (disk.log / "said").write_text("".join(traceback.format_exception(error)))
    finally:
        os._exit(code)


class Disk:
    """Counts the operations below ``root`` while it is entered, and lets one fail.

    Every synced file is copied to ``log``, every synced folder's list of names too: of these
    :func:`_lose_unsynced` makes the disk after a power cut. Files are told apart by a number of
    their own, since the system gives an inode's number away again.
    """

    def __init__(self, root: Path, log: Path, *, at: int, fault: str) -> None:
        self.root, self.log, self.at, self.fault = os.path.realpath(root), log, at, fault
        self.count = self.made = 0
        self.known: dict[int, int] = {}
        self.true = {name: getattr(os, name) for name in (*CHANGES, "open", "fsync")}
        self.true_open, self.operations = io.open, io.FileIO(log / "operations", "w")
        self.loses = fault in ("power", "blank")
        if self.loses:
            self._remember_all()

    def __enter__(self) -> None:
        import builtins

        import safetensors.numpy
        import safetensors.torch

        for name in CHANGES:
            setattr(os, name, self._change(name))
        os.open, os.fsync = self._open_handle, self._fsync
        builtins.open = io.open = self._open
        for library in (safetensors.numpy, safetensors.torch):
            library.save_file = self._save(library.save_file)

    def __exit__(self, *_raised: object) -> None:
        """Nothing is put back: the process ends."""

    def step(self, kind: str, path: str, do: Callable[[], object], half=None) -> object:
        """Count one operation; let it happen or fail."""
        self.count += 1
        self.operations.write(f"{kind} {os.path.relpath(path, self.root)}\n".encode())
        if self.at and self.count >= self.at:
            self._fail(kind, path, half)
        return do()

    def _fail(self, kind: str, path: str, half: Callable[[], object] | None) -> None:
        now = self.count == self.at
        if (self.fault == "eio" and now) or self.fault == "broken":
            raise _error(errno.EIO, path, kind)
        if self.fault == "enospc":
            if kind in SPACE:
                raise _error(errno.ENOSPC, path, kind)
            return
        if now:
            if self.fault == "tear" and half:
                half()
            os.kill(os.getpid(), signal.SIGKILL)

    def inside(self, path: object, dir_fd: int | None = None) -> str:
        """Return a path below the root in full, and an empty one of any other."""
        if isinstance(path, int):
            found = os.readlink(f"/proc/self/fd/{path}")
        else:
            found = os.fsdecode(path)
            if dir_fd is not None:
                found = os.path.join(os.readlink(f"/proc/self/fd/{dir_fd}"), found)
            parent, name = os.path.split(os.path.abspath(found))
            found = os.path.join(os.path.realpath(parent), name)
        return found if found == self.root or found.startswith(self.root + os.sep) else ""

    def _change(self, name: str) -> Callable[..., object]:
        true = self.true[name]

        def changed(path, *more, **named):
            within = self.inside(path, named.get("dir_fd"))
            if not within and more and name in ("rename", "replace"):
                within = self.inside(more[0])
            if not within:
                return true(path, *more, **named)
            done = self.step(name, within, lambda: true(path, *more, **named))
            if name == "mkdir":
                self._name(within)
            return done

        return changed

    def _open_handle(self, path, flags, mode=0o777, *, dir_fd=None):
        within = self.inside(path, dir_fd)
        if not within:
            return self.true["open"](path, flags, mode, dir_fd=dir_fd)
        new = bool(flags & os.O_CREAT) and not os.path.exists(within)
        do = lambda: self.true["open"](path, flags, mode, dir_fd=dir_fd)  # noqa: E731
        handle = self.step("create" if new else "open", within, do)
        if new:
            self._name(within)
        return handle

    def _open(self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, **more):
        within = "" if isinstance(file, int) else self.inside(file)
        if not within:
            return self.true_open(file, mode, buffering, encoding, errors, newline, **more)
        new = bool(WRITING & set(mode)) and not os.path.exists(within)
        plain = mode.replace("b", "").replace("t", "")
        raw = self.step("create" if new else "open", within, lambda: _Raw(within, plain, self))
        if new:
            self._name(within)
        if buffering == 0:
            return raw
        kind = io.BufferedRandom if "+" in mode else io.BufferedWriter
        buffered = kind(raw) if WRITING & set(mode) else io.BufferedReader(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, errors, newline)

    def _save(self, true: Callable[..., object]) -> Callable[..., object]:
        def saved(tensors, filename, metadata=None):
            within = self.inside(filename)
            do = lambda: true(tensors, filename, metadata)  # noqa: E731
            if not within:
                return do()
            new = not os.path.exists(within)

            def half() -> None:
                do()
                self.true["truncate"](within, os.path.getsize(within) // 2)

            done = self.step("tensors", within, do, half)
            if new:
                self._name(within)
            return done

        return saved

    def _fsync(self, handle: int) -> None:
        if not (path := self.inside(handle)):
            self.true["fsync"](handle)
            return
        self.step("fsync", path, lambda: self.true["fsync"](handle))
        if self.loses:
            self._remember(path)

    def _name(self, path: str) -> int:
        """Give a new file or folder its number."""
        self.made += 1
        self.known[os.stat(path).st_ino] = self.made
        if self.loses:
            with self.true_open(self.log / "known", "w") as to:
                json.dump(self.known, to)
        return self.made

    def _remember_all(self) -> None:
        for folder, _, files in os.walk(self.root):
            for path in (folder, *(os.path.join(folder, file) for file in files)):
                self._name(path)
        for folder, _, files in os.walk(self.root):
            for path in (folder, *(os.path.join(folder, file) for file in files)):
                self._remember(path)

    def _remember(self, path: str) -> None:
        """Write down a file's bytes, or a folder's names, as they are on the disk now."""
        number = self.known.get(os.stat(path).st_ino) or self._name(path)
        if os.path.isfile(path):
            with (
                self.true_open(path, "rb") as file,
                self.true_open(self.log / f"{number}", "wb") as to,
            ):
                to.write(file.read())
        else:
            names = {one.name: (self._number(one), one.is_dir()) for one in os.scandir(path)}
            with self.true_open(self.log / f"{number}", "w") as to:
                json.dump(names, to)
        if path == self.root:
            with self.true_open(self.log / "root", "w") as to:
                to.write(f"{number}")

    def _number(self, entry: os.DirEntry) -> int:
        return self.known.get(entry.inode()) or self._name(entry.path)


class _Raw(io.FileIO):
    """A file whose writes are counted."""

    def __init__(self, path: str, mode: str, disk: Disk) -> None:
        self.disk = disk
        super().__init__(path, mode)

    def write(self, data) -> int:
        size = len(data)
        half = lambda: super(_Raw, self).write(bytes(data)[: size // 2])  # noqa: E731
        return self.disk.step("write", self.name, lambda: super(_Raw, self).write(data), half)


def _error(number: int, path: str, kind: str) -> Exception:
    if kind == "tensors":
        from safetensors import SafetensorError

        return SafetensorError(f"Error while serializing: I/O error: (os error {number})")
    return OSError(number, os.strerror(number), path)


def _lose_unsynced(root: Path, log: Path, *, keep_names: bool) -> None:
    """Make the folder what it is after a power cut."""
    if keep_names:
        known = json.loads((log / "known").read_text())
        for file in root.rglob("*"):
            if file.is_file():
                kept = log / str(known.get(str(file.stat().st_ino)))
                file.write_bytes(kept.read_bytes() if kept.exists() else b"")
        return
    number = int((log / "root").read_text())
    shutil.rmtree(root)
    _restore(root, number, log, folder=True)


def _restore(path: Path, number: int, log: Path, *, folder: bool) -> None:
    kept = log / str(number)
    if not folder:
        path.write_bytes(kept.read_bytes() if kept.exists() else b"")
        return
    path.mkdir()
    for name, (inner, inner_folder) in json.loads(
        kept.read_text() if kept.exists() else "{}"
    ).items():
        _restore(path / name, inner, log, folder=inner_folder)
