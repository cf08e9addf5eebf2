"""Pretraining objectives: masked words, next sentences, next words (D2 g, D4 Q5)."""

import math

import numpy as np
import torch

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.counters import count_parameters
from regard.claims.precision import difference, exact, find_dependencies
from regard.claims.pretraining.bert import settings
from regard.data.corruption import choose_tokens, corrupt, find_maskable
from regard.data.sentence_pairs import SentencePairs
from regard.draw.bars import Bars
from regard.layers.visibility import causal
from regard.models.body import all_visible
from regard.models.build.pretraining import bert, masked_autoencoder
from regard.models.build.writing import language_model
from regard.recipe.model import (
    AttentionSettings,
    LearnedSettings,
    ModelSettings,
    SinusoidalSettings,
)
from regard.recipe.pretraining import PretrainingSettings
from regard.text.special import MASK, SPECIAL

TOKENS = 5000


@claim(
    numbers=(43,),
    source="D4 Q5; Devlin et al. 2019, §3.1",
    statement="15% of the tokens are chosen; of these 80% become [MASK], 10% another token, 10% "
    "stay.",
    layer="data/corruption.py",
    meaning="Within three standard deviations of the binomial, and no other token is changed.",
    next_step="masked-as-trained compares 100/0/0 with 80/10/10.",
)
def masked_words() -> Measurement:
    """Corrupt 400 rows of 128 tokens; count which were chosen and what replaced them.

    Bounds are three standard deviations of the binomial.
    """
    rng = np.random.default_rng(0)
    ids = rng.integers(len(SPECIAL), TOKENS, size=(400, 128))
    chosen = choose_tokens(find_maskable(ids), share=0.15, rng=rng)
    changed = corrupt(ids, chosen, masked_as=(0.8, 0.1, 0.1), tokens=TOKENS, rng=rng)
    many = int(chosen.sum())
    counts = {
        "[MASK]": (int((changed[chosen] == MASK).sum()) / many, 0.8),
        "kept": (int((changed[chosen] == ids[chosen]).sum()) / many, 0.1),
    }
    masked, kept = counts["[MASK]"][0], counts["kept"][0]
    counts["another token"] = (1 - masked - kept, 0.1)
    share = many / ids.size
    touched = int((changed != ids)[~chosen].sum())
    figures = [
        Figure("share chosen", share, abs(share - 0.15) < 3 * math.sqrt(0.15 * 0.85 / ids.size)),
        Figure("tokens changed that were not chosen", touched, touched == 0),
    ]
    for name, (found, wanted) in counts.items():
        bound = 3 * math.sqrt(wanted * (1 - wanted) / many)
        figures.append(Figure(f"share of these: {name}", found, abs(found - wanted) < bound))
    return Measurement(
        f"{share:.2%} chosen; of these {masked:.1%} [MASK], {1 - masked - kept:.1%} another, "
        f"{kept:.1%} kept",
        tuple(figures),
        Bars("What becomes of chosen tokens", [(n, f) for n, (f, _) in counts.items()]),
    )


@claim(
    numbers=(44,),
    source="D4 Q5; Devlin et al. 2019, §3.1",
    statement="Next-sentence prediction asks whether A follows B.",
    layer="data/sentence_pairs.py",
    meaning="In every positive pair B begins where A ends. Half of the pairs are positive.",
    next_step="next-sentence-shortcut measures how much of it topic alone can solve.",
    correction="It asks whether B follows A; in half of the pairs it does.",
)
def next_sentence_direction() -> Measurement:
    """Draw 2,000 pairs from 60 documents of 8 numbered sentences and check the position of B.

    Sentence n of document d holds only the token of (d, n), which identifies its position.
    """
    documents, sentences = 60, 8
    tokens = np.arange(documents * sentences, dtype=np.uint32) + len(SPECIAL)
    pairs = SentencePairs(
        tokens,
        np.ones(len(tokens), dtype=np.uint32),
        np.full(documents, sentences, dtype=np.int64),
        longest=12,
        kind="next-sentence",
    )
    rng = np.random.default_rng(0)
    yes = follows = precedes = 0
    for _ in range(2000):
        pair = pairs.pair(int(rng.integers(len(pairs))), rng)
        yes += pair.label
        follows += pair.label and int(pair.second[0]) == int(pair.first[-1]) + 1
        precedes += pair.label and int(pair.second[-1]) < int(pair.first[0])
    return Measurement(
        f"{yes / 2000:.1%} are IsNext; in {follows} of {yes} of them B follows A, in {precedes} A "
        "follows B",
        (
            Figure("share of IsNext", yes / 2000),
            Figure("of these, B follows A", follows / yes),
            Figure("of these, A follows B", precedes / yes, precedes == yes),
        ),
    )


