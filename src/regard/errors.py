"""The only exceptions a user meets. Each states the rule, the values and the remedy.

A face (the terminal, the server, the studio) turns one into two lines: ``problem`` says which rule
was broken by which values, ``remedy`` what to do about it. ``exit_code`` is what the shell gets.
"""

import errno

FULL = (errno.ENOSPC, errno.EDQUOT)
"""How the system says that there is no space left."""


class RegardError(Exception):
    """Something a person can put right.

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
    """A run folder cannot be used: incomplete, corrupt, or made of parts that do not belong."""


class TrainingError(RegardError):
    """Training cannot go on: a loss that is no number, examples that do not fit."""


class DiskError(RegardError):
    """The disk is full or failing; what was saved before is intact."""

    exit_code = 74


class Stopped(RegardError):
    """A signal asked us to stop, and the work was saved first."""

    exit_code = 143
