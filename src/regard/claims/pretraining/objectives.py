"""What is learned from plain text: masked words, next sentences, next words (D2 g, D4 Q5)."""

import math

import numpy as np
import torch

from regard.claims.claim import Figure, Measured, claim
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
    reading="Within three standard deviations of the binomial, and nothing else is touched.",
    then="masked-as-trained compares 100/0/0 with 80/10/10.",
)
def masked_words() -> Measured:
    """Corrupt 400 rows of 128 tokens and count what was chosen and what became of it.

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
    return Measured(
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
    reading="In every right pair B begins where A ends. Half of the pairs are right.",
    then="next-sentence-shortcut asks how much of it topic alone can answer.",
    right="It asks whether B follows A; half of the pairs do.",
)
def next_sentence_direction() -> Measured:
    """Draw 2,000 pairs from 60 documents of 8 numbered sentences and see where B stands.

    Sentence n of document d holds only the token of (d, n), so that its place can be read.
    """
    documents, sentences = 60, 8
    places = np.arange(documents * sentences, dtype=np.uint32) + len(SPECIAL)
    pairs = SentencePairs(
        places,
        np.ones(len(places), dtype=np.uint32),
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
    return Measured(
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
    statement="In a masked autoencoder what is masked loses its content and its position.",
    layer="models/masked_autoencoder.py",
    reading="With positions every mask gets an answer of its own. Take them away and all "
    "masks of a "
    "row get one and the same: nothing could be rebuilt.",
    then="autoencoder-blind trains both: without positions little more than a guess is left.",
    right="Only the content is hidden; the position stays.",
)
@exact()
def masks_lose_their_position() -> Measured:
    """Rebuild a row of 12 tokens of which 5 are masked, with and without the masks' positions.

    Encoder and light decoder have random parameters; compared are the rebuilt states of masks.
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
    masked = [place for place in range(12) if place not in kept[0].tolist()]
    gaps = {}
    ids = torch.randint(len(SPECIAL), 97, (1, 12))
    for name, blind in (("with", False), ("without", True)):
        choice = PretrainingSettings(objective="autoencoder", blind_masks=blind)
        model = masked_autoencoder(shape, 97, choice).eval()
        lengths, many = torch.tensor([12]), torch.tensor([7])
        states = model(ids, lengths=lengths, places=kept, kept=many)
        gaps[name] = difference(states[0, masked], states[0, masked[:1]])
    return Measured(
        f"answers at the five masks differ by {gaps['with']:.2g} with positions and by "
        f"{gaps['without']:.0e} without",
        (
            Figure("masks differ, with positions", gaps["with"], gaps["with"] < 1e-9),
            Figure("masks differ, without positions", gaps["without"]),
        ),
    )


@claim(
    numbers=(46,),
    source="D4 Q5; Radford et al. 2018, 2019",
    statement="GPT learns to say the next token; before it has learned, its loss is ln V.",
    layer="models/gpt.py",
    reading="A loss far above ln V at the start says that the logits begin too large. The sizes "
    "are the published checkpoints'.",
    then="`regard train shakespeare`.",
)
@exact()
def gpt_next_word() -> Measured:
    """Build GPT's two sizes and count; read random tokens with a small one as it begins."""
    with torch.device("meta"):
        first = language_model(_gpt(512, norm_order="post"), 40_478)
        second = language_model(_gpt(1024, norm_order="pre"), 50_257)
    one, two = count_parameters(first), count_parameters(second)
    small = ModelSettings(width=64, depth=2, feed_forward=128, dropout=0.0)
    model = language_model(small, 1000)
    ids = torch.randint(1000, (8, 64))
    with torch.no_grad():
        model.body.reading.table.mul_(0.02)  # GPT's tables begin at 0.02
        logits = model.head(model(ids[:, :-1]))
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).item()
    least = math.log(1000)
    return Measured(
        f"loss {loss:.3f} at the start, ln 1,000 = {least:.3f}; GPT-1 {one:,}, GPT-2 {two:,}",
        (
            Figure("loss at the start", loss, abs(loss - least) < 0.02),
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
    statement="A causal body cannot use what stands to the right of a word; BERT's can.",
    layer="layers/visibility.py",
    reading="Counted are words whose derivative is not zero.",
    then="right-context-trained measures what it costs where the evidence stands to the right.",
)
@exact()
def one_sided_cannot_see_right() -> Measured:
    """Ask by the Jacobian which words the fifth of nine states feels, one-sided and two-sided."""
    model = bert(settings(2, 24, 2), 37, pairs=False)
    felt = {}
    for name, visible in (("both", all_visible(9)), ("left", causal(9, 9))):
        entered = torch.randn(1, 9, 24, requires_grad=True)
        states = model.body.stack(entered, visible=visible)
        places = find_dependencies(states[0, 4].square().sum(), entered)
        felt[name] = sum(place > 4 for place in places)
    return Measured(
        f"of 4 words to the right, the causal body feels {felt['left']} and the two-sided one "
        f"{felt['both']}",
        (
            Figure("words to the right felt, causal", felt["left"], felt["left"] == 0),
            Figure("words to the right felt, two-sided", felt["both"], felt["both"] == 4),
        ),
    )
