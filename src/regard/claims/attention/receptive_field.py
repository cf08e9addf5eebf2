"""Receptive fields of argmax attention (D2 e)."""

import torch
from torch import Tensor, nn

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.precision import exact, find_dependencies
from regard.claims.table import draw_curves, tabulate
from regard.layers.attention import Attention, Equation, PositionScheme, argmax, scaled_dot
from regard.layers.block import Residual
from regard.models.body import all_visible

LEVELS = (1, 2, 3, 4)
TEXTS = {1: 27, 2: 243, 4: 729}
"""Length of the text by number of heads: longer than any receptive field."""


class Pointing(nn.Module):
    """A position bias that makes each head of every query attend to one position.

    Args:
        targets: The position each head of each query attends to.

    """

    def __init__(self, targets: Tensor) -> None:
        super().__init__()
        self.targets = targets

    def forward(self, queries: int, keys: int) -> Tensor:
        return nn.functional.one_hot(self.targets, keys)[None].to(torch.float64)


@claim(
    numbers=(12,),
    source="D2 e",
    statement="With k heads of argmax attention a node at level n has k^n inputs in its receptive "
    "field: one for one head, 2^n for two.",
    layer="layers/attention.py",
    meaning="Level 0 is the input; a course that calls the input level 1 writes n - 1. One head "
    "is a chain of pointers and never reaches more than one input. The count cannot exceed the "
    "length of the text.",
    next_step="See argmax-field-residual for blocks as they are used in practice.",
)
def argmax_field() -> Measurement:
    """Stack argmax attention whose heads point to chosen positions; take the Jacobian of a node.

    Head j of level l points j·(k+1)^(l-1) positions ahead, so that no two paths meet; up to 729
    positions. Inputs with a nonzero derivative are counted.
    """
    return _measure_fields("k^n", residual=False)


@claim(
    numbers=(12,),
    source="D2 e; He et al. 2016",
    statement="With a residual connection a node also keeps itself: 2^n inputs for one head, 3^n "
    "for two, (k+1)^n for k.",
    layer="layers/block.py",
    meaning="The bound is reached because no two paths meet. Random pointers sometimes meet and "
    "give a little less.",
    next_step="Make it causal: the count is then bounded by the node's own position.",
)
def argmax_field_residual() -> Measurement:
    """Repeat argmax-field with a residual connection around every layer."""
    return _measure_fields("(k+1)^n", residual=True)


@exact()
def _measure_fields(rule: str, *, residual: bool) -> Measurement:
    figures: list[Figure] = []
    fields = {}
    for heads, text in TEXTS.items():
        name = f"{heads} head" + "s" * (heads > 1)
        fields[name] = _count_inputs(heads, residual=residual)
        found = dict(zip(LEVELS, fields[name], strict=True))
        wanted = {level: min((heads + residual) ** level, text) for level in LEVELS}
        figures += tabulate(f"{name}, level {{}}", found, equal=wanted)
    if residual:
        note = "a mean of 3 draws of pointers; the inventory had one draw"
        chance = sum(_count_inputs(4, residual=True, chance=True)[-1] for _ in range(3)) / 3
        figures.append(
            Figure("4 heads, level 4, random pointers", chance, given=398, within=0.05, note=note)
        )
    top = "/".join(str(found[-1]) for found in fields.values())
    return Measurement(
        f"{rule}: {top} inputs at level 4 with 1/2/4 heads",
        tuple(figures),
        draw_curves(f"Receptive field of a node: {rule}", "level", LEVELS, fields),
    )


def _count_inputs(heads: int, *, residual: bool, chance: bool = False) -> list[int]:
    """Count, level by level, the inputs that node 0 depends on."""
    text = TEXTS[heads]
    states = torch.randn(1, text, 4, requires_grad=True)
    reached, counts = states, []
    for level in range(len(LEVELS)):
        ahead = torch.arange(1, heads + 1)[:, None] * (heads + 1) ** level
        targets = (torch.arange(text) + ahead) % text
        if chance:
            targets = torch.randint(text, (heads, text))
        layer = _make_pointing_layer(heads, targets, residual=residual)
        reached = layer(reached, visible=all_visible(text))
        counts.append(len(find_dependencies(reached[0, 0].sum(), states)))
    return counts


def _make_pointing_layer(heads: int, targets: Tensor, *, residual: bool) -> nn.Module:
    def score_detached(query: Tensor, key: Tensor) -> Tensor:
        """Score without a gradient: an argmax has none almost everywhere."""
        return scaled_dot(query.detach(), key.detach())

    layer = Attention(
        4,
        heads,
        equation=Equation(score_detached, argmax),
        place=PositionScheme(bias=Pointing(targets)),
    )
    nn.init.zeros_(layer.to_query.weight)
    return Residual(layer, nn.Identity()) if residual else layer


@claim(
    numbers=(12,),
    source="D2 e",
    statement="A node of argmax attention depends only on the inputs in its receptive field.",
    layer="layers/attention.py",
    meaning="The Jacobian has one nonzero input. Yet any input, changed enough, can become the "
    "argmax: the function depends on all of them.",
    next_step="Repeat with softmax: there the Jacobian is nonzero for all inputs as well.",
    correction="Only the support of the gradient is that small; the function depends on every "
    "input from level 1 on.",
)
@exact()
def argmax_depends_on_one() -> Measurement:
    """Replace one input at a time by 20 random vectors and test whether a level-1 node changes.

    One argmax layer of one head with random queries and keys, 61 positions, node 0; compared with
    the inputs that its Jacobian depends on.
    """
    positions = 61
    layer = Attention(8, 1, equation=Equation(scaled_dot, argmax))
    states = torch.randn(1, positions, 8)
    seen = all_visible(positions)
    before = layer(states, visible=seen)[0, 0]
    moved = 0
    for position in range(positions):
        others = states.repeat(20, 1, 1)
        others[:, position] = 5 * torch.randn(20, 8)
        after = layer(others, visible=seen)[:, 0]
        moved += bool((after - before).abs().amax() > 1e-9)
    return Measurement(
        f"{moved} of {positions} inputs can change the node; its Jacobian has 1",
        (
            Figure("inputs that can change it", moved, moved == 1),
            Figure("inputs with a nonzero derivative", 1),
            Figure("inputs in all", positions),
        ),
    )
