"""What the heads cost: where states become tokens or labels.

    tokens    asked · written · w products; logits some rows at a time, their gradient at once
    labels    rows · w · labels, after pooling

The gradient of a tied table waits, as large as the table, until that of the reading side is there.
"""

from regard.ledger.blocks import stack
from regard.ledger.documents import hops_head, look
from regard.ledger.entry import FLOAT, Entry, Ledger, Seq, headed, renamed
from regard.ledger.load import Facts
from regard.recipe.model import LearnedSettings, ModelSettings
from regard.recipe.recipe import Recipe

BLOCK = 384
"""Rows of logits at a time; see :mod:`regard.tasks.losses`."""


def token_head(
    recipe: Recipe,
    settings: ModelSettings,
    facts: Facts,
    asked: int,
    *,
    drawn: bool = False,
    told: int = 0,
) -> Ledger:
    """Say what writing ``asked`` tokens costs; ``drawn`` if tokens are also drawn from it.

    ``told`` counts the different ones among them, where they are told from each other only.
    """
    width, written = settings.width, told or facts.written
    entries = _transform(settings, asked, drawn=drawn) if settings.head.transform else []
    learned = (0 if settings.tied else facts.vocabulary * width) + (
        facts.vocabulary * settings.head.bias
    )
    whole = settings.soft_cap or recipe.training.consistency or settings.copying
    # A token's bias, or how rare it is, is one more feature of every state.
    wide = width + (bool(settings.head.bias or told) and not whole)
    matrix, states = FLOAT * written * wide, FLOAT * asked * wide
    logits = FLOAT * (asked if whole else min(BLOCK, asked)) * written
    blocks = 3 if asked > BLOCK or whole else 2
    tables = 3  # logits, their logarithms, and what caps or compares them
    if settings.copying and not (settings.soft_cap or recipe.training.consistency):
        tables = blocks = 1
    entry = Entry(
        "logits",
        learned,
        asked * written * wide,
        saved=tables * logits + states if whole else matrix + states,
        passing=2 * logits if whole else matrix + states,
        forward_passing=blocks * logits + 2 * states + matrix * (written < facts.vocabulary),
        body=False,
        again=asked * written * width if drawn else 0,
        held=FLOAT * facts.vocabulary * width if settings.tied else 0,
    )
    return [*headed(entries), entry]


def label_head(settings: ModelSettings, labels: int, seq: Seq) -> Ledger:
    """Say what pooling and telling labels apart cost."""
    width, kind = settings.ends_in, settings.head.pooling
    wide = 2 * width if kind == "mean-max" else width
    entries = [Entry("pooling", saved=FLOAT * seq.rows * wide, passing=FLOAT * seq.tokens * width)]
    if kind == "cls":
        entries = [pooler(width, seq)]
    elif kind == "attention":
        entries = [look(width, seq, features=width)]
    elif kind == "hops":
        entries, wide = hops_head(settings, seq)
    elif kind in ("mean-max", "max"):
        entries = [entries[0]._replace(saved=FLOAT * seq.tokens * width)]
    return [*(entries if kind == "cls" else headed(entries)), label_logits(wide, labels, seq.rows)]


def label_logits(width: int, labels: int, rows: int) -> Entry:
    """W·pooled + b."""
    return Entry("labels", (width + 1) * labels, rows * width * labels, body=False)


def pooler(width: int, seq: Seq) -> Entry:
    """tanh(W·x(0) + b): published with BERT's body, and counted with it."""
    return Entry(
        "pooler", width**2 + width, seq.rows * width**2, saved=2 * FLOAT * seq.rows * width
    )


def pair_head(settings: ModelSettings, seq: Seq) -> Ledger:
    """Say what telling pairs costs: BERT's pooler, and two logits."""
    width = settings.width
    told = Entry("labels", 2 * (width + 1), seq.rows * 2 * width, body=False)
    return [pooler(width, seq), told]


def replaced_head(settings: ModelSettings, seq: Seq) -> Ledger:
    """Say what it costs to tell of every token whether it was replaced."""
    width = settings.width
    learned = width**2 + width + width + 1
    saved = 3 * FLOAT * seq.tokens * width
    return [Entry("labels", learned, seq.tokens * (width**2 + width), saved=saved, body=False)]


def light_decoder(settings: ModelSettings, light: ModelSettings, seen: Seq, seq: Seq) -> Ledger:
    """Say what rebuilding costs; it is thrown away after learning."""
    width, narrow = settings.width, light.width
    down = Entry(
        "decoder",
        width * narrow + narrow + narrow,  # its own mask vector among them
        seen.tokens * width * narrow,
        saved=FLOAT * seen.tokens * width,
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
    places = place.positions * narrow if isinstance(place, LearnedSettings) else 0
    blocks = stack(light, settings.decoder_depth, seq, causal=False)
    return renamed([down, Entry("decoder", places), *blocks, up], "decoder", body=False)


def _transform(settings: ModelSettings, asked: int, *, drawn: bool) -> Ledger:
    """norm(gelu(W·x + b)), before states are compared with the table."""
    width = settings.width
    macs = asked * width**2
    again = macs if drawn else 0
    saved = FLOAT * asked * (3 * width + 2)
    return [Entry("transform", width**2 + 3 * width, macs, saved=saved, again=again)]
