"""``[training]``: how long, how fast, how carefully."""

from typing import Annotated, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    field_validator,
    model_validator,
)

from regard.device import EXAMPLES, PATTERN
from regard.recipe.budget import parse_budget
from regard.recipe.settings import Refused, Settings

Share = Annotated[float, Field(ge=0.0, lt=1.0)]


class AdamWSettings(Settings):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019)."""

    kind: Literal["adamw"] = "adamw"
    """Step by AdamW alone."""
    rate: PositiveFloat = 2e-3
    """The highest learning rate."""
    betas: tuple[Share, Share] = (0.9, 0.98)
    """How slowly the running means of the gradient and of its square forget."""
    epsilon: PositiveFloat = 1e-9
    """Keeps the division finite."""
    weight_decay: NonNegativeFloat = 0.01
    """How strongly matrices are pulled to zero each step."""


class AdamSettings(Settings):
    """Adam as in the 2017 paper: (0.9, 0.98, 1e-9), no weight decay."""

    kind: Literal["adam"]
    """Step by Adam."""
    rate: PositiveFloat = 1.0
    """Multiplies the schedule; with ``noam`` 1.0 is the paper's own rate."""
    betas: tuple[Share, Share] = (0.9, 0.98)
    """How slowly the running means of the gradient and of its square forget."""
    epsilon: PositiveFloat = 1e-9
    """Keeps the division finite."""


class MuonSettings(Settings):
    """Muon on the matrices between layers, AdamW on tables, norms and heads (Jordan 2024)."""

    kind: Literal["muon"]
    """Step by Muon, with AdamW for what is no hidden matrix."""
    rate: PositiveFloat = 0.02
    """The highest learning rate of the hidden matrices."""
    momentum: Share = 0.95
    """How slowly the running mean of the gradient forgets."""
    newton_schulz_steps: PositiveInt = 5
    """Steps of the iteration that makes the update orthogonal; done in float32."""
    weight_decay: NonNegativeFloat = 0.01
    """How strongly matrices are pulled to zero each step."""
    rest: AdamWSettings = AdamWSettings()


class SgdSettings(Settings):
    """Plain steps against the gradient; a table moves only where it was read."""

    kind: Literal["sgd"]
    """Step by the gradient itself."""
    rate: PositiveFloat = 1.0
    """The highest learning rate."""


AnyOptimizer = AdamWSettings | AdamSettings | MuonSettings | SgdSettings
Optimizer = Annotated[AnyOptimizer, Field(discriminator="kind")]


class ScheduleSettings(Settings):
    """How the learning rate moves, as a function of progress from 0 to 1."""

    kind: Literal["linear", "cosine", "noam", "stable-decay", "constant"] = "linear"
    """The shape: down a line, down a cosine, inverse square root, flat then down, or flat."""
    warmup: Share = 0.02
    """Share of the steps during which the rate climbs from zero."""
    decay: Share = 0.5
    """``stable-decay`` only: share of the steps, at the end, during which the rate falls."""
    floor: Share = 0.0
    """The share of the highest rate that is left at the end."""

    @model_validator(mode="after")
    def _decay_is_asked_for(self) -> "ScheduleSettings":
        if self.kind == "stable-decay" and self.warmup + self.decay > 1.0:
            raise Refused(
                f"training.schedule.warmup = {self.warmup} and training.schedule.decay = "
                f"{self.decay} are shares of the same steps and add up to more than 1",
                f"With this warmup, decay is at most {round(1.0 - self.warmup, 6)}",
            )
        return self


class TrainingSettings(Settings):
    """How long, how fast, how carefully."""

    budget: str = "10 epochs"
    """How long to train: ``10 epochs``, ``5000 steps``, ``20M tokens`` or wall time, ``15min``."""
    batch_tokens: PositiveInt = 4096
    """Most tokens in one step, padding included, counted on the longer side of a pair."""
    shards: PositiveInt = 1
    """Parts each step is cut into (a power of two), taken one after another to need less memory."""
    label_smoothing: Share = 0.1
    """Share of the target's probability spread over the whole vocabulary."""
    softmax: Literal["full", "sampled"] = "full"
    """Language models: whether a token is told from all that can be written or, faster where the
    vocabulary is large, from those that its own step asks for (Jean et al. 2015); cut into shards,
    those of its shard, so that their number matters. Scores are always over all."""
    class_weights: Literal["even", "balanced"] = "even"
    """Classification: whether every example counts the same, or every label in sum."""
    consistency: NonNegativeFloat = 0.0
    """R-Drop: how much two passes with different dropout are drawn together; doubles the cost."""
    adversarial: NonNegativeFloat = 0.0
    """Labels: how far each text's states are pushed, as a share of their size, to where the label
    suffers most, for a second pass that must be right as well (Miyato et al. 2017); 0.02 is usual.
    More than doubles the cost."""
    coverage: NonNegativeFloat = 0.0
    """With ``model.copying``: weight of the loss on pointing again at what was pointed at before
    (See et al. 2017)."""
    clip: NonNegativeFloat = 1.0
    """The longest gradient taken as it is; longer ones are shortened. 0 switches it off."""
    ema: Share = 0.0
    """How slowly the averaged copy of the parameters forgets; 0 keeps no copy."""
    average: NonNegativeInt = 0
    """Number of last checkpoints whose mean becomes the model; 0 takes the best or the last."""
    keep: Literal["last", "best"] = "last"
    """Which parameters become the model: the last, or the best on ``valid`` by its metric."""
    evaluations: PositiveInt = 10
    """How often, spread evenly over the budget, the model is measured on ``valid``."""
    evaluate_first: bool = False
    """Whether it is also measured before its first step."""
    checkpoints: PositiveInt = 10
    """How often, spread evenly over the budget, everything is saved for ``--resume``."""
    patience: NonNegativeInt = 0
    """Stop after this many evaluations without a better score; 0 never stops early."""
    threads: NonNegativeInt = 0
    """Processor threads to compute with; 0 for one on each core, or what OMP_NUM_THREADS says.
    Part of what makes a run repeatable. Two runs at once on two cores want 1 each: with 2 each
    they wait for one another, and are ten times as slow."""
    device: Annotated[str, Field(pattern=PATTERN, examples=EXAMPLES)] = "auto"
    """Where to train; ``auto`` takes the accelerator if there is one, else the processor. A run may
    be resumed on another device: batches and random numbers stay the same, sums are rounded
    differently."""
    optimizer: Optimizer = AdamWSettings()
    schedule: ScheduleSettings = ScheduleSettings()

    @field_validator("budget")
    @classmethod
    def _budget_is_a_length(cls, budget: str) -> str:
        parse_budget(budget)
        return budget

    @field_validator("shards")
    @classmethod
    def _shards_halve(cls, shards: int) -> int:
        if shards & (shards - 1):
            raise Refused(
                f"training.shards must be a power of two; {shards} is not",
                f"The next one is {1 << shards.bit_length()}",
            )
        return shards

    @model_validator(mode="after")
    def _one_way_to_choose(self) -> "TrainingSettings":
        if self.average and self.ema:
            raise Refused(
                f"training.average = {self.average} and training.ema = {self.ema} are two ways to "
                "average the same parameters",
                "Set one of them to 0",
            )
        if self.average and self.keep == "best":
            raise Refused(
                f'training.keep = "best" and training.average = {self.average} both say which '
                "weights become the model",
                'Set keep to "last" or average to 0',
            )
        return self
