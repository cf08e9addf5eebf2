"""Losses and counts of the pretraining objectives.

    masked, hybrid   -log p(target), a mean over the targets
    autoencoder      the same, but only unmasked tokens are encoded
    replaced         the generator's loss + 50 · mean over all tokens of -log p(replaced or not)
    pairs            + the mean over rows of -log p(label)

A batch's loss is this sum of means times its input tokens, because the loop divides by them.
"""

from collections import Counter
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.data.corruption import keep_unchosen
from regard.models.bert import Bert, attention_mask
from regard.models.masked_autoencoder import MaskedAutoencoder
from regard.models.replaced_tokens import ReplacedTokens
from regard.tasks.losses import Loss, head_loss
from regard.tasks.pretraining.rows import Rows

REPLACED_WEIGHT = 50.0  # Clark et al. 2020, §3.1

Counts = Counter[str]
"""Sums over targets, by name."""


@runtime_checkable
class Objective(Protocol):
    """One pretraining objective."""

    def loss(self, model: Any, rows: Rows) -> Loss:  # noqa: ANN401
        """Compute the loss of a batch."""
        ...

    def states(self, model: Any, rows: Rows) -> Tensor:  # noqa: ANN401
        """Return the last states of the body that is carried over to other runs."""
        ...

    def counts(self, model: Any, rows: Rows) -> Counts:  # noqa: ANN401
        """Count targets and correct predictions."""
        ...

    def logits(self, model: Any, rows: Rows) -> Tensor:  # noqa: ANN401
        """Return the logits at the targets."""
        ...


class Masked:
    """Masked language modelling; causal rows predict the next token."""

    def states(self, model: Bert, rows: Rows) -> Float[Tensor, "row position width"]:
        return model(rows.ids, visible=visible(rows), segments=rows.segments)

    def loss(self, model: Bert, rows: Rows) -> Loss:
        states = self.states(model, rows)
        lost = head_loss(model.head, states[rows.has_target], rows.targets[rows.has_target])
        count = max(1, lost.tokens)
        mean, plain = lost.smoothed / count, lost.plain / count
        if model.pair_head is not None:
            mean = mean + pair_loss(model.pair_head, states, rows)
        return Loss(mean * rows.tokens, plain * rows.tokens, rows.tokens)

    def logits(self, model: Bert, rows: Rows) -> Float[Tensor, "target token"]:
        return model.head(self.states(model, rows)[rows.has_target])

    def counts(self, model: Bert, rows: Rows) -> Counts:
        states = self.states(model, rows)
        places = rows.has_target & ~rows.forward_only[:, None]
        found = token_counts(model.head(states[places]), rows.targets[places], "masked")
        if rows.forward_only.any():
            places = rows.has_target & rows.forward_only[:, None]
            found += token_counts(model.head(states[places]), rows.targets[places], "next")
        return found + pair_counts(model.pair_head, states, rows)


