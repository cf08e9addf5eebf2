"""Options that had another name before 0.1.0; this table goes with 1.0.

A call that uses an old name is refused with the new spelling as the remedy.
"""

from collections.abc import Sequence

from regard.errors import UsageError

_OUTPUT = {"--html": "--output FILE.html"}
RENAMED = {
    "account": _OUTPUT,
    "claims": _OUTPUT,
    "compare": _OUTPUT,
    "evaluate": {"--with": "--ensemble RUN"},
    "explain": {
        **_OUTPUT,
        "--svg": "--output FILE.svg",
        "--png": "--output FILE.png",
        "--reading": "--attribution NAME",
        "--heads": "regard heads RUN",
        "--layer": "--head LAYER.HEAD, such as --head 2.3",
        "--mean": "--head mean, or --head LAYER.mean",
        "--stack": "--head STACK, such as --head encoder",
        "--hide-sink": "--sinks hide",
        "--renormalise": "--sinks renormalise",
    },
    "index": {"--out": "--output FOLDER"},
    "init": {"--out": "--output FILE"},
    "predict": {"--with": "--ensemble RUN"},
    "recipe": {"--out": "--output FILE"},
}
"""By verb: the old option, and what is written now."""


def refuse_renamed(verb: str, words: Sequence[str]) -> None:
    """Refuse a call that uses an option's old name."""
    table = RENAMED.get(verb, {})
    for word in words:
        option = word.partition("=")[0]
        if option in table:
            raise UsageError(
                f"regard {verb} has no option {option}: it was renamed.",
                f"Write {table[option]}.",
            )
