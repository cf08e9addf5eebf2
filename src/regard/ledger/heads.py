"""Costs of the output heads, which predict tokens or labels.

    tokens    targets · vocabulary · w products; logits in blocks of rows, their gradient at once
    labels    rows · w · labels, after pooling

The gradient of a tied table is held, as large as the table, until that of the embedding is added.
"""

from regard.ledger.blocks import stack
from regard.ledger.documents import attention_pooling, hops_head
from regard.ledger.entry import FLOAT, Entry, Ledger, Seq, mark_as_head, rename_part
from regard.ledger.load import Facts
from regard.recipe.model import LearnedSettings, ModelSettings
from regard.recipe.recipe import Recipe

BLOCK = 384
"""Rows of a block of logits; see :mod:`regard.tasks.losses`."""


def token_head(
    recipe: Recipe,
    settings: ModelSettings,
    facts: Facts,
    targets: int,
    *,
    generates: bool = False,
    sampled: int = 0,
) -> Ledger:
    """Cost of predicting ``targets`` tokens; ``generates`` if tokens are also drawn from it.

    ``sampled`` is the number of tokens in a sampled softmax.
    """
    width, classes = settings.width, sampled or facts.output_vocabulary
    entries = _transform(settings, targets, generates=generates) if settings.head.transform else []
    learned = (0 if settings.tied else facts.vocabulary * width) + (
        facts.vocabulary * settings.head.bias
    )
    whole = settings.soft_cap or recipe.training.consistency or settings.copying
    # A token's bias, or its sampling correction, is one more feature of every state.
    wide = width + (bool(settings.head.bias or sampled) and not whole)
    matrix, states = FLOAT * classes * wide, FLOAT * targets * wide
    logits = FLOAT * (targets if whole else min(BLOCK, targets)) * classes
    blocks = 3 if targets > BLOCK or whole else 2
    tables = 3  # logits, log-probabilities, and capped or compared ones
    if settings.copying and not (settings.soft_cap or recipe.training.consistency):
        tables = blocks = 1
    entry = Entry(
        "logits",
        learned,
        targets * classes * wide,
        saved=tables * logits + states if whole else matrix + states,
        workspace=2 * logits if whole else matrix + states,
        forward_workspace=blocks * logits + 2 * states + matrix * (classes < facts.vocabulary),
        body=False,
        forward_only_macs=targets * classes * width if generates else 0,
        held_gradient=FLOAT * facts.vocabulary * width if settings.tied else 0,
    )
    return [*mark_as_head(entries), entry]


def label_head(settings: ModelSettings, labels: int, seq: Seq) -> Ledger:
    """Cost of pooling and label logits."""
    width, kind = settings.ends_in, settings.head.pooling
    wide = 2 * width if kind == "mean-max" else width
    entries = [
        Entry("pooling", saved=FLOAT * seq.rows * wide, workspace=FLOAT * seq.tokens * width)
    ]
    if kind == "cls":
        return [pooler(width, seq), label_logits(wide, labels, seq.rows)]
    if kind == "attention":
        entries = [attention_pooling(width, seq, features=width)]
    elif kind == "hops":
        entries, wide = hops_head(settings, seq)
    elif kind in ("mean-max", "max"):
        entries = [entries[0]._replace(saved=FLOAT * seq.tokens * width)]
    return [*mark_as_head(entries), label_logits(wide, labels, seq.rows)]


def label_logits(width: int, labels: int, rows: int) -> Entry:
    """W·pooled + b."""
    return Entry("labels", (width + 1) * labels, rows * width * labels, body=False)


def pooler(width: int, seq: Seq) -> Entry:
    """tanh(W·x(0) + b): counted with BERT's body, as published."""
    return Entry(
        "pooler", width**2 + width, seq.rows * width**2, saved=2 * FLOAT * seq.rows * width
    )


def pair_head(settings: ModelSettings, seq: Seq) -> Ledger:
    """Cost of next-sentence prediction: BERT's pooler and two logits."""
    width = settings.width
    logits = Entry("labels", 2 * (width + 1), seq.rows * 2 * width, body=False)
    return [pooler(width, seq), logits]


def replaced_head(settings: ModelSettings, seq: Seq) -> Ledger:
    """Cost of replaced-token detection."""
    width = settings.width
    learned = width**2 + width + width + 1
    saved = 3 * FLOAT * seq.tokens * width
    return [Entry("labels", learned, seq.tokens * (width**2 + width), saved=saved, body=False)]


def light_decoder(settings: ModelSettings, light: ModelSettings, visible: Seq, seq: Seq) -> Ledger:
    """Cost of the autoencoder's decoder, which is discarded after pretraining."""
    width, narrow = settings.width, light.width
    down = Entry(
        "decoder",
        width * narrow + narrow + narrow,  # with a mask vector of its own
        visible.tokens * width * narrow,
        saved=FLOAT * visible.tokens * width,
        matrices=((narrow, width),),
    )
    up = Entry(
        "decoder",
        narrow * width + width,
        seq.tokens * width * narrow,
        saved=FLOAT * seq.tokens * narrow,
        matrices=((width, narrow),),
    )
    place = light.position
    positions = place.positions * narrow if isinstance(place, LearnedSettings) else 0
    blocks = stack(light, settings.decoder_depth, seq, causal=False)
    return rename_part([down, Entry("decoder", positions), *blocks, up], "decoder", body=False)


def _transform(settings: ModelSettings, targets: int, *, generates: bool) -> Ledger:
    """norm(gelu(W·x + b)), before the output table."""
    width = settings.width
    macs = targets * width**2
    drawn = macs if generates else 0
    saved = FLOAT * targets * (3 * width + 2)
    return [Entry("transform", width**2 + 3 * width, macs, saved=saved, forward_only_macs=drawn)]
