"""Scores and heads in trained models (D0 Q3, D2 d, D4 Q4)."""

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.recipes import language_modelling, make_sentences
from regard.claims.table import draw_curves, tabulate
from regard.claims.transformer.translator import train_translator
from regard.claims.trials import run_trial
from regard.draw.bars import Bars
from regard.explain.heads.analysis import analyse

SIZES = {8: 8, 1: 64}
"""Number of heads and the key size of each at width 64."""


@claim(
    numbers=(4,),
    source="D4 Q4; Britz et al. 2017; Vaswani et al. 2017, §3.2.1",
    statement="For large keys additive attention outperforms the dot product without its scale.",
    layer="layers/attention.py",
    meaning="Losses after the same number of steps; lower is better. With the scale the dot "
    "product does not have this weakness.",
    next_step="Raise the width to 256 with one head.",
    slow=True,
)
def additive_or_dot_trained() -> Measurement:
    """Train a small language model with three scores at key sizes 8 and 64, 300 steps each.

    Two layers of width 64 with 8 heads or one; the loss on unseen sentences is compared.
    """
    files = {"train.txt": make_sentences(4000), "valid.txt": make_sentences(300, "valid")}
    losses = {}
    for heads, size in SIZES.items():
        for score in ("scaled-dot", "dot", "additive"):
            mixer = {"kind": "attention", "heads": heads, "score": score}
            run = run_trial(f"score-{score}-{size}", language_modelling(300, mixer=mixer), files)
            losses[score, size] = float(run.metrics["valid"]["metrics"]["loss"])
    gain = losses["dot", 64] - losses["additive", 64]
    return Measurement(
        f"at key size 64: additive {losses['additive', 64]:.3f}, dot {losses['dot', 64]:.3f}, "
        f"scaled {losses['scaled-dot', 64]:.3f}",
        (
            *tabulate("loss, {}, key size {}", losses),
            Figure("additive below unscaled dot at key size 64", gain, gain > 0),
        ),
        Bars("Loss per token", [(f"{one}, {size}", loss) for (one, size), loss in losses.items()]),
    )


@claim(
    numbers=(6,),
    source="D0 Q3, D2 d; Voita et al. 2019; Clark et al. 2019",
    statement="Different heads learn to attend to different things.",
    layer="explain/heads/analysis.py",
    meaning="Roles are counted against chance; pruning shows what heads contribute. In this small "
    "translator the cross-attention heads all align words; no self-attention head has a role that "
    "the probes know.",
    condition="cross-attention heads are compared with self-attention heads",
    next_step="`regard heads RUN` for a run of your own.",
    slow=True,
)
def heads_specialise() -> Measurement:
    """Probe every head of a small trained translator, and prune heads one after another.

    A head has a role (previous or next token, delimiter, rare word, alignment) if most of its
    attention maxima fit the role, twice as often as chance. The least important heads are pruned
    first.
    """
    found = analyse(train_translator(), split="valid")
    plays = [
        [role for role, one in roles.items() if one.has_role] for roles in found.roles.values()
    ]
    playing = sum(bool(roles) for roles in plays)
    kinds = sorted({role for roles in plays for role in roles})
    scores, random, pruned = found.pruning.scores, found.pruning.random, found.pruning.pruned
    half = len(scores) // 2
    return Measurement(
        f"{playing} of {len(plays)} heads have a role ({', '.join(kinds)}); without half of them "
        f"{found.metric} is {scores[half]:.1f} of {scores[0]:.1f}",
        (
            Figure("heads with a role", playing, playing > 0),
            Figure("all heads", len(plays)),
            Figure("different roles", len(kinds), len(kinds) > 1),
            Figure(f"{found.metric}, all heads", scores[0]),
            Figure(
                f"{found.metric}, {pruned[half]} heads pruned, least important first",
                scores[half],
            ),
            Figure(f"{found.metric}, {pruned[half]} heads pruned at random", random[half]),
        ),
        draw_curves(
            f"{found.metric} after pruning heads",
            "heads pruned",
            pruned,
            {"least important first": scores, "at random": random},
        ),
    )
