"""The loss of a batch of source and target.

    decoder reads     begin + y[:-1], so that position n predicts token n + 1           (§3.1)
    without copying   -log p(y), smoothed over the vocabulary
    with copying      (1 - ε)·(-log p(y)) - ε·mean_w log p_vocabulary(w) + λ·coverage

With copying, label smoothing applies to generation only: the pointer's distribution is over the
tokens of one source, not a vocabulary. A target that can neither be generated nor copied is
excluded from the loss.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from regard.data.batch import Batch
from regard.models.copying import PointerOutput, coverage_loss, likelihood
from regard.models.transformer import DecoderOutput, Transformer
from regard.tasks.losses import Loss, consistency, cross_entropy, head_loss
from regard.text import special


class ShiftedPair(NamedTuple):
    """A batch as an encoder-decoder reads it."""

    source: Int[Tensor, "row source"]
    source_lengths: Int[Tensor, " row"]
    target_in: Int[Tensor, "row target"]
    target_lengths: Int[Tensor, " row"]


def shift(batch: Batch) -> ShiftedPair:
    """Shift the decoder's input by one token: begin + y[:-1] predicts y (§3.1)."""
    source, target = batch.fields
    begin = torch.full_like(target.ids[:, :1], special.BEGIN)
    target_in = torch.cat([begin, target.ids[:, :-1]], dim=1)
    return ShiftedPair(source.ids, source.lengths, target_in, target.lengths)


def states_of(model: Transformer, batch: Batch) -> Tensor:
    """Run the model: the decoder's state before every token of the target."""
    pair = shift(batch)
    return model(
        pair.source,
        pair.target_in,
        source_lengths=pair.source_lengths,
        target_lengths=pair.target_lengths,
    )


def passed_of(model: Transformer, pair: ShiftedPair) -> DecoderOutput:
    """Run a model with a copy mechanism: the states, and the inputs of its pointer."""
    return model.compute_states(
        pair.source,
        pair.target_in,
        source_lengths=pair.source_lengths,
        target_lengths=pair.target_lengths,
    )


def writing_loss(model: Transformer, batch: Batch, *, smoothing: float, together: float) -> Loss:
    """Sum over the target's tokens; ``together`` draws two passes together (R-Drop)."""
    places, counted = _writable(model, batch)
    targets = places[counted]
    if not together:
        states = states_of(model, batch)[counted]
        return head_loss(model.head, states, targets, smoothing=smoothing)
    first, second = (model.head.logits(states_of(model, batch)[counted]) for _ in range(2))
    each = [cross_entropy(logits, targets, smoothing=smoothing) for logits in (first, second)]
    apart = consistency(first, second)
    smoothed = (each[0].smoothed + each[1].smoothed) / 2 + together * apart
    return Loss(smoothed, (each[0].plain + each[1].plain) / 2, len(targets))


def copying_loss(model: Transformer, batch: Batch, *, smoothing: float, coverage: float) -> Loss:
    """Sum over the target's tokens for a model that also copies."""
    pair, target = shift(batch), batch.fields[1].ids
    passed = passed_of(model, pair)
    pointed = model.point(passed)
    matches = pair.source[:, None] == target[:, :, None]
    places = model.head.places(target)
    real = _real(batch)
    counted = real & ((places >= 0) | matches.any(dim=-1))
    log_p = model.head.logits(passed.states[counted]).log_softmax(dim=-1)
    chosen = places[counted]
    written = log_p.gather(-1, chosen.clamp_min(0)[:, None])[:, 0]
    written = written.masked_fill(chosen < 0, -torch.inf)
    asked = PointerOutput(pointed.weights[counted][None], pointed.writes[counted][None])
    plain = -likelihood(asked, written[None], matches=matches[counted][None]).sum()
    loss = (1 - smoothing) * plain - smoothing * log_p.mean(dim=-1).sum()
    if coverage:
        loss = loss + coverage * coverage_loss(pointed.weights, real)
    return Loss(loss, float(plain.detach()), len(chosen))


def _real(batch: Batch) -> Bool[Tensor, "row target"]:
    ids, lengths = batch.fields[1]
    return torch.arange(ids.shape[1], device=ids.device)[None] < lengths[:, None]


def _writable(
    model: Transformer, batch: Batch
) -> tuple[Int[Tensor, "row target"], Bool[Tensor, "row target"]]:
    """Rows of the head that the targets stand at, and which of them are real and can be written."""
    places = model.head.places(batch.fields[1].ids)
    return places, _real(batch) & (places >= 0)
