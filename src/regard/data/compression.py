"""Files as byte streams: plain, ``.gz`` or ``.zst``; damaged files raise."""

import gzip
import io
import stat
import zlib
from pathlib import Path

import zstandard

BROKEN = (gzip.BadGzipFile, zlib.error, zstandard.ZstdError, EOFError)
"""Exceptions that a damaged or truncated compressed file raises."""

_ENDINGS = (".gz", ".zst")
_CHUNK = 1 << 14
_FED = 512
"""Compressed bytes given to Zstandard at once; they become at most 16 MB (128 KB from 4 bytes)."""


class NotAFile(OSError):
    """A device, a pipe or a socket: reading it may never end."""


def check_is_file(path: Path) -> None:
    """Refuse what is neither a file nor a folder, before it is opened."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise NotAFile(f"{path} is a device, a pipe or a socket")


def open_bytes(path: Path) -> io.BufferedIOBase:
    """Open a file for reading; compressed files are decompressed on the fly."""
    check_is_file(path)
    if path.suffix == ".gz":
        return gzip.GzipFile(path, "rb")
    if path.suffix == ".zst":
        return io.BufferedReader(_Zstandard(path), 1 << 16)
    return path.open("rb")


def plain_name(path: Path) -> Path:
    """Drop the ending of a compression format."""
    return path.with_suffix("") if path.suffix in _ENDINGS else path


class _Zstandard(io.RawIOBase):
    """Reads consecutive Zstandard frames; unlike the library's reader, it detects truncation."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._begun = False
        self._waiting = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview | bytearray) -> int:  # type: ignore[override]
        while not self._ready:
            self._waiting = self._waiting or self._file.read(_CHUNK)
            if not self._waiting:
                if self._begun:
                    raise EOFError("the file ends before its last frame does")
                return 0
            fed, self._waiting = self._waiting[:_FED], self._waiting[_FED:]
            self._ready = memoryview(self._decompress(fed))
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _decompress(self, chunk: bytes) -> bytes:
        parts = []
        while chunk:
            self._begun = True
            parts.append(self._frame.decompress(chunk))
            chunk = b""
            if self._frame.eof:
                chunk = self._frame.unused_data
                self._frame = zstandard.ZstdDecompressor().decompressobj()
                self._begun = False
        return b"".join(parts)

    def close(self) -> None:
        self._file.close()
        super().close()
