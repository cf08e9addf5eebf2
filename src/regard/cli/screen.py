"""What is printed: one JSON object for programs, words for people, and nothing that bites."""

import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from regard.draw.clean import clean as clean  # also for the verbs
from regard.draw.clean import escape_hidden

if TYPE_CHECKING:
    from rich.console import Console


def print_json(answer: Mapping[str, Any] | list[Any]) -> None:
    """Print one JSON object, or a list, to stdout; numbers that are none become null.

    Characters that drive a terminal or hide themselves are escaped.
    """
    written = json.dumps(_finite(answer), ensure_ascii=False, allow_nan=False, default=str)
    print_text(escape_hidden(written))


def print_text(text: str, *, to: Any = None) -> None:  # noqa: ANN401 - any open text file
    """Print a line to stdout or elsewhere, whatever its encoding can show of it.

    Names of files may hold escape sequences as well as texts do, so every line is cleaned.
    """
    screen = to or sys.stdout
    encoding = screen.encoding or "utf-8"
    screen.write(f"{clean(text)}\n".encode(encoding, "replace").decode(encoding))


def print_rows(rows: Iterable[tuple[str, str]]) -> None:
    """Print names and what they are, in two columns."""
    pairs = [(clean(name), clean(value)) for name, value in rows]
    width = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        print_text(fold(f"{name:<{width}}  {value}".rstrip(), indent=width + 2))


def fold(text: str, *, indent: int, to: Any = None) -> str:  # noqa: ANN401 - any open text file
    """Break a line between words where it goes to a terminal; elsewhere lines stay whole."""
    columns = shutil.get_terminal_size().columns
    if len(text) <= columns or columns < 2 * indent or not (to or sys.stdout).isatty():
        return text
    head, rest = text[:indent], text[indent:]
    lines = textwrap.wrap(rest, columns - indent, break_long_words=False, break_on_hyphens=False)
    return head + f"\n{' ' * indent}".join(lines)


def console(*, to_stderr: bool = False) -> "Console":
    """Return a rich console that honours NO_COLOR and FORCE_COLOR and takes no markup from text."""
    from rich.console import Console

    return Console(stderr=to_stderr, markup=False, highlight=False, emoji=False)


def _finite(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can hold
    match value:
        case float():
            return value if value - value == 0 else None
        case Mapping():
            return {str(key): _finite(part) for key, part in value.items()}
        case list() | tuple():
            return [_finite(part) for part in value]
        case _:
            return value
