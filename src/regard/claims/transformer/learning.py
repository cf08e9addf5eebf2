"""How it learns: smoothed labels, the schedule, Adam, dropout, averages (D0; the paper's §5)."""

from math import isclose

import numpy as np
import torch
from torch import nn

from regard.claims.claim import Curves, Figure, Measured, claim
from regard.claims.precision import difference, exact
from regard.claims.table import tabulate
from regard.data.stream import Stream
from regard.draw.chart import Line
from regard.layers.dropout import Dropout, keyed
from regard.layers.pooling import Mean
from regard.models.body import all_visible
from regard.models.heads import LabelHead
from regard.recipe.training import AdamSettings, ScheduleSettings
from regard.tasks.losses import cross_entropy
from regard.training.schedule import rate_factor

SMOOTHING = 0.1
PEAK, PEAK_128 = (512 * 4000) ** -0.5, (128 * 2000) ** -0.5


@claim(
    numbers=(33,),
    source="D0; Szegedy et al. 2016; Vaswani et al. 2017, §5.4",
    statement="With smoothed labels the loss cannot reach 0: its least value is the entropy of the "
    "smoothed target.",
    layer="tasks/losses.py",
    reading="A loss of 1.16 with 4,000 tokens is perfect. Being certain and right costs more than "
    "that: smoothing forbids certainty.",
    then="label-smoothing-trained measures what it does to perplexity and BLEU.",
)
@exact()
def label_smoothing_floor() -> Measured:
    """Give the loss the very distribution it asks for, at vocabularies of 4,000 and 37,000.

    Logits are the logarithms of the smoothed target; nothing can lose less.
    """
    floors, above = {}, {}
    for tokens in (4000, 37000):
        target = torch.full((1, tokens), SMOOTHING / tokens)
        target[0, 0] += 1 - SMOOTHING
        right = torch.zeros(1, dtype=torch.long)
        floors[tokens] = cross_entropy(target.log(), right, smoothing=SMOOTHING).smoothed.item()
        certain = torch.zeros(1, tokens)
        certain[0, 0] = 100.0
        above[tokens] = cross_entropy(certain, right, smoothing=SMOOTHING).smoothed.item()
    return Measured(
        f"{floors[4000]:.3f} nats at 4,000 tokens and {floors[37000]:.3f} at 37,000",
        (
            *tabulate(
                "least loss, {:,} tokens",
                floors,
                lambda loss: loss > 0.5,
                given={4000: 1.154, 37000: 1.377},
                within=1e-3,
            ),
            Figure(
                "loss of being certain and right, 4,000", above[4000], above[4000] > floors[4000]
            ),
        ),
    )


@claim(
    numbers=(34,),
    source="D0; Vaswani et al. 2017, eq. 3",
    statement="The rate climbs through the warm-up to a peak of (width · warm-up)^-½ and "
    "falls with "
    "the root of the step.",
    layer="training/schedule.py",
    reading="Both peaks are the formula's, at the last step of the warm-up.",
    then="`regard recipe explain training.schedule` lists the other shapes.",
)
def schedule_peak() -> Measured:
    """Walk the schedule step by step and find its peak.

    Width 512 with 4,000 steps of warm-up, and width 128 with 2,000.
    """
    settings = ScheduleSettings(kind="noam", warmup=0.1)
    peaks, curves = {}, []
    for width, warmup in ((512, 4000), (128, 2000)):
        steps = 10 * warmup
        rates = [rate_factor(settings, step, steps, width=width) for step in range(steps)]
        best = int(np.argmax(rates))
        peaks[width] = (rates[best], best + 1)
        curves.append(
            Line(f"width {width}, warm-up {warmup:,}", range(0, steps, 100), rates[::100])
        )
    (high, at), (higher, at_other) = peaks[512], peaks[128]
    return Measured(
        f"peaks of {high:.3g} at step {at:,} and {higher:.3g} at step {at_other:,}",
        (
            Figure("peak at width 512, warm-up 4,000", high, isclose(high, PEAK), 6.99e-4, 1e-3),
            Figure("its step", at, at == 4000),
            Figure(
                "peak at width 128, warm-up 2,000", higher, isclose(higher, PEAK_128), 1.98e-3, 3e-3
            ),
            Figure("its step there", at_other, at_other == 2000),
        ),
        Curves("Learning rate", "step", tuple(curves)),
    )


