"""``[training]``: budget, optimizer, schedule, regularization, evaluation."""

from typing import Annotated, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    PositiveFloat,
    field_validator,
    model_validator,
)

from regard.device import EXAMPLES, PATTERN
from regard.recipe.budget import parse_budget
from regard.recipe.settings import (
    Billions,
    Hundreds,
    Millions,
    NoneToHundreds,
    NoneToMillions,
    Refused,
    Settings,
)

Share = Annotated[float, Field(ge=0.0, lt=1.0)]


class AdamWSettings(Settings):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019)."""

    kind: Literal["adamw"] = "adamw"
    """The AdamW optimizer."""
    rate: PositiveFloat = 2e-3
    """Peak learning rate."""
    betas: tuple[Share, Share] = (0.9, 0.98)
    """Decay rates of the moving averages of the gradient and of its square (β₁, β₂)."""
    epsilon: PositiveFloat = 1e-9
    """Added to the denominator for numerical stability."""
    weight_decay: NonNegativeFloat = 0.01
    """Decoupled weight decay of the matrices."""


class AdamSettings(Settings):
    """Adam as in the 2017 paper: (0.9, 0.98, 1e-9), no weight decay."""

    kind: Literal["adam"]
    """The Adam optimizer."""
    rate: PositiveFloat = 1.0
    """Factor of the learning-rate schedule; with ``noam`` 1.0 is the paper's own rate."""
    betas: tuple[Share, Share] = (0.9, 0.98)
    """Decay rates of the moving averages of the gradient and of its square (β₁, β₂)."""
    epsilon: PositiveFloat = 1e-9
    """Added to the denominator for numerical stability."""


class MuonSettings(Settings):
    """Muon for the hidden matrices, AdamW for embeddings, norms and heads (Jordan 2024)."""

    kind: Literal["muon"]
    """Muon for the hidden matrices, AdamW for all other parameters."""
    rate: PositiveFloat = 0.02
    """Peak learning rate of the hidden matrices."""
    momentum: Share = 0.95
    """Momentum: decay rate of the moving average of the gradient."""
    newton_schulz_steps: Hundreds = 5
    """Newton-Schulz iterations that orthogonalise the update; computed in float32."""
    weight_decay: NonNegativeFloat = 0.01
    """Decoupled weight decay of the hidden matrices."""
    rest: AdamWSettings = AdamWSettings()


class SgdSettings(Settings):
    """SGD with sparse updates: an embedding changes only in the steps that use it."""

    kind: Literal["sgd"]
    """Stochastic gradient descent (SGD) without momentum."""
    rate: PositiveFloat = 1.0
    """Peak learning rate."""


AnyOptimizer = AdamWSettings | AdamSettings | MuonSettings | SgdSettings
Optimizer = Annotated[AnyOptimizer, Field(discriminator="kind")]


class ScheduleSettings(Settings):
    """The learning-rate schedule, as a function of progress from 0 to 1."""

    kind: Literal["linear", "cosine", "noam", "stable-decay", "constant"] = "linear"
    """Linear decay, cosine decay, inverse square root (Noam), constant then linear decay, or
    constant."""
    warmup: Share = 0.02
    """Share of the steps with linear warm-up from zero."""
    decay: Share = 0.5
    """``stable-decay`` only: share of the steps, at the end, in which the learning rate decays."""
    floor: Share = 0.0
    """Final learning rate as a share of the peak."""

    @model_validator(mode="after")
    def _check_decay(self) -> "ScheduleSettings":
        if self.kind == "stable-decay" and self.warmup + self.decay > 1.0:
            raise Refused(
                f"training.schedule.warmup = {self.warmup} and training.schedule.decay = "
                f"{self.decay} are shares of the same steps and add up to more than 1",
                f"With this warmup, decay is at most {round(1.0 - self.warmup, 6)}",
            )
        return self


