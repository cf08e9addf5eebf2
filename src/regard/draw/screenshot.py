"""A picture of a terminal, as SVG: what a README shows of what a command prints."""

import inspect
import io
import re
from collections.abc import Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from regard.draw.clean import clean

# rich's template fetches its font from a CDN; ours loads nothing and takes the reader's own.
_RICHS_OWN = inspect.signature(Console.export_svg).parameters["code_format"].default
_TEMPLATE = re.sub(r"@font-face\s*\{\{.*?\}\}", "", _RICHS_OWN, flags=re.DOTALL)


def terminal_svg(shown: Sequence[RenderableType | str], *, title: str, width: int = 96) -> str:
    """Draw what a terminal would show; a string may hold the colours a command printed."""
    console = Console(
        record=True,
        width=width,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    for one in shown:
        console.print(Text.from_ansi(one) if isinstance(one, str) else one)
    return console.export_svg(title=clean(title), code_format=_TEMPLATE, unique_id="regard")
