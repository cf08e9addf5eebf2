"""A model whose every probability is known: random logits for every (source, prefix)."""

import math
import random
from itertools import product

import torch

from regard.decoding.steps import Limits

BEGIN, END, PAD = 0, 1, 2


class Toy:
    """Steps over tables: ``logits(source, prefix)`` is fixed, whatever else is in the batch."""

    def __init__(self, sources, vocabulary=7, *, end_bias=0.0, dtype=torch.float32):
        self.vocabulary, self.end_bias, self.dtype = vocabulary, end_bias, dtype
        self.rows = [(source, ()) for source in sources]
        self.rows_per_step = []

    def logits(self, source, prefix):
        chance = random.Random(repr((source, prefix)))
        logits = [chance.gauss(0.0, 1.5) for _ in range(self.vocabulary)]
        logits[END] += self.end_bias
        return logits

    def advance(self, newest):
        assert len(newest) == len(self.rows)
        self.rows_per_step.append(len(self.rows))
        self.rows = [(s, (*p, t)) for (s, p), t in zip(self.rows, newest.tolist(), strict=True)]
        return torch.tensor([self.logits(*row) for row in self.rows], dtype=self.dtype)

    def keep(self, rows):
        self.rows = [self.rows[row] for row in rows.tolist()]

    def log_probability(self, source, ids):
        """Re-score ids (the end token among them if it was reached), one by one, in pure Python."""
        total, prefix = 0.0, (BEGIN,)
        for token in ids:
            logits = self.logits(source, prefix)
            total += logits[token] - math.log(sum(math.exp(logit) for logit in logits))
            prefix = (*prefix, token)
        return total


def limits(*longest, never=(BEGIN, PAD)):
    return Limits(BEGIN, END, list(longest), never)


def every_finished_sequence(tokens, longest):
    """All sequences of ``tokens`` that end within ``longest`` tokens, the end counted."""
    for length in range(longest):
        yield from product(tokens, repeat=length)
