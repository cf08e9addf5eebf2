"""The verbs, each in a line. A verb's file is opened only when the verb is called.

A file ``cli/<verb>.py`` holds a function ``<verb>`` typed for typer, or, where a verb has verbs of
its own, a typer app named ``app``. A verb that is a word of Python's own ends in ``_`` there. Its
docstring is its help; indented paragraphs, such as examples, keep their lines.
"""

import inspect
import keyword
from collections.abc import Callable
from importlib import import_module
from typing import Any

import typer

Verb = Callable[..., Any]

VERBS = {
    "init": "Inspect your data and write a complete recipe for it.",
    "check": "Check a recipe and its data before any compute.",
    "train": "Train the model a recipe describes.",
    "tune": "Search for better settings of a recipe within a duration.",
    "evaluate": "Measure a trained model.",
    "compare": "Compare runs, seeds grouped, with significance tests.",
    "predict": "Answer texts: translate, label, summarize, continue.",
    "serve": "Serve runs and indexes over HTTP.",
    "studio": "Show runs in a browser: curves, answers, explanations.",
    "index": "Index a corpus for search.",
    "search": "Find the documents that answer a query.",
    "export": "Write a run in another library's format and verify it.",
    "import": "Import a model saved by Hugging Face transformers.",
    "explain": "Attribute an answer to words; show every attention head.",
    "heads": "Analyse attention heads: roles, importance, pruning.",
    "account": "Estimate what a recipe or a run costs.",
    "claims": "Test the papers' statements by measurement.",
    "recipe": "List, show and explain recipes; print their JSON schema.",
    "doctor": "Show what this machine offers and how to speed it up.",
}


def home(verb: str) -> Any:  # noqa: ANN401 - a function or a typer app
    """Open the file of a verb and return its function or its app."""
    name = name_of(verb)
    module = import_module(f"regard.cli.{name}")
    return getattr(module, "app", None) or getattr(module, name)


def name_of(verb: str) -> str:
    """Return what the file and the function of a verb are called."""
    return f"{verb}_" if keyword.iskeyword(verb) else verb


def help_of(verb: Verb) -> str:
    r"""Return a docstring as help; ``\b`` keeps the lines of an indented paragraph apart."""
    paragraphs = (inspect.getdoc(verb) or "").split("\n\n")
    return "\n\n".join(f"\b\n{text}" if "\n " in text else text for text in paragraphs)


def add(app: typer.Typer, verb: str, *, called: bool) -> None:
    """Give the app a verb: the real one when it is called, otherwise its line in the help."""
    if not called:
        app.command(verb, help=VERBS[verb])(_stand_in)
        return
    found = home(verb)
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=verb, help=found.info.help or VERBS[verb], no_args_is_help=True)
    else:
        put(app, verb, found, needy=verb not in ("claims", "doctor", "studio"))


def put(app: typer.Typer, name: str, verb: Verb, *, needy: bool = False) -> None:
    """Give an app a verb; a needy one answers a call without arguments with its help."""
    app.command(name, help=help_of(verb), no_args_is_help=needy)(verb)


def _stand_in() -> None:
    """Stand in for a verb that is listed, not called."""
