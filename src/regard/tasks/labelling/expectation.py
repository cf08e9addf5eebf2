"""What to expect of a training: the baseline's score, before a network is trained."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from regard.tasks.baselines.labels import Extract, learn, logits_of
from regard.tasks.baselines.linear_model import LinearModel
from regard.tasks.labelling.labels import Labels
from regard.tasks.scores import format_score
from regard.tasks.task import Texts

MOST, FEWEST = 1000, 25  # texts
HELD_OUT = 5  # every fifth text


def describe_expectation(labels: Labels, extract: Extract, found: Sequence[Texts]) -> str:
    """Learn the baseline from four fifths of some texts and score it on the others."""
    order = np.random.default_rng(0).permutation(len(found))[:MOST]
    if len(order) < FEWEST:
        return f"{len(order)} texts are too few to expect anything."
    rest = [found[at] for place, at in enumerate(order) if place % HELD_OUT]
    held = [found[at] for at in order[::HELD_OUT]]
    model = LinearModel.load(learn(labels, lambda: iter(rest), extract))
    written = [example[-1] for example in held]
    logits = logits_of(model, labels, extract, [example[:-1] for example in held])
    score = format_score(labels.metric, labels.score(logits, written)[labels.metric])
    said = (
        f"the n-gram baseline, learned from {len(rest):,} texts, has {labels.metric} {score} on "
        f"{len(held):,} others"
    )
    if labels.exclusive:
        common, _ = Counter(example[-1] for example in rest).most_common(1)[0]
        share = sum(one == common for one in written) / len(written)
        said += f", always answering {common!r} {share:.1%}"
    return f"{said}. More texts give more; a network from scratch rarely adds much to few texts."
