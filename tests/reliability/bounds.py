"""Bounds on a piece of work: it ends within some seconds and some megabytes, or the test fails.

    ended = within(work, seconds=5, megabytes=500)

The work runs in a forked process whose address space may grow by so much, and no more. Its seconds
are those of the processor, so that a busy machine fails no test; work that only waits, as for a FIFO,
is ended after six times as long. An error that the program means for its user is not a failure.
"""

import gc
import os
import resource
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from regard.errors import RegardError

OURS = -1
"""The code of work that ended with an error for the user."""


class Ended(NamedTuple):
    """How the work ended."""

    code: int
    """0 where it returned, OURS after an error for the user, 1 after any other; -N by signal N."""
    said: str
    """What was wrong and what to do about it; a traceback after any other exception."""


def within(work: Callable[[], object], *, seconds: int = 5, megabytes: int = 500) -> Ended:
    """Do the work in a process of its own, within these bounds."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a fork of a process with threads
            child = os.fork()
        if not child:
            _work(work, said, seconds, megabytes)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        return Ended(OURS if code == 77 else code, said.read())


def _work(work: Callable[[], object], said: object, seconds: int, megabytes: int) -> None:
    code = 1
    try:
        gc.freeze()
        for number in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(6 * seconds)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + megabytes * 1_000_000
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        work()
        code = 0
    except RegardError as error:
        said.write(f"{error.problem}\n{error.remedy}")
        code = 77
    except BaseException as error:
        said.write("".join(traceback.format_exception(error)))
    finally:
        said.flush()
        os._exit(code)
