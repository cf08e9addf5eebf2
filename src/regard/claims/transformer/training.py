"""Training: label smoothing, schedule, Adam, dropout, averaging (D0; the paper's §5)."""

from collections.abc import Callable, Sequence
from math import isclose
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from regard.claims.claim import Curves, Figure, Measurement, claim
from regard.claims.precision import difference, exact
from regard.claims.table import tabulate
from regard.data.stream import Stream
from regard.draw.chart import Curve
from regard.layers.dropout import Dropout, keyed
from regard.layers.pooling import Mean
from regard.models.body import all_visible
from regard.models.heads import LabelHead
from regard.recipe.training import AdamSettings, ScheduleSettings
from regard.tasks.losses import cross_entropy
from regard.training.schedule import rate_factor

M = TypeVar("M", bound=nn.Module)
SMOOTHING = 0.1
PEAK, PEAK_128 = (512 * 4000) ** -0.5, (128 * 2000) ** -0.5


@claim(
    numbers=(33,),
    source="D0; Szegedy et al. 2016; Vaswani et al. 2017, §5.4",
    statement="With label smoothing the loss cannot reach 0: its minimum is the entropy of the "
    "smoothed target.",
    layer="tasks/losses.py",
    meaning="A loss of 1.16 with 4,000 tokens is perfect. Being certain and right costs more than "
    "that: smoothing penalises certainty.",
    next_step="label-smoothing-trained measures what it does to perplexity and BLEU.",
)
@exact()
def label_smoothing_floor() -> Measurement:
    """Evaluate the loss at the smoothed target itself, for vocabularies of 4,000 and 37,000.

    The logits are the logarithms of the smoothed target; no prediction has a lower loss.
    """
    floors, certain_losses = {}, {}
    for tokens in (4000, 37000):
        target = torch.full((1, tokens), SMOOTHING / tokens)
        target[0, 0] += 1 - SMOOTHING
        right = torch.zeros(1, dtype=torch.long)
        floors[tokens] = cross_entropy(target.log(), right, smoothing=SMOOTHING).smoothed.item()
        certain = torch.zeros(1, tokens)
        certain[0, 0] = 100.0
        certain_losses[tokens] = cross_entropy(certain, right, smoothing=SMOOTHING).smoothed.item()
    return Measurement(
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
                "loss of a certain, correct prediction, 4,000",
                certain_losses[4000],
                certain_losses[4000] > floors[4000],
            ),
        ),
    )


