"""Keep freed pages: large buffers that come and go each step need not be zeroed by the kernel anew.

glibc gives every large buffer back to the system and takes fresh, zeroed pages for the next one.
Told not to, a training step on a processor is 6 to 17% faster. Nothing happens where the C library
is another one.
"""

import ctypes
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of glibc's mallopt
MOST_KEPT, LARGEST_KEPT = 2**31 - 1, 2**30


def configure_malloc() -> bool:
    """Ask the C library to keep what is freed; say whether it agreed."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(TRIM_THRESHOLD, MOST_KEPT) and mallopt(MMAP_THRESHOLD, LARGEST_KEPT))
