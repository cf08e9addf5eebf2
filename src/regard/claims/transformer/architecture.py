"""The block and the whole model, as drawn (D0, D2's figure)."""

import torch
from torch import Tensor, nn

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.precision import difference, exact
from regard.claims.table import tabulate
from regard.layers.attention import Attention, Projections
from regard.layers.block import Block, NormOrder
from regard.layers.embedding import Embedding
from regard.layers.feed_forward import FeedForward
from regard.models.body import all_visible
from regard.models.build.writing import transformer
from regard.recipe.model import AttentionSettings, ModelSettings

WIDTH, HEADS, INNER, POSITIONS = 24, 3, 37, 11


@claim(
    numbers=(11,),
    source="D2 figure; Vaswani et al. 2017, §3.1, §3.3",
    statement="A block is attention and max(0, xW₁+b₁)W₂+b₂, each with a residual and a layer "
    "norm.",
    layer="layers/block.py",
    meaning="With the same parameters our block and torch.nn.TransformerEncoderLayer agree up to "
    "rounding, in both orders of the norm.",
    next_step="Swap parts: Block(Recurrent(...), FeedForward(...)) is a block as well.",
)
@exact()
def block_is_torchs() -> Measurement:
    """Copy the parameters of torch's encoder layer into a block and compare outputs in float64."""
    gaps = {order: _compare_with_torch(order) for order in ("post", "pre")}
    return Measurement(
        f"differs from torch's layer by {gaps['post']:.0e} (post-norm), {gaps['pre']:.0e} "
        "(pre-norm)",
        tabulate("largest difference, {}-norm", gaps, lambda gap: gap < 1e-12),
    )


def _compare_with_torch(order: NormOrder) -> float:
    theirs = nn.TransformerEncoderLayer(
        WIDTH, HEADS, INNER, dropout=0.0, batch_first=True, norm_first=order == "pre"
    ).eval()
    ours = Block(
        Attention(WIDTH, HEADS, projections=Projections(biases=True)),
        FeedForward(WIDTH, INNER),
        norms=lambda: nn.LayerNorm(WIDTH),
        order=order,
    )
    attention = ours.mixer.part
    assert isinstance(attention, Attention)
    projections = (attention.to_query, attention.to_key, attention.to_value)
    with torch.no_grad():
        for index, to in enumerate(projections):
            rows = slice(index * WIDTH, (index + 1) * WIDTH)
            to.weight.copy_(theirs.self_attn.in_proj_weight[rows])
            to.bias.copy_(theirs.self_attn.in_proj_bias[rows].normal_())
    attention.to_output.load_state_dict(theirs.self_attn.out_proj.state_dict())
    inner = ours.feed_forward.part
    assert isinstance(inner, FeedForward)
    inner.to_inner.load_state_dict(theirs.linear1.state_dict())
    inner.to_output.load_state_dict(theirs.linear2.state_dict())
    ours.mixer.norm.load_state_dict(theirs.norm1.state_dict())
    ours.feed_forward.norm.load_state_dict(theirs.norm2.state_dict())
    states = torch.randn(2, POSITIONS, WIDTH)
    # An empty mask: without one torch takes a fast path with different rounding.
    reference = theirs(states, src_mask=torch.zeros(POSITIONS, POSITIONS))
    return difference(ours(states, visible=all_visible(POSITIONS)), reference)


@claim(
    numbers=(29,),
    source="D0, D2 figure; Vaswani et al. 2017, figure 1",
    statement="The decoder predicts a word from the whole source and from the previous words.",
    layer="models/transformer.py",
    meaning="Counted are inputs with a nonzero gradient: the whole source, the whole past, none "
    "of the future.",
    next_step="`regard train scenes` trains one in minutes; `regard explain` shows its attention.",
)
@exact()
def encoder_decoder() -> Measurement:
    """Build a small encoder-decoder and take the gradient of one output state into the inputs.

    7 source words, 5 target words; the state of the third target word and all embedded inputs.
    """
    model = transformer(
        ModelSettings(
            width=WIDTH,
            depth=2,
            feed_forward=INNER,
            dropout=0.0,
            zero_init=False,
            tied=False,
            mixer=AttentionSettings(heads=HEADS),
        ),
        tokens=13,
    )
    gradients = _measure_gradients(model, position=2)
    source, past, future = (
        int(gradients[0].gt(0).sum()),
        int(gradients[1][:3].gt(0).sum()),
        gradients[1][3:],
    )
    leaks = int(future.gt(0).sum())
    return Measurement(
        f"a predicted word depends on {source} of 7 source words, {past} of 3 previous words and "
        f"{leaks} of 2 later words",
        (
            Figure("source words with a gradient, of 7", source, source == 7),
            Figure("previous words with a gradient, of 3", past, past == 3),
            Figure("later words with a gradient, of 2", leaks, leaks == 0),
        ),
    )


def _measure_gradients(model: nn.Module, position: int) -> list[Tensor]:
    """Give the size of the gradient from one target state into every embedded input."""
    inputs: list[Tensor] = []

    def keep(_module: nn.Module, _inputs: object, states: Tensor) -> Tensor:
        inputs.append(states.detach().requires_grad_())
        return inputs[-1]

    hooks = [
        part.register_forward_hook(keep) for part in model.modules() if isinstance(part, Embedding)
    ]
    ids = torch.randint(13, (1, 12))
    states = model(
        ids[:, :7], ids[:, 7:], source_lengths=torch.tensor([7]), target_lengths=torch.tensor([5])
    )
    for hook in hooks:
        hook.remove()
    gradients = torch.autograd.grad(states[0, position].sum(), inputs)
    return [gradient[0].abs().sum(dim=-1) for gradient in gradients]


@claim(
    numbers=(32,),
    source="D0 Q6; Vaswani et al. 2017, §3.4; Press and Wolf 2017",
    statement="One table embeds inputs and computes output logits (weight tying); input vectors "
    "are multiplied by √d.",
    layer="layers/embedding.py",
    meaning="A tied table learns from both uses: its gradient is the sum of two separate ones.",
    next_step="Set model.tied = false in a recipe and compare sizes and scores.",
)
@exact()
def tied_embedding() -> Measurement:
    """Compare the gradient of one tied table with those of separate input and output tables.

    The tied gradient should be the sum of the two; the input vectors are compared with the rows of
    the table.
    """
    table = Embedding(17, WIDTH, scaled=True)
    ids = torch.randint(17, (2, 5))
    inputs = table(ids)
    scale = (inputs.norm() / table.table[ids].norm()).item()
    loss = nn.functional.cross_entropy(table.logits(inputs).flatten(0, 1), ids.flatten())
    loss.backward()
    entering, leaving = (Embedding(17, WIDTH, scaled=True) for _ in range(2))
    for part in (entering, leaving):
        part.load_state_dict(table.state_dict())
    nn.functional.cross_entropy(
        leaving.logits(entering(ids)).flatten(0, 1), ids.flatten()
    ).backward()
    tied, first, second = (part.table.grad for part in (table, entering, leaving))
    assert tied is not None and first is not None and second is not None
    gap = difference(tied, first + second)
    return Measurement(
        f"input vectors are {scale:.4f} = √{WIDTH} times the table's; gradients add up to "
        f"{gap:.0e}",
        (
            Figure("scale of the input vectors", scale, abs(scale - WIDTH**0.5) < 1e-12),
            Figure("tied gradient against the sum of two", gap, gap < 1e-12),
        ),
    )
