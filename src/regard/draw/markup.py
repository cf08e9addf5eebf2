"""Tags and their text, for SVG and HTML: everything that comes from outside is escaped here."""

from html import escape

from regard.draw.clean import clean

_VOID = frozenset({"input", "meta"})
"""HTML's tags without an end."""


def text(words: str) -> str:
    """Make any text safe between tags and inside quoted attributes."""
    return escape(clean(words), quote=True)


def tag(name: str, /, *inside: str, **attributes: str | float | int) -> str:
    """Write a tag. Attributes are escaped; what is inside must be markup already.

    An underscore in an attribute's name stands for a hyphen, one at its end for nothing:
    ``tag("rect", class_="cell", fill_opacity=0.5)``.
    """
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{pairs}>" + ("" if name in _VOID else f"{''.join(inside)}</{name}>")


def _value(value: str | float | int) -> str:
    return text(value) if isinstance(value, str) else f"{value:.5g}"
