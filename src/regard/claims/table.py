"""Tables of figures: one quantity at several settings, given as a mapping of settings to values.

    tabulate("loss, {}", {"rotary": 1.9, "none": 2.1})        Figure("loss, rotary", 1.9), ...
    list_values("{} {:.2f}", {"rotary": 1.9, "none": 2.1})    "rotary 1.90, none 2.10"

A setting of several parts is a tuple and fills as many placeholders.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

from torch import Tensor

from regard.claims.claim import Curves, Figure, Number
from regard.draw.chart import Curve
from regard.draw.picture import Picture

Setting = TypeVar("Setting", bound=Hashable)


def tabulate(
    name: str,
    values: Mapping[Setting, Number],
    supports: Callable[[Number], bool] | Mapping[Setting, bool | None] | None = None,
    *,
    equal: Mapping[Setting, Number] | None = None,
    given: Mapping[Setting, Number] | None = None,
    within: float = 1e-9,
) -> tuple[Figure, ...]:
    """Give one figure per setting, named by the template ``name``.

    A value supports the statement if ``supports`` says so, or if it equals the value in ``equal``.
    """
    given = equal or given or {}
    if equal is not None:
        supports = {setting: value == equal[setting] for setting, value in values.items()}
    elif callable(supports):
        supports = {setting: supports(value) for setting, value in values.items()}
    votes = supports or {}
    return tuple(
        Figure(name.format(*_parts(one)), value, votes.get(one), given.get(one), within)
        for one, value in values.items()
    )


def list_values(form: str, values: Mapping[Setting, Number], between: str = ", ") -> str:
    """Format settings and values in one line."""
    return between.join(form.format(*_parts(one), value) for one, value in values.items())


def draw_curves(
    title: str, x_label: str, xs: Sequence[Number], lines: Mapping[str, Sequence[Number]]
) -> Curves:
    """Plot several lines over the same x values."""
    return Curves(title, x_label, tuple(Curve(name, xs, ys) for name, ys in lines.items()))


def draw_matrix(weights: Tensor, title: str, *, first: int = 0) -> Picture:
    """Draw a matrix with numbered rows and columns."""
    rows, columns = ([str(first + n) for n in range(size)] for size in weights.shape)
    return Picture(rows, columns, weights.tolist(), title)


def _parts(setting: Hashable) -> tuple[Hashable, ...]:
    return setting if isinstance(setting, tuple) else (setting,)
