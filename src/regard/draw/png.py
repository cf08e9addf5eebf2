"""A map as a PNG, for where an SVG cannot go: needs the extra ``png``.

The SVG is drawn by resvg, which needs no system library; it knows no style variables, so the
colours of light paper are written out first.
"""

import re

from regard.draw.picture import Picture
from regard.draw.svg import svg_map
from regard.errors import UsageError

_VARIABLE = re.compile(r"var\((--regard-[a-z]+)\)")
_SET = re.compile(r"(--regard-[a-z]+):(#[0-9a-f]+)")
_SCALE = 2  # pixels for each unit of the SVG


def png_map(picture: Picture) -> bytes:
    """Draw a map as the bytes of a PNG file, on white."""
    try:
        import resvg_py
    except ImportError:
        raise UsageError(
            "a PNG needs the extra png, which is not installed.",
            "Install it with `pip install 'regard[png]'`, or write an SVG: --output FILE.svg.",
        ) from None
    return bytes(
        resvg_py.svg_to_bytes(svg_string=plain_svg(picture), background="white", zoom=_SCALE)
    )


def plain_svg(picture: Picture) -> str:
    """Draw a map as an SVG without style variables and without a dark face."""
    drawn = svg_map(picture)
    drawn = drawn.replace(drawn[drawn.index("@media") : drawn.index("</style>")], "")
    colours = dict(_SET.findall(drawn))
    return _VARIABLE.sub(lambda found: colours[found[1]], drawn)
