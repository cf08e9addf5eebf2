"""Weights made small enough for one page: the highest weights of every row, packed.

    code = round(√weight · 65535), of which large stacks keep the upper byte
    place = the column, as a step from the one before it in the row

Planes of bytes (upper codes, lower codes, upper and lower places) are deflated and written in
base64. Where every column is kept, no places are written. What is left out is said in words.
"""

import base64
import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_BYTES = 2_400_000
"""Of all packed weights of a page, so that the page stays below 3 MB."""
MOST_EXACT = 300_000
"""Weights up to which every one is kept, in two bytes each."""
MOST_KEPT = 800_000


class Packed(NamedTuple):
    """Weights of one stack as a page carries them."""

    data: str
    kept: int
    """Weights kept of each row; all, if as many as columns."""
    share: float
    """How much of all weight these hold."""
    full: int
    """The code of a weight of one."""


def pack_all(stacks: list[NDArray[np.floating]]) -> list[Packed]:
    """Pack the weights of several stacks (layer, head, row, column) within a page's budget."""
    cells = sum(one.size for one in stacks)
    rows = sum(one[..., 0].size for one in stacks)
    widest = max((one.shape[-1] for one in stacks), default=1)
    exact = cells <= MOST_EXACT
    kept = widest if exact else max(1, MOST_KEPT // max(1, rows))
    while True:
        packed = [pack(one, kept, exact=exact) for one in stacks]
        size = sum(len(one.data) for one in packed)
        if size <= MOST_BYTES or kept == 1:
            return packed
        kept = max(1, int(min(kept - 1, kept * MOST_BYTES / size)))


def pack(weights: NDArray[np.floating], most: int, *, exact: bool) -> Packed:
    """Pack one stack, at most ``most`` weights of each row."""
    columns = weights.shape[-1]
    kept = min(most, columns)
    flat = weights.reshape(-1, columns)
    places = np.broadcast_to(np.arange(columns), flat.shape)
    if kept < columns:
        places = np.sort(np.argpartition(flat, -kept, axis=1)[:, -kept:], axis=1)
    chosen = np.take_along_axis(flat, places, axis=1)
    roots = np.sqrt(np.clip(chosen, 0.0, 1.0))
    full = 65535 if exact else 255 * 256
    codes = np.rint(roots * 65535) if exact else np.rint(roots * 255) * 256
    codes = codes.astype(np.uint16).ravel()
    planes = [codes >> 8, codes & 255]
    if kept < columns:
        steps = np.diff(places, axis=1, prepend=0).astype(np.uint16).ravel()
        planes += [steps >> 8, steps & 255]
    raw = b"".join(plane.astype(np.uint8).tobytes() for plane in planes)
    data = base64.b64encode(zlib.compress(raw, 9)).decode("ascii")
    total = float(flat.sum())
    return Packed(data, kept, float(chosen.sum()) / total if total else 1.0, full)
