"""Cross-attention and self-attention (D0 Q1, D4 Q3)."""

import torch

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.precision import difference, exact
from regard.layers.attention import Attention
from regard.layers.memory import Memory
from regard.layers.tap import listen
from regard.models.body import all_visible

SOURCE, TARGET, WIDTH, HEADS = 11, 7, 24, 3


@claim(
    numbers=(1,),
    source="D0 Q1, D4 Q3; Vaswani et al. 2017, §3.2",
    statement="Attention from y to x takes queries from y, keys and values from x; self-attention "
    "is y = x.",
    layer="layers/attention.py",
    meaning="There are as many output states as queries. A difference of exactly 0 means that "
    "self-attention is not another layer but the same call.",
    next_step="Give x another length, or rotate queries and keys (PositionScheme(Rotary(8))).",
)
@exact()
def cross_attention() -> Measurement:
    """Attend with one layer from y to x, and from x to x given as explicit context.

    Outputs are compared bit for bit, by the equation and by the fused kernel.
    """
    layer = Attention(WIDTH, HEADS)
    x, y = torch.randn(1, SOURCE, WIDTH), torch.randn(1, TARGET, WIDTH)
    seen = all_visible(SOURCE)
    across = layer(y, x, visible=seen)
    gaps = [difference(layer(x, x, visible=seen), layer(x, visible=seen))]
    with listen(layer, "weights"):
        gaps.append(difference(layer(x, x, visible=seen), layer(x, visible=seen)))
    length, gap = across.shape[1], max(gaps)
    return Measurement(
        f"{TARGET} queries give {length} states; y = x differs from self-attention by {gap:g}",
        (
            Figure("output states for y", length, length == TARGET, given=TARGET),
            Figure("largest difference at y = x", gap, gap == 0.0, given=0.0),
        ),
    )


@claim(
    numbers=(10,),
    source="D4 Q3; Vaswani et al. 2017, §3.2.3",
    statement="In encoder-decoder attention keys and values come from the encoder, so they are "
    "the same at every decoding step.",
    layer="layers/attention.py",
    meaning="Keys are computed once for all steps; outputs differ by rounding only.",
    next_step="Count the same for self-attention, which computes one new key per step.",
)
@exact()
def context_kept_once() -> Measurement:
    """Run a decoder's cross-attention over one source for 7 steps.

    A hook counts the calls of the key projection; outputs are compared with those of a layer that
    recomputes keys and values at every step.
    """
    layer = Attention(WIDTH, HEADS)
    x, y = torch.randn(1, SOURCE, WIDTH), torch.randn(1, TARGET, WIDTH)
    calls: list[None] = []
    hook = layer.to_key.register_forward_hook(lambda *_: calls.append(None))
    memory, steps = Memory(), []
    for position in range(TARGET):
        context = x if position == 0 else None
        state = y[:, position : position + 1]
        steps.append(layer(state, context, visible=all_visible(SOURCE), memory=memory))
    once = len(calls)
    again = [layer(y[:, [position]], x, visible=all_visible(SOURCE)) for position in range(TARGET)]
    hook.remove()
    gap = difference(torch.cat(steps, dim=1), torch.cat(again, dim=1))
    return Measurement(
        f"keys computed {once} time in {TARGET} steps; outputs differ by {gap:.1g}",
        (
            Figure("key projections with a cache", once, once == 1),
            Figure("key projections without", len(calls) - once),
            Figure("largest difference", gap, gap < 1e-12),
        ),
    )