@claim(
    numbers=(35,),
    source="D0; Vaswani et al. 2017, §5.1, §5.3, §5.4",
    statement="Adam with 0.9, 0.98 and 1e-9, dropout 0.1, batches of 25,000 tokens a side.",
    layer="recipe/training.py",
    reading="Dropout's share is rounded to 1/256, so 0.1 silences 26 in 256; the mean is kept. "
    "Batches are filled with sentences of like length.",
    then='Write optimizer = { kind = "adam" } and schedule = { kind = "noam" } into a recipe.',
)
def adam_dropout_batches() -> Measured:
    """Read the recipe's Adam as it stands when only its kind is named.

    Also, drop out a million numbers, and fill batches of 25,000 tokens with sentences of 1 to 60.
    """
    adam = AdamSettings(kind="adam")
    named = (*adam.betas, adam.epsilon) == (0.9, 0.98, 1e-9)
    layer = Dropout(0.1).train()
    with keyed(0):
        dropped = layer(torch.ones(1000, 1000))
    share, mean = (dropped == 0).double().mean().item(), dropped.double().mean().item()
    lengths = np.random.default_rng(0).integers(1, 61, size=(20_000, 1))
    stream = Stream(_Lengths(lengths), seed=0, batch_tokens=25_000)
    filled = [_tokens(lengths, stream[step]) for step in range(stream.steps_per_epoch - 1)]
    fill = float(np.mean(filled)) / 25_000
    return Measured(
        f"Adam {adam.betas[0]:g}, {adam.betas[1]:g}, {adam.epsilon:g}; dropout silences "
        f"{share:.2%}; "
        f"batches are {fill:.0%} full",
        (
            Figure("Adam's three numbers are the paper's", int(named), named),
            Figure("share silenced by dropout 0.1", share, abs(share - 0.1) < 1 / 256),
            Figure("mean of what is left", mean, abs(mean - 1) < 0.005),
            Figure("share of 25,000 tokens filled", fill, fill > 0.9),
        ),
    )


class _Lengths:
    """Sentences of which only the lengths are known, as a stream asks for them."""

    def __init__(self, lengths: np.ndarray) -> None:
        self._lengths = lengths

    def __len__(self) -> int:
        return len(self._lengths)

    def lengths(self, numbers: np.ndarray) -> np.ndarray:
        return self._lengths[numbers]


def _tokens(lengths: np.ndarray, numbers: np.ndarray) -> int:
    return int(lengths[numbers].max() * len(numbers))


@claim(
    numbers=(37,),
    source="D0; Vaswani et al. 2017, §6.1",
    statement="Averaging the parameters of the last checkpoints averages what the linear parts "
    "answer.",
    layer="models/heads.py",
    reading="Exact for a linear head. For whole networks an average is a bet that the checkpoints "
    "lie near each other.",
    then="translation-concludes measures BLEU before and after averaging.",
)
@exact()
def checkpoint_averaging() -> Measured:
    """Average five heads, and five two-layer networks, and compare with the mean of their answers.

    A linear head's average answers the mean exactly; a network's does not.
    """
    states = torch.randn(3, 7, 16)
    heads = [LabelHead(Mean(), 16, 5) for _ in range(5)]
    networks = [nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 5)) for _ in range(5)]
    linear = _gap(heads, lambda head: head(states, visible=all_visible(7)))
    bent = _gap(networks, lambda network: network(states))
    return Measured(
        f"averaged linear heads miss the mean answer by {linear:.0e}, averaged networks by "
        f"{bent:.2f}",
        (
            Figure("difference, linear heads", linear, linear < 1e-14),
            Figure("difference, two-layer networks", bent),
        ),
    )


def _gap(models, answer) -> float:  # type: ignore[no-untyped-def]  # noqa: ANN001
    answers = torch.stack([answer(model) for model in models]).mean(dim=0)
    average = models[0]
    states = [model.state_dict() for model in models]
    mean = {name: torch.stack([state[name] for state in states]).mean(dim=0) for name in states[0]}
    average.load_state_dict(mean)
    return difference(answer(average), answers)
