"""A map as pixels: a PNG in a ``data:`` address, for maps with too many cells to draw singly."""

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray


def png_address(shares: NDArray[np.float64], colour: tuple[int, int, int]) -> str:
    """Give one pixel per cell, in one colour, as opaque as its share (0 to 1)."""
    levels = np.clip(np.rint(shares * 255), 0, 255).astype(np.uint8)
    rows, columns = levels.shape
    # Every line of a PNG begins with the number of its filter; 0 is none.
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), levels], axis=1).tobytes()
    eight_bit_palette = struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        [
            _chunk(b"IHDR", eight_bit_palette),
            _chunk(b"PLTE", bytes(colour) * 256),
            _chunk(b"tRNS", bytes(range(256))),
            _chunk(b"IDAT", zlib.compress(lines, 9)),
            _chunk(b"IEND", b""),
        ]
    )
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return (
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
    )
