"""``regard``: find the verb, open its file, call it, and print any error in two lines.

Exit codes: 0 done, 1 the work failed, 2 the call was wrong, 74 disk, 130 interrupted, 143 stopped
by a signal after saving. Errors go to stderr, also under ``--json``: stdout then stays empty.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from regard import __version__
from regard.cli.renamed import refuse_renamed
from regard.cli.screen import clean, print_text
from regard.cli.verbs import VERBS, add
from regard.errors import FAILING, FULL, DiskError, RegardError

Misuse = typer.BadParameter.__bases__[0]
"""Typer's own exception for a wrong call; it has changed modules, never its place."""

_TRACEBACK = "--traceback"
_BARE = ("--to",)
"""Options that may stand without a value, which then says the same as leaving them out."""
_LISTS = ("--data", "--names", "--report-to", "--seeds")
"""Options that take all words up to the next option."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    texts = given.index("--") if "--" in given else len(given)
    traced = _TRACEBACK in given[:texts]
    words = _drop_bare([word for word in given[:texts] if word != _TRACEBACK])
    rest = [*_several(words), *given[texts:]]
    try:
        refuse_renamed(_verb(words), words)
        done = build(rest)(rest, prog_name="regard", standalone_mode=False)
        sys.stdout.flush()  # here, where a reader who has left can still be forgiven
        return done if isinstance(done, int) else 0
    except Exception as error:
        if traced:
            traceback.print_exc()
        return _print_error(error, traced=traced)
    except KeyboardInterrupt:
        return _report_interrupt()


def build(arguments: Sequence[str]) -> typer.Typer:
    """Return the app with every verb listed and the called one opened."""
    app = typer.Typer(
        name="regard",
        help="Train, measure and inspect models that pay attention to text.",
        epilog="Start with: regard train scenes",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    verb = _verb(arguments)
    for name in VERBS:
        add(app, name, called=name == verb)
    return app


def _version(asked: bool) -> bool:
    if asked:
        print_text(f"regard {__version__}")
        raise typer.Exit
    return asked


def _drop_bare(words: list[str]) -> list[str]:
    """Drop ``--to`` where no value follows it."""
    after = [*words[1:], "-"][: len(words)]
    return [
        word
        for word, following in zip(words, after, strict=True)
        if word not in _BARE or not following.startswith("-")
    ]


def _several(words: Sequence[str]) -> list[str]:
    """Write ``--data a b`` as ``--data a --data b``, which Typer understands."""
    spread, option = [], ""
    for before, word in zip(["", *words], words, strict=False):
        if word.startswith("-"):
            option = word if word in _LISTS else ""
        spread += [option, word] if option and option not in (before, word) else [word]
    return spread


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_version
        ),
    ] = False,
    traced: Annotated[
        bool, typer.Option(_TRACEBACK, help="Show the traceback of an error; may follow any verb.")
    ] = False,
) -> None:
    pass


def _verb(arguments: Sequence[str]) -> str:
    """Return the verb that is called, or that the shell is completing."""
    completing = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS")
    words = completing.split()[1:] if completing else arguments
    return next((word for word in words if not word.startswith("-")), "")


def _print_error(error: Exception, *, traced: bool) -> int:
    """Print an error's two lines to stderr and return the exit code."""
    if isinstance(error, RegardError):
        return _two_lines(error.problem, error.remedy, error.exit_code)
    if isinstance(error, Misuse):
        return _misuse(error)
    if isinstance(error, typer.Abort):
        return _report_interrupt()
    if isinstance(error, BrokenPipeError):
        # Whoever read us has left; Python must not complain of it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    elif isinstance(error, OSError) and (code := _print_os_error(error)):
        return code
    elif isinstance(error, MemoryError):
        smaller = "Make training.batch_tokens or model.width smaller; see `regard doctor`."
        _two_lines("there is not enough memory for this", smaller, 1)
    elif not traced:
        ours = f"Internal error; please report it with the output of {_TRACEBACK}."
        _two_lines(f"regard itself failed: {type(error).__name__}: {error}", ours, 1)
    return 1


def _print_os_error(error: OSError) -> int:
    """Print what the system refused and return the exit code; 0 if it is no fault of the user's."""
    if isinstance(error, PermissionError):
        named = "Name a file or folder that you may read and write."
        return _two_lines(f"permission denied: {error.filename or error}", named, 2)
    if error.errno not in FAILING:
        return 0
    full = error.errno in FULL
    problem = "the disk is full" if full else "the disk refuses to read or write"
    remedy = "Free some space" if full else "Check the disk"
    return _two_lines(
        f"{problem}: {error}",
        f"{remedy} and run it again; training continues with --resume.",
        DiskError.exit_code,
    )


def _misuse(error: Exception) -> int:
    """Print a usage error; a call without arguments gets the help."""
    context = getattr(error, "ctx", None)
    said = error.format_message() if hasattr(error, "format_message") else str(error)
    if type(error).__name__ == "NoArgsIsHelpError":
        sys.stderr.write(f"{said}\n")
        return 2
    path = context.command_path if context else "regard"
    return _two_lines(f"{path}: {said}", f"`{path} --help` shows its options.", 2)


def _two_lines(problem: str, remedy: str, code: int) -> int:
    for line in (f"error: {problem}", remedy):
        sys.stderr.write(clean(line).replace("\n", " ") + "\n")
    return code


def _report_interrupt() -> int:
    sys.stderr.write("interrupted\n")
    return 130
