"""Words from anywhere, made safe to show: what is printed never moves the cursor or lies.

Control characters can drive a terminal, bidirectional overrides can show one text and mean another,
and some code points are not allowed in XML at all. They are dropped everywhere.
"""

import json
import re

_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and line break
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional marks and overrides
    "\u00ad\u2028\u2029\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # invisible
    "\ud800-\udfff\ufdd0-\ufdef"  # halves of characters, and no characters
    + "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
    + "]"
)


def clean(text: str) -> str:
    """Remove control characters except line breaks and tabs."""
    return _HIDDEN.sub("", text)


def escape_hidden(written: str) -> str:
    """Write the same characters in JSON as escapes; line breaks and tabs are escaped already."""
    return _HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], written)
