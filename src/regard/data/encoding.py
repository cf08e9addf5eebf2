"""Text in other encodings than UTF-8, read as UTF-8."""

import codecs
import io
from pathlib import Path

from regard.data.compression import open_bytes, plain_name

UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
UTF_32_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
BINARY = (".po", ".tmx", ".parquet")
"""Endings of formats that state their encoding themselves."""
_CHUNK = 1 << 16
_SAMPLED = 1 << 20


def open_utf8(path: Path, encoding: str) -> io.BufferedIOBase:
    """Open a file as a stream of UTF-8; bytes that are not in ``encoding`` stay as they are."""
    if encoding == "utf-8":
        return open_bytes(path)
    return io.BufferedReader(_Transcoded(open_bytes(path), encoding), _CHUNK)


def detect_encoding(path: Path) -> str:
    """Return the likely encoding of a file: UTF-8 unless its first bytes rule that out."""
    with open_bytes(path) as file:
        start = file.read(_SAMPLED)
    if start.startswith(UTF_16_MARKS) or start.count(0) > len(start) / 4:
        return "utf-16"
    whole = start.splitlines()[: -1 if len(start) == _SAMPLED else None]
    lines = [line for line in whole if not line.isascii()]
    valid = sum(is_encoded(line, "utf-8") for line in lines)
    if valid > len(lines) / 2 or not lines:
        return "utf-8"
    return guess_single_byte(start)


def find_encoding(file: str | Path, expected: str = "utf-8") -> str:
    """Return the encoding of a file that was named by hand: UTF-8 if it is, else as expected."""
    path = Path(file).expanduser()
    if not path.is_file() or plain_name(path).suffix.lower() in BINARY:
        return expected
    try:
        found = detect_encoding(path)
    except OSError:  # reading it reports why
        return expected
    single_bytes = found not in ("utf-8", "utf-16")
    return expected if single_bytes and expected not in ("utf-8", "utf-16") else found


def guess_single_byte(raw: bytes) -> str:
    """Return the encoding of bytes that are not UTF-8: Windows' own, or Latin-1."""
    return "cp1252" if is_encoded(raw, "cp1252") else "latin-1"


def is_encoded(raw: bytes, encoding: str) -> bool:
    """Whether bytes are text in an encoding."""
    try:
        raw.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


class _Transcoded(io.RawIOBase):
    """Decodes a stream and encodes it as UTF-8."""

    def __init__(self, file: io.BufferedIOBase, encoding: str) -> None:
        self._file = file
        # UTF-16 has no single bytes to keep.
        self._errors = "strict" if encoding == "utf-16" else "surrogateescape"
        self._chunk = file.read(_CHUNK)
        if self._chunk.startswith(UTF_32_MARKS):
            raise UnicodeError("this is UTF-32")
        if encoding == "utf-16" and not self._chunk.startswith(UTF_16_MARKS):
            encoding = "utf-16-le"
        self._decoder = codecs.getincrementaldecoder(encoding)(self._errors)
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview | bytearray) -> int:  # type: ignore[override]
        while not self._ready:
            chunk, self._chunk = self._chunk, self._file.read(_CHUNK)
            text = self._decoder.decode(chunk, final=not chunk)
            self._ready = text.encode("utf-8", self._errors)
            if not chunk:
                break
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()
