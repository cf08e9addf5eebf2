"""Looking into another sequence, and into oneself (D0 Q1, D4 Q3)."""

import torch

from regard.claims.claim import Figure, Measured, claim
from regard.claims.precision import difference, exact
from regard.layers.attention import Attention
from regard.layers.memory import Memory
from regard.layers.tap import listen
from regard.models.body import all_visible

SOURCE, TARGET, WIDTH, HEADS = 11, 7, 24, 3


@claim(
    numbers=(1,),
    source="D0 Q1, D4 Q3; Vaswani et al. 2017, §3.2",
    statement="Attention of y over x asks with y and finds in x; self-attention is y = x.",
    layer="layers/attention.py",
    reading="As many states come back as there were queries. A difference of exactly 0 means that "
    "self-attention is not another layer but the same call.",
    then="Give x another length, or let the layer turn queries and keys (Place(turn=Rotary(8))).",
)
@exact()
def look_into_another() -> Measured:
    """Ask the same layer to look from y into x, and from x into x given as its own context.

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
    return Measured(
        f"{TARGET} queries give {length} states; y = x differs from self-attention by {gap:g}",
        (
            Figure("states that come back from y", length, length == TARGET, given=TARGET),
            Figure("largest difference at y = x", gap, gap == 0.0, given=0.0),
        ),
    )


@claim(
    numbers=(10,),
    source="D4 Q3; Vaswani et al. 2017, §3.2.3",
    statement="In encoder-decoder attention keys and values come from the encoder, so they are the "
    "same at every step of writing.",
    layer="layers/attention.py",
    reading="One making of keys serves all steps, and nothing changes but rounding.",
    then="Count the same for self-attention, which makes one new key per step.",
)
@exact()
def context_kept_once() -> Measured:
    """Let a decoder's cross-attention take 7 steps into one source.

    Calls of the layer that makes keys are counted by a hook, and the outputs compared with those
    of a layer that recomputes keys and values at every step.
    """
    layer = Attention(WIDTH, HEADS)
    x, y = torch.randn(1, SOURCE, WIDTH), torch.randn(1, TARGET, WIDTH)
    calls: list[None] = []
    hook = layer.to_key.register_forward_hook(lambda *_: calls.append(None))
    memory, steps = Memory(), []
    for place in range(TARGET):
        context = x if place == 0 else None
        state = y[:, place : place + 1]
        steps.append(layer(state, context, visible=all_visible(SOURCE), memory=memory))
    once = len(calls)
    again = [layer(y[:, [place]], x, visible=all_visible(SOURCE)) for place in range(TARGET)]
    hook.remove()
    gap = difference(torch.cat(steps, dim=1), torch.cat(again, dim=1))
    return Measured(
        f"keys made {once} time in {TARGET} steps; the answers differ by {gap:.1g}",
        (
            Figure("times keys are made with memory", once, once == 1),
            Figure("times keys are made without", len(calls) - once),
            Figure("largest difference", gap, gap < 1e-12),
        ),
    )
