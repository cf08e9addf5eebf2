"""What the background process runs; torch is loaded there, never in the studio's own process."""

import os
import signal
from typing import Any

from regard.errors import RegardError

NICENESS = 5  # so that pages are answered while every core computes


def prepare() -> None:
    """Leave signals to the studio, and the cores to whoever answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)


def call(name: str, given: tuple[Any, ...]) -> tuple[Any, str]:
    """Call a function of the analysis; return what it found, or why it refuses."""
    from regard.studio import analysis, teaching

    try:
        return (analysis.FUNCTIONS | teaching.FUNCTIONS)[name](*given), ""
    except RegardError as error:
        return None, f"{error.problem} {error.remedy}"
