"""Masked words: what BERT's pretraining does to a text (D0 Q8, D4 Q5, D2 g)."""

import numpy as np

from regard.data.corruption import choose_tokens, corrupt, find_maskable
from regard.mechanisms.mechanism import (
    Attempt,
    Marked,
    Mechanism,
    Panel,
    Slider,
    Switch,
    Table,
    Words,
)
from regard.text.special import MASK, SPECIAL

DRAWS = 400  # for the table of frequencies


def _compute(
    words: list[str], share: int, masked: int, replaced: int, draw: int, leaves_out: bool
) -> list[Panel]:
    replaced = min(replaced, 100 - masked)
    vocabulary = sorted(set(words))
    number = {word: len(SPECIAL) + place for place, word in enumerate(vocabulary)}
    ids = np.array([[number[word] for word in words]])
    parts = (masked / 100, replaced / 100, 1 - (masked + replaced) / 100)
    rng = np.random.default_rng(draw)
    chosen = choose_tokens(find_maskable(ids), share=share / 100, rng=rng)
    tokens = len(SPECIAL) + len(vocabulary)
    changed = corrupt(ids, chosen, masked_as=parts, tokens=tokens, rng=rng)
    shown = []
    for place, word in enumerate(words):
        new = int(changed[0, place])
        if not chosen[0, place]:
            shown.append((word, ""))
        elif new == MASK:
            shown.append((SPECIAL[MASK], "masked"))
        else:
            now = vocabulary[new - len(SPECIAL)]
            shown.append((now, "kept" if now == word else "replaced"))
    asked = [(word, "asked" if chosen[0, place] else "") for place, word in enumerate(words)]
    panels: list[Panel] = [
        Marked("What the model reads", shown, "Colour: what happened to a chosen token."),
        Marked("What it is asked for", asked, "The loss counts the marked tokens and no others."),
    ]
    if leaves_out:
        left = [(f"{place}:{word}", "") for place, word in enumerate(words) if not chosen[0, place]]
        panels.append(
            Marked(
                "What the encoder of a masked autoencoder reads",
                left,
                "The chosen tokens are left out; a light decoder gets [MASK] and the position of "
                "each. Without the position it could not tell which one is asked for.",
            )
        )
    panels.append(_count(ids, share / 100, parts, tokens))
    return panels


def _count(ids: np.ndarray, share: float, parts: tuple[float, float, float], tokens: int) -> Table:
    rng = np.random.default_rng(1)
    many = np.repeat(ids, DRAWS, axis=0)
    chosen = choose_tokens(find_maskable(many), share=share, rng=rng)
    changed = corrupt(many, chosen, masked_as=parts, tokens=tokens, rng=rng)
    total = int(chosen.sum())
    hidden = int((chosen & (changed == MASK)).sum())
    other = int((chosen & (changed != MASK) & (changed != many)).sum())
    rows = [
        ["chosen, of all tokens", f"{share:.0%}", f"{total / many.size:.1%}"],
        ["[MASK], of the chosen", f"{parts[0]:.0%}", f"{hidden / total:.1%}"],
        ["another token", f"{parts[1]:.0%}", f"{other / total:.1%}"],
        ["unchanged", f"{parts[2]:.0%}", f"{(total - hidden - other) / total:.1%}"],
    ]
    note = "A random token may be the token itself, most often in so small a vocabulary."
    return Table(f"Counted over {DRAWS} draws", ["", "wanted", "counted"], rows, note)


MASKED_WORDS = Mechanism(
    _compute,
    name="masked-words",
    title="Masked words",
    source="D2 g, D4 Q5; Devlin et al. 2019, §3.1",
    equation="15% of the tokens are chosen; of these 80% [MASK], 10% random, 10% unchanged",
    text=(
        "BERT learns by filling gaps: some tokens are chosen, most of them are replaced by [MASK], "
        "and the model predicts what stood there, from the words on both sides. Since [MASK] never "
        "occurs later, some of the chosen tokens are replaced by others or left as they are.",
        "The content is hidden, the position is not: a masked autoencoder that did not know where "
        "the gaps are could only guess by frequency.",
    ),
    controls=(
        Words(
            "words",
            "Text",
            "the quick brown fox jumps over the lazy dog near the old stone bridge",
            40,
        ),
        Slider("share", "Chosen, %", 15, 1, 90),
        Slider("masked", "of these [MASK], %", 80, 0, 100, 5),
        Slider("replaced", "of these random, %", 10, 0, 100, 5),
        Slider("draw", "Draw", 1, 1, 999),
        Switch("leaves_out", "Masked autoencoder"),
    ),
    attempts=(
        Attempt("Draw again: other tokens.", {"draw": "2"}),
        Attempt("Half of the text.", {"share": "50"}),
        Attempt("Always [MASK].", {"masked": "100", "replaced": "0", "share": "30"}),
        Attempt("Leave the chosen tokens out.", {"leaves_out": "on", "share": "50"}),
    ),
    claims=("masked-words", "masks-lose-their-position", "autoencoder-blind", "masked-as-trained"),
    layer="data/corruption.py",
)
