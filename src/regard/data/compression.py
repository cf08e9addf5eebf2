"""Files as byte streams: plain, ``.gz`` or ``.zst``; damaged files raise."""

import gzip
import io
import zlib
from pathlib import Path

import zstandard

BROKEN = (gzip.BadGzipFile, zlib.error, zstandard.ZstdError, EOFError)
"""Exceptions that a damaged or truncated compressed file raises."""

_ENDINGS = (".gz", ".zst")
_CHUNK = 1 << 14


def open_bytes(path: Path) -> io.BufferedIOBase:
    """Open a file for reading; compressed files are decompressed on the fly."""
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
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview | bytearray) -> int:  # type: ignore[override]
        while not self._ready:
            chunk = self._file.read(_CHUNK)
            if not chunk:
                if self._begun:
                    raise EOFError("the file ends before its last frame does")
                return 0
            self._ready = memoryview(self._decompress(chunk))
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