@claim(
    numbers=(34,),
    source="D0; Vaswani et al. 2017, eq. 3",
    statement="The learning rate rises during warm-up to a peak of (width · warm-up)^-½ and falls "
    "with the square root of the step.",
    layer="training/schedule.py",
    meaning="Both peaks equal the formula, at the last step of the warm-up.",
    next_step="`regard recipe explain training.schedule` lists the other schedules.",
)
def schedule_peak() -> Measurement:
    """Evaluate the schedule step by step and find its peak.

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
            Curve(f"width {width}, warm-up {warmup:,}", range(0, steps, 100), rates[::100])
        )
    (high, at), (higher, at_other) = peaks[512], peaks[128]
    return Measurement(
        f"peaks of {high:.3g} at step {at:,} and {higher:.3g} at step {at_other:,}",
        (
            Figure("peak at width 512, warm-up 4,000", high, isclose(high, PEAK), 6.99e-4, 1e-3),
            Figure("step of the peak at width 512", at, at == 4000),
            Figure(
                "peak at width 128, warm-up 2,000", higher, isclose(higher, PEAK_128), 1.98e-3, 3e-3
            ),
            Figure("step of the peak at width 128", at_other, at_other == 2000),
        ),
        Curves("Learning rate", "step", tuple(curves)),
    )


@claim(
    numbers=(35,),
    source="D0; Vaswani et al. 2017, §5.1, §5.3, §5.4",
    statement="Adam with 0.9, 0.98 and 1e-9, dropout 0.1, batches of 25,000 tokens a side.",
    layer="recipe/training.py",
    meaning="Dropout's rate is rounded to 1/256, so 0.1 drops 26 in 256; the mean is preserved. "
    "Batches are filled with sentences of similar length.",
    next_step='Write optimizer = { kind = "adam" } and schedule = { kind = "noam" } into a recipe.',
)
def adam_dropout_batches() -> Measurement:
    """Read the defaults of the recipe's Adam when only its kind is named.

    Also, apply dropout to a million numbers, and fill batches of 25,000 tokens with sentences of 1
    to 60.
    """
    adam = AdamSettings(kind="adam")
    named = (*adam.betas, adam.epsilon) == (0.9, 0.98, 1e-9)
    layer = Dropout(0.1).train()
    with keyed(0):
        dropped = layer(torch.ones(1000, 1000))
    share, mean = (dropped == 0).double().mean().item(), dropped.double().mean().item()
    lengths = np.random.default_rng(0).integers(1, 61, size=(20_000, 1))
    stream = Stream(_Lengths(lengths), seed=0, batch_tokens=25_000)
    filled = [_count_tokens(lengths, stream[step]) for step in range(stream.steps_per_epoch - 1)]
    fill = float(np.mean(filled)) / 25_000
    return Measurement(
        f"Adam {adam.betas[0]:g}, {adam.betas[1]:g}, {adam.epsilon:g}; dropout drops "
        f"{share:.2%}; "
        f"batches are {fill:.0%} full",
        (
            Figure("Adam's three numbers are the paper's", int(named), named),
            Figure("share dropped at rate 0.1", share, abs(share - 0.1) < 1 / 256),
            Figure("mean after dropout", mean, abs(mean - 1) < 0.005),
            Figure("share of 25,000 tokens filled", fill, fill > 0.9),
        ),
    )


class _Lengths:
    """Sentences known by their lengths only, as a stream needs them."""

    def __init__(self, lengths: np.ndarray) -> None:
        self._lengths = lengths

    def __len__(self) -> int:
        return len(self._lengths)

    def lengths(self, numbers: np.ndarray) -> np.ndarray:
        return self._lengths[numbers]


def _count_tokens(lengths: np.ndarray, numbers: np.ndarray) -> int:
    return int(lengths[numbers].max() * len(numbers))


@claim(
    numbers=(37,),
    source="D0; Vaswani et al. 2017, §6.1",
    statement="Averaging the parameters of the last checkpoints averages the outputs of the "
    "linear parts.",
    layer="models/heads.py",
    meaning="Exact for a linear head. For whole networks averaging works only if the checkpoints "
    "are close to each other.",
    next_step="end-to-end-translation measures BLEU before and after averaging.",
)
@exact()
def checkpoint_averaging() -> Measurement:
    """Average five heads, and five two-layer networks, and compare with the mean of their outputs.

    The average of linear heads equals the mean output exactly; that of networks does not.
    """
    states = torch.randn(3, 7, 16)
    heads = [LabelHead(Mean(), 16, 5) for _ in range(5)]
    networks = [nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 5)) for _ in range(5)]
    linear = _compare_average(heads, lambda head: head(states, visible=all_visible(7)))
    nonlinear = _compare_average(networks, lambda network: network(states))
    return Measurement(
        f"averaged linear heads differ from the mean output by {linear:.0e}, networks by "
        f"{nonlinear:.2f}",
        (
            Figure("difference, linear heads", linear, linear < 1e-14),
            Figure("difference, two-layer networks", nonlinear),
        ),
    )


def _compare_average(models: Sequence[M], answer: Callable[[M], Tensor]) -> float:
    answers = torch.stack([answer(model) for model in models]).mean(dim=0)
    average = models[0]
    states = [model.state_dict() for model in models]
    mean = {name: torch.stack([state[name] for state in states]).mean(dim=0) for name in states[0]}
    average.load_state_dict(mean)
    return difference(answer(average), answers)
