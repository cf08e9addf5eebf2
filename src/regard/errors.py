"""The only exceptions for users. Each states the rule, the values and the remedy.

The command line prints two lines: ``problem`` says which rule was broken by which values,
``remedy`` what to do about it. ``exit_code`` is the exit status.
"""

import errno

FULL = (errno.ENOSPC, errno.EDQUOT)
"""Error numbers of a full disk or an exceeded quota."""

FAILING = (*FULL, errno.EIO, errno.EROFS, errno.EFBIG, errno.ENXIO, errno.ESTALE)
"""Error numbers of a disk that is full, failing, or mounted read-only."""


class RegardError(Exception):
    """An error that the user can correct.

    Args:
        problem: The rule and the values that break it, with file and line where there is one.
        remedy: What to do about it.

    """

    exit_code = 1

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}\n{remedy}")
        self.problem, self.remedy = problem, remedy


class UsageError(RegardError):
    """The call was wrong: a missing file, a folder that exists, a value that makes no sense."""

    exit_code = 2


class RecipeError(UsageError):
    """The recipe was wrong: a misspelt key, a contradiction, a value out of range."""


class DataError(RegardError):
    """The data was wrong: a bad line, an empty file, sides that do not match."""


class RunError(RegardError):
    """A run folder cannot be used: incomplete, corrupt, or with files of another run."""


class TrainingError(RegardError):
    """Training cannot continue: a loss that is NaN or infinite, examples that do not fit."""


class DiskError(RegardError):
    """The disk is full or failing; what was saved before is intact."""

    exit_code = 74


def make_disk_error(error: OSError, what: str) -> DiskError:
    """Return the error for a disk that refused to write, and say that nothing older was lost."""
    full = error.errno in FULL
    named = f" ({error.filename})" if error.filename else ""
    return DiskError(
        f"{what} could not be written: {error.strerror or error}{named}.",
        ("Free some space" if full else "Check the disk and the permissions")
        + "; then go on with --resume. The checkpoints written before are intact.",
    )


class Stopped(RegardError):
    """A signal ended the training; its work was saved first."""

    exit_code = 143
