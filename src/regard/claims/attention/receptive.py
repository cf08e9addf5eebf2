"""What a node at level n has seen when every look is an argmax (D2 e)."""

import torch
from torch import Tensor, nn

from regard.claims.claim import Figure, Measured, claim
from regard.claims.precision import exact, find_dependencies
from regard.claims.table import draw_curves, tabulate
from regard.layers.attention import Attention, Equation, Place, argmax, scaled_dot
from regard.layers.block import Residual
from regard.models.body import all_visible

LEVELS = (1, 2, 3, 4)
TEXTS = {1: 27, 2: 243, 4: 729}
"""How long the text is, by heads: longer than any field."""


class Pointing(nn.Module):
    """Scores that make head j of every query look at one place: a bias, as positions have one.

    Args:
        targets: Where each head of each query looks.

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
    reading="Level 0 is the input; a course that calls the input level 1 writes n - 1. One head is "
    "a chain of pointers and never sees more than one input. The count cannot exceed the text.",
    then="See argmax-field-residual for the blocks that are really used.",
)
def argmax_field() -> Measured:
    """Stack argmax attention whose heads point to chosen places, and take the Jacobian of a node.

    Head j of level l looks j·(k+1)^(l-1) places ahead, so that no two paths meet; up to 729
    positions. Counted are the inputs with a derivative that is not zero.
    """
    return _fields("k^n", residual=False)


@claim(
    numbers=(12,),
    source="D2 e; He et al. 2016",
    statement="With a residual a node also keeps itself: 2^n inputs for one head, 3^n for two, "
    "(k+1)^n for k.",
    layer="layers/block.py",
    reading="The caps are reached because no two paths meet. Random pointers meet now and then and "
    "give a little less.",
    then="Make it causal: the count is then capped by the node's own place.",
)
def argmax_field_residual() -> Measured:
    """Do the same with a residual round every layer, so that a node also keeps itself."""
    return _fields("(k+1)^n", residual=True)


@exact()
def _fields(rule: str, *, residual: bool) -> Measured:
    figures: list[Figure] = []
    fields = {}
    for heads, text in TEXTS.items():
        name = f"{heads} head" + "s" * (heads > 1)
        fields[name] = _felt(heads, residual=residual)
        found = dict(zip(LEVELS, fields[name], strict=True))
        wanted = {level: min((heads + residual) ** level, text) for level in LEVELS}
        figures += tabulate(f"{name}, level {{}}", found, equal=wanted)
    if residual:
        note = "a mean of 3 draws of pointers; the inventory had one draw"
        chance = sum(_felt(4, residual=True, chance=True)[-1] for _ in range(3)) / 3
        figures.append(
            Figure("4 heads, level 4, random pointers", chance, given=398, within=0.05, note=note)
        )
    top = "/".join(str(found[-1]) for found in fields.values())
    return Measured(
        f"{rule}: {top} inputs at level 4 with 1/2/4 heads",
        tuple(figures),
        draw_curves(f"Inputs a node feels: {rule}", "level", LEVELS, fields),
    )


def _felt(heads: int, *, residual: bool, chance: bool = False) -> list[int]:
    """Count, level by level, the inputs whose values reach node 0."""
    text = TEXTS[heads]
    states = torch.randn(1, text, 4, requires_grad=True)
    reached, counts = states, []
    for level in range(len(LEVELS)):
        ahead = torch.arange(1, heads + 1)[:, None] * (heads + 1) ** level
        targets = (torch.arange(text) + ahead) % text
        if chance:
            targets = torch.randint(text, (heads, text))
        layer = _pointing_layer(heads, targets, residual=residual)
        reached = layer(reached, visible=all_visible(text))
        counts.append(len(find_dependencies(reached[0, 0].sum(), states)))
    return counts


def _pointing_layer(heads: int, targets: Tensor, *, residual: bool) -> nn.Module:
    def only_by_values(query: Tensor, key: Tensor) -> Tensor:
        """Answer without a gradient: an argmax has none almost everywhere."""
        return scaled_dot(query.detach(), key.detach())

    layer = Attention(
        4, heads, equation=Equation(only_by_values, argmax), place=Place(bias=Pointing(targets))
    )
    nn.init.zeros_(layer.to_query.weight)
    return Residual(layer, nn.Identity()) if residual else layer


@claim(
    numbers=(12,),
    source="D2 e",
    statement="A node of argmax attention depends only on the inputs in its receptive field.",
    layer="layers/attention.py",
    reading="The Jacobian feels one input. Yet any input, changed far enough, can become the one "
    "that is looked at: the function depends on all of them.",
    then="Repeat with softmax: there the Jacobian feels all inputs as well.",
    right="Only the gradient's support is that small; the function depends on every input from "
    "level 1 on.",
)
@exact()
def argmax_depends_on_one() -> Measured:
    """Change one input at a time by 20 random vectors, and see whether a level-1 node changes.

    One argmax layer of one head with its own queries and keys, 61 positions, node 0; beside it the
    inputs its Jacobian feels.
    """
    positions = 61
    layer = Attention(8, 1, equation=Equation(scaled_dot, argmax))
    states = torch.randn(1, positions, 8)
    seen = all_visible(positions)
    before = layer(states, visible=seen)[0, 0]
    moved = 0
    for place in range(positions):
        others = states.repeat(20, 1, 1)
        others[:, place] = 5 * torch.randn(20, 8)
        after = layer(others, visible=seen)[:, 0]
        moved += bool((after - before).abs().amax() > 1e-9)
    return Measured(
        f"{moved} of {positions} inputs can change the node; its Jacobian feels 1",
        (
            Figure("inputs that can change it", moved, moved == 1),
            Figure("inputs its values come from", 1),
            Figure("inputs there are", positions),
        ),
    )