class Replaced:
    """Replaced-token detection: a small generator proposes the replacements (ELECTRA)."""

    def states(self, model: ReplacedTokens, rows: Rows) -> Float[Tensor, "row position width"]:
        return model(rows.original, visible=visible(rows), segments=rows.segments)

    def loss(self, model: ReplacedTokens, rows: Rows) -> Loss:
        proposing = self._proposals(model, rows)
        lost = head_loss(model.generator.head, proposing, rows.targets[rows.has_target])
        mean = lost.smoothed / max(1, lost.tokens)
        states, replaced, real = self._corrupt(model, rows, proposing)
        wrong = nn.functional.binary_cross_entropy_with_logits(
            model.head(states[real]), replaced[real].to(states.dtype)
        )
        mean = mean + REPLACED_WEIGHT * wrong
        if model.pair_head is not None:
            mean = mean + pair_loss(model.pair_head, states, rows)
        return Loss(mean * rows.tokens, float(mean.detach()) * rows.tokens, rows.tokens)

    def logits(self, model: ReplacedTokens, rows: Rows) -> Float[Tensor, "target token"]:
        return model.generator.head(self._proposals(model, rows))

    def counts(self, model: ReplacedTokens, rows: Rows) -> Counts:
        proposing = self._proposals(model, rows)
        found = token_counts(
            model.generator.head(proposing), rows.targets[rows.has_target], "masked"
        )
        states, replaced, real = self._corrupt(model, rows, proposing)
        said = model.head(states) > 0
        found["tokens"] = int(real.sum())
        found["replaced"] = int((replaced & real).sum())
        found["said"] = int((said & real).sum())
        found["found"] = int((said & replaced & real).sum())
        return found + pair_counts(model.pair_head, states, rows)

    def _proposals(self, model: ReplacedTokens, rows: Rows) -> Float[Tensor, "target narrow"]:
        states = model.generator(rows.ids, visible=visible(rows), segments=rows.segments)
        return states[rows.has_target]

    def _corrupt(
        self, model: ReplacedTokens, rows: Rows, proposing: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return states of the corrupted rows, and which tokens are replaced and not padding."""
        generator = torch.Generator().manual_seed(rows.seed)
        original = rows.original
        proposed = original.masked_scatter(rows.has_target, model.propose(proposing, generator))
        states = model(proposed, visible=visible(rows), segments=rows.segments)
        real = torch.arange(original.shape[1], device=original.device) < rows.lengths[:, None]
        return states, proposed != original, real


class Autoencoder:
    """Masked autoencoding: the encoder reads unmasked tokens only."""

    def states(self, model: MaskedAutoencoder, rows: Rows) -> Float[Tensor, "row position width"]:
        kept = keep_unchosen(rows.has_target.cpu().numpy(), rows.lengths.cpu().numpy())
        places, counts = (torch.from_numpy(each).to(rows.ids.device) for each in kept)
        return model(rows.ids, lengths=rows.lengths, places=places, kept=counts)

    def loss(self, model: MaskedAutoencoder, rows: Rows) -> Loss:
        lost = head_loss(
            model.head, self._target_states(model, rows), rows.targets[rows.has_target]
        )
        scale = rows.tokens / max(1, lost.tokens)
        return Loss(lost.smoothed * scale, lost.plain * scale, rows.tokens)

    def logits(self, model: MaskedAutoencoder, rows: Rows) -> Float[Tensor, "target token"]:
        return model.head(self._target_states(model, rows))

    def counts(self, model: MaskedAutoencoder, rows: Rows) -> Counts:
        return token_counts(self.logits(model, rows), rows.targets[rows.has_target], "masked")

    def _target_states(self, model: MaskedAutoencoder, rows: Rows) -> Float[Tensor, "target width"]:
        return self.states(model, rows)[rows.has_target]


def visible(rows: Rows) -> Bool[Tensor, "row 1 #position position"]:
    """Return the visibility mask of the rows."""
    return attention_mask(rows.lengths, rows.ids.shape[1], forward_only=rows.forward_only)


def pair_loss(head: nn.Module, states: Tensor, rows: Rows) -> Float[Tensor, ""]:
    """Compute the mean over rows of -log p(label)."""
    return nn.functional.cross_entropy(_pair_logits(head, states, rows), rows.labels)


def pair_counts(head: nn.Module | None, states: Tensor, rows: Rows) -> Counts:
    """Count pairs and correct predictions."""
    if head is None:
        return Counter()
    right = _pair_logits(head, states, rows).argmax(dim=-1) == rows.labels
    return Counter(pairs=len(right), pairs_right=int(right.sum()))


def token_counts(logits: Tensor, targets: Tensor, name: str) -> Counts:
    """Count targets and correct predictions, and sum the losses."""
    lost = nn.functional.cross_entropy(logits, targets, reduction="sum")
    right = logits.argmax(dim=-1) == targets
    counts: Counts = Counter({name: len(targets), f"{name}_right": int(right.sum())})
    counts[f"{name}_lost"] = float(lost)  # type: ignore[assignment]  # a Counter adds floats too
    return counts


def _pair_logits(head: nn.Module, states: Tensor, rows: Rows) -> Float[Tensor, "row 2"]:
    return head(states, visible=attention_mask(rows.lengths, states.shape[1]))
