"""PARITY by hand-set parameters, and what one symbol can do in a long text (D1 Q4)."""

import math

import torch
from torch import Tensor, nn

from regard.claims.claim import Figure, Measured, claim
from regard.claims.counters import fit_exponent
from regard.claims.precision import difference, exact
from regard.claims.table import draw_curves, tabulate
from regard.data.worlds.languages import language
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


def set_by_hand() -> Stack:
    """Set the parameters of two blocks so that they tell PARITY (Chiang and Cholak 2022, §3).

    Block 1 averages: everyone learns k/(n+1), the share of ones, and 1/(n+1); three ReLUs then
    mark the position i = k. In block 2 one head of [CLS] prefers odd positions and one even ones;
    their difference at the mark says whether k is odd.
    """
    first, second = (_silent_block() for _ in range(2))
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


def _silent_block() -> Block:
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


def entered(bits: Tensor) -> Tensor:
    """Give [CLS] and a row of bits as states: the symbol, i/(n+1) and (-1)^i."""
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
    reading="Two of our blocks with parameters set by hand are right on every string. Yet they are "
    "never sure: the cross-entropy stays at 1 bit, which is what Hahn's theorem for soft attention "
    "says.",
    then="parity-trained shows that training does not find this.",
    right="Hard attention cannot; soft attention can, by a margin that vanishes as n grows, "
    "so that "
    "its cross-entropy tends to 1 bit.",
)
@exact()
@torch.no_grad()
def parity_by_hand() -> Measured:
    """Set the parameters by hand and ask for strings of 10 to 4,000 bits, drawn from the world.

    The sign of the answer is the verdict; bits of cross-entropy are those of a sigmoid on it.
    """
    model, right, bits, sizes = set_by_hand(), {}, {}, []
    for n in (10, 100, 1000, 4000):
        strings = list(language("parity", lengths=[n], count=40 if n < 1000 else 4, seed=n))
        signed = torch.tensor([_answer(model, *pair) for pair in strings])
        right[n] = (signed > 0).double().mean().item()
        bits[n] = torch.log2(1 + torch.exp(-signed)).mean().item()
        sizes.append(signed.abs().mean().item())
    slope, given = fit_exponent(list(right), sizes), {10: 0.9908, 100: 0.99989}
    return Measured(
        f"{min(right.values()):.0%} right to length 4,000, and {bits[10]:.4f} to {bits[4000]:.6f} "
        f"bits; the answer shrinks as n^{slope:.2f}",
        (
            *tabulate(
                "accuracy at length {}", right, lambda r: r < 0.6, given=dict.fromkeys(right, 1.0)
            ),
            *tabulate("cross-entropy in bits at length {}", bits, given=given, within=3e-4),
            Figure("exponent of the answer in n", slope),
        ),
        draw_curves(
            "PARITY by hand: bits of cross-entropy",
            "log₁₀ of the length",
            [math.log10(n) for n in bits],
            {"cross-entropy": list(bits.values())},
        ),
    )


def _answer(model: Stack, source: str, label: str) -> float:
    """Give the answer for a string, positive where it is right."""
    states = entered(torch.tensor([float(bit) for bit in source.split()]))
    found = model(states, visible=all_visible(states.shape[1]))[0, 0, ANSWER].item()
    return found if label == "yes" else -found


@claim(
    numbers=(68,),
    source="D1 Q4; Hahn 2020, lemma 5",
    statement="In soft attention with bounded parts one symbol moves the answer by O(1/n) only.",
    layer="layers/attention.py",
    reading="An exponent of -1 or below. PARITY depends on every symbol, so its margin must "
    "vanish.",
    then="Raise the scale of the parameters: the exponent stays, the constant grows.",
)
@exact()
@torch.no_grad()
def one_symbol_in_n() -> Measured:
    """Flip one bit of strings of 16 to 1,024 bits before a random two-layer model and compare.

    Softmax attention, layer norms, waves, [CLS] read alone; the mean change of the logits over 6
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
            place = int(torch.randint(1, n + 1, ()))
            flipped[0, place] = 1 - flipped[0, place]
            logits = model(torch.cat([ids, flipped]), lengths=torch.tensor([n + 1, n + 1]))
            moved.append(difference(*logits))
        changes[n] = sum(moved) / len(moved)
    slope = fit_exponent(list(changes), list(changes.values()))
    return Measured(
        f"one bit moves the answer by {changes[16]:.2g} at 16 and {changes[1024]:.2g} at 1,024: "
        f"n^{slope:.2f}",
        (
            *tabulate("change at length {}", changes),
            Figure("exponent in n", slope, slope < -0.8),
        ),
        draw_curves(
            "What one flipped bit moves (log₁₀)",
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
    reading="A bit that can be flipped without any change proves that PARITY is not recognised.",
    then="Add layers and heads: the theorem holds for any fixed number of them.",
)
@exact()
@torch.no_grad()
def hard_attention_misses_bits() -> Measured:
    """Flip each of 100 bits in turn before a random two-layer argmax model and count who matters.

    Hard attention looks at one place per head and layer; bits nobody looks at change nothing.
    """
    n = 100
    layers = [Attention(16, 2, equation=Equation(scaled_dot, argmax)) for _ in range(2)]
    table, places = torch.randn(3, 16), 0.3 * torch.randn(n + 1, 16)
    ids = torch.cat([torch.tensor([2]), torch.randint(2, (n,))])

    def read(rows: Tensor) -> Tensor:
        states = table[rows] + places
        for layer in layers:
            states = states + layer(states, visible=all_visible(n + 1))
        return states[:, 0]

    before = read(ids[None])
    rows = ids.repeat(n, 1)
    rows[torch.arange(n), torch.arange(1, n + 1)] = 1 - ids[1:]
    matters = int(((read(rows) - before).abs().amax(dim=1) > 1e-12).sum())
    return Measured(
        f"{matters} of {n} bits change the answer when they are flipped; PARITY needs all {n}",
        (Figure("bits that matter, of 100", matters, matters < n),),
    )