@claim(
    numbers=(48,),
    source="D2 g; He et al. 2022",
    statement="In a masked autoencoder a masked token loses its content and its position.",
    layer="models/masked_autoencoder.py",
    meaning="With positions every mask gets its own prediction. Without them all masks of a row "
    "get the same one: nothing could be reconstructed.",
    next_step="autoencoder-blind trains both: without positions accuracy is little above chance.",
    correction="Only the content is hidden; the position stays.",
)
@exact()
def masks_lose_their_position() -> Measurement:
    """Reconstruct a row of 12 tokens with 5 masked, with and without the masks' positions.

    Encoder and light decoder have random parameters; the output states of the masks are compared.
    """
    shape = ModelSettings(
        width=24,
        depth=1,
        decoder_depth=1,
        feed_forward=37,
        dropout=0.0,
        zero_init=False,
        mixer=AttentionSettings(heads=2),
        position=SinusoidalSettings(),
    )
    kept = torch.tensor([[0, 2, 3, 6, 7, 9, 11]])
    masked = [position for position in range(12) if position not in kept[0].tolist()]
    gaps = {}
    ids = torch.randint(len(SPECIAL), 97, (1, 12))
    for name, blind in (("with", False), ("without", True)):
        choice = PretrainingSettings(objective="autoencoder", blind_masks=blind)
        model = masked_autoencoder(shape, 97, choice).eval()
        lengths, many = torch.tensor([12]), torch.tensor([7])
        states = model(ids, lengths=lengths, places=kept, kept=many)
        gaps[name] = difference(states[0, masked], states[0, masked[:1]])
    return Measurement(
        f"predictions at the five masks differ by {gaps['with']:.2g} with positions and by "
        f"{gaps['without']:.0e} without",
        (
            Figure("masks differ, with positions", gaps["with"], gaps["with"] < 1e-9),
            Figure("masks differ, without positions", gaps["without"]),
        ),
    )


@claim(
    numbers=(46,),
    source="D4 Q5; Radford et al. 2018, 2019",
    statement="GPT learns to predict the next token; before training its loss is ln V.",
    layer="models/gpt.py",
    meaning="A loss far above ln V at initialisation means that the logits start too large. The "
    "sizes equal the published checkpoints.",
    next_step="`regard train shakespeare`.",
)
@exact()
def gpt_next_word() -> Measurement:
    """Build GPT's two sizes and count; evaluate a small one on random tokens at initialisation."""
    with torch.device("meta"):
        first = language_model(_gpt(512, norm_order="post"), 40_478)
        second = language_model(_gpt(1024, norm_order="pre"), 50_257)
    one, two = count_parameters(first), count_parameters(second)
    small = ModelSettings(width=64, depth=2, feed_forward=128, dropout=0.0)
    model = language_model(small, 1000)
    ids = torch.randint(1000, (8, 64))
    with torch.no_grad():
        model.body.reading.table.mul_(0.02)  # GPT initialises its tables with 0.02
        logits = model.head(model(ids[:, :-1]))
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).item()
    least = math.log(1000)
    return Measurement(
        f"loss {loss:.3f} at initialisation, ln 1,000 = {least:.3f}; GPT-1 {one:,}, GPT-2 {two:,}",
        (
            Figure("loss at initialisation", loss, abs(loss - least) < 0.02),
            Figure("ln V", least),
            Figure("parameters of GPT-1", one, one == 116_534_784, given=116_534_784),
            Figure("parameters of GPT-2, small", two, two == 124_439_808, given=124_439_808),
        ),
    )


def _gpt(positions: int, **order: str) -> ModelSettings:
    return settings(
        12,
        768,
        12,
        position=LearnedSettings(kind="learned", positions=positions),
        embedding={"segments": 0, "norm": False},
        head={"bias": False},
        **order,
    )


@claim(
    numbers=(47,),
    source="D3 Q5; Devlin et al. 2019, §1",
    statement="A causal body cannot use the words to the right of a word; BERT's can.",
    layer="layers/visibility.py",
    meaning="Counted are words with a nonzero derivative.",
    next_step="right-context-trained measures what it costs where the evidence is on the right.",
)
@exact()
def one_sided_cannot_see_right() -> Measurement:
    """Compute by the Jacobian which words a state depends on, causal and bidirectional.

    The fifth of nine states, two layers.
    """
    model = bert(settings(2, 24, 2), 37, pairs=False)
    used = {}
    for name, visible in (("both", all_visible(9)), ("left", causal(9, 9))):
        inputs = torch.randn(1, 9, 24, requires_grad=True)
        states = model.body.stack(inputs, visible=visible)
        positions = find_dependencies(states[0, 4].square().sum(), inputs)
        used[name] = sum(position > 4 for position in positions)
    return Measurement(
        f"of 4 words to the right, the causal body uses {used['left']} and the bidirectional one "
        f"{used['both']}",
        (
            Figure("words to the right used, causal", used["left"], used["left"] == 0),
            Figure("words to the right used, bidirectional", used["both"], used["both"] == 4),
        ),
    )
