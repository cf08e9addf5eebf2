"""Sampling single tokens of a corpus, so that a batch has few tokens of each text and many texts.

    index(n) = (offset + n · stride) mod tokens        stride ≈ tokens / golden ratio, coprime

Multiples of the golden ratio are evenly spread (a low-discrepancy sequence), so the tokens of a
batch are from as many texts as possible. An epoch visits every token once; its offset is drawn from
(seed, purpose, epoch), so no permutation has to be stored.
"""

import math

import numpy as np
from numpy.typing import NDArray

from regard.data.stream import StepPosition
from regard.randomness import Purpose, derive_generator

GOLDEN = (math.sqrt(5) - 1) / 2


class TokenSampler:
    """Endless steps over the tokens of a corpus; a number is the index of a token.

    Args:
        tokens: Number of tokens.
        seed: Offsets are derived from it.
        batch_tokens: Tokens of one step.

    """

    def __init__(self, tokens: int, *, seed: int, batch_tokens: int) -> None:
        self.tokens, self.seed = tokens, seed
        self.rows = min(batch_tokens, tokens)
        self.steps_per_epoch = -(-tokens // self.rows)
        self.stride = max(1, round(tokens * GOLDEN))
        while math.gcd(self.stride, tokens) > 1:
            self.stride += 1

    def locate(self, step: int) -> StepPosition:
        """Return the epoch of a step, and its number there."""
        return StepPosition(*divmod(step, self.steps_per_epoch))

    def __getitem__(self, step: int) -> NDArray[np.int64]:
        """Return the token indices of one step."""
        epoch, within = self.locate(step)
        offset = int(derive_generator(self.seed, Purpose.EPOCH_OFFSET, epoch).integers(self.tokens))
        numbers = np.arange(within * self.rows, min((within + 1) * self.rows, self.tokens))
        return (offset + numbers * self.stride) % self.tokens

    def select_shard(self, step: int, *, shard: int, shards: int) -> NDArray[np.int64]:
        """Return the indices of one step that belong to one shard: every ``shards``-th."""
        return self[step][shard::shards]
