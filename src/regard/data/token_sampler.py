"""Places: single tokens of a whole corpus, so that a step takes few of each text and of many texts.

    place(n) = (offset + n · stride) mod tokens        stride ≈ tokens / golden ratio, coprime

Steps of the golden ratio spread any stretch of numbers evenly, so a step's tokens stand as far
apart as they can: in as many texts as there are. An epoch meets every token once; its offset is
drawn from (seed, purpose, epoch), and nothing has to be kept in memory or put in order.
"""

import math

import numpy as np
from numpy.typing import NDArray

from regard.data.stream import Place
from regard.randomness import Purpose, derive_generator

GOLDEN = (math.sqrt(5) - 1) / 2


class Places:
    """Steps without end over the tokens of a corpus; a number is a token's place in it.

    Args:
        tokens: How many tokens there are.
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

    def place(self, step: int) -> Place:
        """Which epoch a step stands in, and where."""
        return Place(*divmod(step, self.steps_per_epoch))

    def __getitem__(self, step: int) -> NDArray[np.int64]:
        """Places of one step."""
        epoch, within = self.place(step)
        offset = int(derive_generator(self.seed, Purpose.EPOCH_OFFSET, epoch).integers(self.tokens))
        numbers = np.arange(within * self.rows, min((within + 1) * self.rows, self.tokens))
        return (offset + numbers * self.stride) % self.tokens

    def share(self, step: int, *, shard: int, shards: int) -> NDArray[np.int64]:
        """Places of one step that fall to one shard: every ``shards``-th."""
        return self[step][shard::shards]
