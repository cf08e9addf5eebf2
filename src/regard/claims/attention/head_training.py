"""What scores and heads come to in training (D0 Q3, D2 d, D4 Q4)."""

from regard.claims.claim import Figure, Measured, claim
from regard.claims.recipes import language_modelling, sentences
from regard.claims.table import draw_curves, tabulate
from regard.claims.transformer.translator import translator
from regard.claims.trials import trial
from regard.draw.bars import Bars
from regard.explain.heads.analysis import analyse

SIZES = {8: 8, 1: 64}
"""Heads, and the key size that is left to each at width 64."""


@claim(
    numbers=(4,),
    source="D4 Q4; Britz et al. 2017; Vaswani et al. 2017, §3.2.1",
    statement="For large keys additive attention outperforms the dot product without its scale.",
    layer="layers/attention.py",
    reading="Losses after the same number of steps: lower is better. With the scale the dot "
    "product "
    "has no such weakness.",
    then="Raise the width to 256 with one head.",
    slow=True,
)
def additive_or_dot_trained() -> Measured:
    """Train a small language model with three scores, at key sizes 8 and 64, 300 steps each.

    Two layers of width 64 with 8 heads or with one; compared is the loss on unseen sentences.
    """
    files = {"train.txt": sentences(4000), "valid.txt": sentences(300, "valid")}
    losses = {}
    for heads, size in SIZES.items():
        for score in ("scaled-dot", "dot", "additive"):
            mixer = {"kind": "attention", "heads": heads, "score": score}
            run = trial(f"score-{score}-{size}", language_modelling(300, mixer=mixer), files)
            losses[score, size] = float(run.metrics["valid"]["metrics"]["loss"])
    gain = losses["dot", 64] - losses["additive", 64]
    return Measured(
        f"at key size 64: additive {losses['additive', 64]:.3f}, dot {losses['dot', 64]:.3f}, "
        "scaled "
        f"{losses['scaled-dot', 64]:.3f}",
        (
            *tabulate("loss, {}, key size {}", losses),
            Figure("additive below unscaled dot at key size 64", gain, gain > 0),
        ),
        Bars("Loss per token", [(f"{one}, {size}", loss) for (one, size), loss in losses.items()]),
    )


@claim(
    numbers=(6,),
    source="D0 Q3, D2 d; Voita et al. 2019; Clark et al. 2019",
    statement="Different heads learn to look at different things.",
    layer="explain/heads/analysis.py",
    reading="Roles are counted against chance. What heads are worth shows when they are dropped. "
    "In this small translator the heads that look across align words, all alike; of those that "
    "look at their own text none has a role that the probes know.",
    condition="heads that look across are set beside those that look at their own text",
    then="`regard heads RUN` for a run of your own.",
    slow=True,
)
def heads_specialise() -> Measured:
    """Look at every head of a small trained translator, and drop heads one after another.

    A head plays a role (previous or next token, delimiter, rare word, alignment) if most of its
    strongest looks do, twice as often as chance. Pruned are the least important heads first.
    """
    found = analyse(translator(), split="valid")
    plays = [
        [role for role, one in roles.items() if one.has_role] for roles in found.roles.values()
    ]
    playing = sum(bool(roles) for roles in plays)
    kinds = sorted({role for roles in plays for role in roles})
    scores, random, pruned = found.pruning.scores, found.pruning.random, found.pruning.pruned
    half = len(scores) // 2
    return Measured(
        f"{playing} of {len(plays)} heads play a role ({', '.join(kinds)}); without half of them "
        f"{found.metric} is {scores[half]:.1f} of {scores[0]:.1f}",
        (
            Figure("heads that play a role", playing, playing > 0),
            Figure("heads in all", len(plays)),
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
