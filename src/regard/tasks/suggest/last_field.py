"""What the last field of labelled examples holds: one label, several labels or a score."""

from collections.abc import Collection
from typing import Any

import numpy as np

from regard.tasks.suggest.survey import SEPARATOR

FEW = 20  # distinct numbers up to which they may be labels
SEPARATORS = (SEPARATOR, ";", ",")

Found = tuple[dict[str, Any], dict[str, str]]
"""Settings of [data], and their reasons."""


def detect_last_field(different: Collection[str]) -> Found:
    """Detect it by the ``different`` values there are; an empty one is an empty list of labels."""
    if len(different) > FEW and all(map(_is_number, different)):
        return {"scores": True}, {
            "data.scores": f"the last field holds {len(different):,} distinct numbers."
        }
    for separator in SEPARATORS:
        if _is_listed(different, separator):
            some = "some texts have several labels"
            return {"label_separator": separator}, {
                "data.label_separator": f"{some}, such as {_find_longest(different, separator)!r}."
            }
    if "" in different:
        return {"label_separator": SEPARATOR}, {"data.label_separator": "some texts have no label."}
    return {}, {}


def _is_listed(different: Collection[str], separator: str) -> bool:
    """Whether a separator stands between labels.

    What it separates also occurs in other combinations. A comma may belong to a label as well:
    half of what it separates must occur alone.
    """
    parts = {part.strip() for one in different for part in one.split(separator)}
    if not any(separator in one for one in different):
        return False
    alone = len(parts.intersection(different))
    if separator != SEPARATOR:
        return len(parts) < len(different) and 2 * alone >= len(parts)
    return len(parts) < len(different) or any(one in parts for one in different)


def _find_longest(different: Collection[str], separator: str) -> str:
    return max(sorted(different), key=lambda one: one.count(separator))


def _is_number(text: str) -> bool:
    try:
        return np.isfinite(float(text.replace(",", ".", 1))).item()
    except ValueError:
        return False
