"""PARITY with hand-set parameters, and the influence of one symbol in a long text (D1 Q4)."""

import math

import torch
from torch import Tensor, nn

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.counters import fit_exponent
from regard.claims.precision import difference, exact
from regard.claims.table import draw_curves, tabulate
from regard.data.worlds.languages import draw_language
from regard.layers.attention import (
    Attention,
    Equation,
    argmax,
    scaled_dot,
)
from regard.layers.block import Block
from regard.layers.feed_forward import FeedForward
from regard.models.body import all_visible
from regard.models.build.labels import classifier
from regard.models.stack import Stack
from regard.recipe.head import HeadSettings
from regard.recipe.model import AttentionSettings, ModelSettings

ONE, CLS, PLACE, SIGN, ONES, UNIT, HIT, ANSWER = range(8)
WIDTH, HEADS = 10, 2


def set_parameters() -> Stack:
    """Set the parameters of two blocks so that they recognise PARITY (Chiang and Cholak 2022, §3).

    Block 1 averages: every position gets k/(n+1), the share of ones, and 1/(n+1); three ReLUs then
    mark the position i = k. In block 2 one head of [CLS] prefers odd positions and one even ones;
    their difference at the mark gives the parity of k.
    """
    first, second = (_make_zero_block() for _ in range(2))
    mean, inner = _attention(first), first.feed_forward.part
    assert isinstance(inner, FeedForward)
    features = WIDTH // HEADS
    with torch.no_grad():
        mean.to_value.weight[0, ONE] = mean.to_value.weight[1, CLS] = 1
        mean.to_output.weight[ONES, 0] = mean.to_output.weight[UNIT, 1] = 1
        for row, units in enumerate((-1, 0, 1)):
            inner.to_inner.weight[row, ONES] = 1
            inner.to_inner.weight[row, PLACE] = -1
            inner.to_inner.weight[row, UNIT] = units
        inner.to_output.weight[HIT] = torch.tensor([1.0, -2.0, 1.0])
        odd = _attention(second)
        for head, sign in enumerate((-1, 1)):
            start = head * features
            odd.to_query.weight[start, CLS] = math.sqrt(features)
            odd.to_key.weight[start, SIGN] = sign
            odd.to_value.weight[start, HIT] = 1
            odd.to_output.weight[ANSWER, start] = -sign
    return Stack([first, second], norm=None)


def _make_zero_block() -> Block:
    block = Block(
        Attention(WIDTH, HEADS), FeedForward(WIDTH, 3, activation="relu"), norms=nn.Identity
    )
    for parameter in block.parameters():
        nn.init.zeros_(parameter)
    return block


def _attention(block: Block) -> Attention:
    part = block.mixer.part
    assert isinstance(part, Attention)
    return part


def embed(bits: Tensor) -> Tensor:
    """Embed [CLS] and a row of bits: the symbol, i/(n+1) and (-1)^i."""
    n = len(bits)
    states = torch.zeros(1, n + 1, WIDTH)
    states[0, 1:, ONE] = bits
    states[0, 0, CLS] = 1
    states[0, :, PLACE] = torch.arange(n + 1) / (n + 1)
    states[0, :, SIGN] = 1.0 - 2.0 * (torch.arange(n + 1) % 2)
    return states


@claim(
    numbers=(68,),
    source="D1 Q4; Hahn 2020; Chiang and Cholak 2022, §3",
    statement="Self-attention cannot recognise PARITY, whether the number of ones is odd.",
    layer="layers/attention.py",
    meaning="Two of our blocks with hand-set parameters are right on every string. Yet their "
    "confidence vanishes: the cross-entropy stays at 1 bit, as Hahn's theorem for soft attention "
    "says.",
    next_step="parity-trained shows that training does not find this.",
    correction="Hard attention cannot; soft attention can, by a margin that vanishes as n grows, "
    "so that its cross-entropy tends to 1 bit.",
)
@exact()
@torch.no_grad()
def parity_by_hand() -> Measurement:
    """Set the parameters by hand and classify strings of 10 to 4,000 bits, drawn from the world.

    The sign of the output is the prediction; the cross-entropy in bits is that of its sigmoid.
    """
    model, right, bits, sizes = set_parameters(), {}, {}, []
    for n in (10, 100, 1000, 4000):
        strings = list(draw_language("parity", lengths=[n], count=40 if n < 1000 else 4, seed=n))
        signed = torch.tensor([_classify(model, *pair) for pair in strings])
        right[n] = (signed > 0).double().mean().item()
        bits[n] = torch.log2(1 + torch.exp(-signed)).mean().item()
        sizes.append(signed.abs().mean().item())
    slope, given = fit_exponent(list(right), sizes), {10: 0.9908, 100: 0.99989}
    return Measurement(
        f"{min(right.values()):.0%} accuracy to length 4,000; {bits[10]:.4f} to "
        f"{bits[4000]:.6f} bits; "
        f"the output shrinks as n^{slope:.2f}",
        (
            *tabulate(
                "accuracy at length {}",
                right,
                lambda r: r < 0.6,
                given=dict.fromkeys(right, 1.0),
            ),
            *tabulate("cross-entropy in bits at length {}", bits, given=given, within=3e-4),
            Figure("exponent of the output in n", slope),
        ),
        draw_curves(
            "PARITY by hand: bits of cross-entropy",
            "log₁₀ of the length",
            [math.log10(n) for n in bits],
            {"cross-entropy": list(bits.values())},
        ),
    )