class TrainingSettings(Settings):
    """Length of training, optimization, regularization, evaluation and checkpoints."""

    budget: str = "10 epochs"
    """How long to train: ``10 epochs``, ``5000 steps``, ``20M tokens`` or wall-clock time,
    ``15min``."""
    batch_tokens: Billions = 4096
    """Batch size: the maximum number of tokens in one step, padding included, counted on the longer
    side of a pair."""
    shards: Millions = 1
    """Gradient accumulation: number of micro-batches (a power of two) that a step is computed in,
    to need less memory."""
    label_smoothing: Share = 0.1
    """Label smoothing: share of the target's probability spread over the whole vocabulary."""
    softmax: Literal["full", "sampled"] = "full"
    """Language models: the full softmax, or a sampled softmax over the tokens of the step (Jean et
    al. 2015), which is faster with a large vocabulary; with shards, over the tokens of the shard.
    Evaluation always uses the full softmax."""
    class_weights: Literal["even", "balanced"] = "even"
    """Classification: weight every example equally, or every class equally (inverse class
    frequency)."""
    consistency: NonNegativeFloat = 0.0
    """R-Drop: weight of the KL divergence between two forward passes with different dropout;
    doubles the cost."""
    adversarial: NonNegativeFloat = 0.0
    """Labels: adversarial training (FGM, Miyato et al. 2017) with a second pass on perturbed
    states; the size of the perturbation relative to the states. 0.02 is usual. More than doubles
    the cost."""
    coverage: NonNegativeFloat = 0.0
    """With ``model.copying``: weight of the coverage loss, which penalises attending to the same
    source token again (See et al. 2017)."""
    clip: NonNegativeFloat = 1.0
    """Gradient clipping: the maximum norm of the gradient; 0 switches it off."""
    ema: Share = 0.0
    """Decay rate of an exponential moving average (EMA) of the parameters; 0 keeps none."""
    average: NoneToHundreds = 0
    """Checkpoint averaging: number of last checkpoints whose mean becomes the model; 0 takes the
    best or the last."""
    keep: Literal["last", "best"] = "last"
    """Which parameters become the model: the last, or those with the best score on ``valid``."""
    evaluations: Millions = 10
    """Number of evaluations on ``valid``, evenly spaced over the budget."""
    evaluate_first: bool = False
    """Whether to evaluate also before the first step."""
    checkpoints: Millions = 10
    """Number of checkpoints for ``--resume``, evenly spaced over the budget."""
    patience: NoneToMillions = 0
    """Early stopping: the number of evaluations without a better score after which training stops;
    0 never stops early."""
    threads: NoneToHundreds = 0
    """Number of CPU threads; 0 for one per core, or OMP_NUM_THREADS. Results are reproducible only
    with the same number. Two runs in parallel on two cores need 1 each: with 2 each they are ten
    times as slow."""
    device: Annotated[str, Field(pattern=PATTERN, examples=EXAMPLES)] = "auto"
    """Device to train on; ``auto`` takes the accelerator if there is one, else the CPU. A run may
    be resumed on another device: batches and random numbers stay the same, sums are rounded
    differently."""
    optimizer: Optimizer = AdamWSettings()
    schedule: ScheduleSettings = ScheduleSettings()

    @field_validator("budget")
    @classmethod
    def _check_budget(cls, budget: str) -> str:
        parse_budget(budget)
        return budget

    @field_validator("shards")
    @classmethod
    def _check_shards(cls, shards: int) -> int:
        if shards & (shards - 1):
            raise Refused(
                f"training.shards must be a power of two; {shards} is not",
                f"The next one is {1 << shards.bit_length()}",
            )
        return shards

    @model_validator(mode="after")
    def _check_one_selection(self) -> "TrainingSettings":
        if self.average and self.ema:
            raise Refused(
                f"training.average = {self.average} and training.ema = {self.ema} both average "
                "the parameters",
                "Set one of them to 0",
            )
        if self.average and self.keep == "best":
            raise Refused(
                f'training.keep = "best" and training.average = {self.average} both select '
                "the parameters of the model",
                'Set keep to "last" or average to 0',
            )
        return self