def _classify(model: Stack, source: str, label: str) -> float:
    """Give the output for a string, positive if it is right."""
    states = embed(torch.tensor([float(bit) for bit in source.split()]))
    found = model(states, visible=all_visible(states.shape[1]))[0, 0, ANSWER].item()
    return found if label == "yes" else -found


@claim(
    numbers=(68,),
    source="D1 Q4; Hahn 2020, lemma 5",
    statement="In soft attention with bounded parts one symbol changes the output by O(1/n) only.",
    layer="layers/attention.py",
    meaning="An exponent of -1 or below. PARITY depends on every symbol, so its margin must "
    "vanish.",
    next_step="Scale the parameters up: the exponent stays, the constant grows.",
)
@exact()
@torch.no_grad()
def one_symbol_in_n() -> Measurement:
    """Flip one bit of strings of 16 to 1,024 bits before a random two-layer model and compare.

    Softmax attention, layer norms, sinusoids, pooled at [CLS]; the mean change of the logits over 6
    to 24 flips, the flipped bit never [CLS]'s own.
    """
    settings = ModelSettings(
        width=32,
        depth=2,
        feed_forward=64,
        dropout=0.0,
        norm="layer",
        zero_init=False,
        mixer=AttentionSettings(heads=4),
        head=HeadSettings(pooling="first", dropout=0.0),
    )
    model, changes = classifier(settings, 3, 2).eval(), {}
    for n in (16, 64, 256, 1024):
        moved = []
        for _ in range(24 if n < 200 else 6):
            ids = torch.cat([torch.tensor([2]), torch.randint(2, (n,))])[None]
            flipped = ids.clone()
            flip = int(torch.randint(1, n + 1, ()))
            flipped[0, flip] = 1 - flipped[0, flip]
            logits = model(torch.cat([ids, flipped]), lengths=torch.tensor([n + 1, n + 1]))
            moved.append(difference(*logits))
        changes[n] = sum(moved) / len(moved)
    slope = fit_exponent(list(changes), list(changes.values()))
    return Measurement(
        f"one bit changes the output by {changes[16]:.2g} at 16 and {changes[1024]:.2g} at 1,024: "
        f"n^{slope:.2f}",
        (
            *tabulate("change at length {}", changes),
            Figure("exponent in n", slope, slope < -0.8),
        ),
        draw_curves(
            "Change by one flipped bit (log₁₀)",
            "log₁₀ of the length",
            [math.log10(n) for n in changes],
            {"change of the logits": [math.log10(one) for one in changes.values()]},
        ),
    )


@claim(
    numbers=(68,),
    source="D1 Q4; Hahn 2020, theorem 1",
    statement="Hard attention depends on few symbols of a long text, so it cannot recognise "
    "PARITY.",
    layer="layers/attention.py",
    meaning="A bit that can be flipped without any change proves that PARITY is not recognised.",
    next_step="Add layers and heads: the theorem holds for any fixed number of them.",
)
@exact()
@torch.no_grad()
def hard_attention_misses_bits() -> Measurement:
    """Flip each of 100 bits in turn before a random two-layer argmax model; count which matter.

    Hard attention attends to one position per head and layer; bits that are not attended to change
    nothing.
    """
    n = 100
    layers = [Attention(16, 2, equation=Equation(scaled_dot, argmax)) for _ in range(2)]
    table, positions = torch.randn(3, 16), 0.3 * torch.randn(n + 1, 16)
    ids = torch.cat([torch.tensor([2]), torch.randint(2, (n,))])

    def encode(rows: Tensor) -> Tensor:
        states = table[rows] + positions
        for layer in layers:
            states = states + layer(states, visible=all_visible(n + 1))
        return states[:, 0]

    before = encode(ids[None])
    rows = ids.repeat(n, 1)
    rows[torch.arange(n), torch.arange(1, n + 1)] = 1 - ids[1:]
    matters = int(((encode(rows) - before).abs().amax(dim=1) > 1e-12).sum())
    return Measurement(
        f"{matters} of {n} bits change the output when flipped; PARITY needs all {n}",
        (Figure("bits that matter, of 100", matters, matters < n),),
    )
