"""The Transformer: an encoder, and a decoder with cross-attention to the encoder's states.

    context = encoder(reading(source))
    states  = decoder(writing(begin + target[:-1]), context)
    logits  = head(states)                    mixed with the pointer distribution in a copy model

With post-norm blocks, sinusoids, one shared table and no attention biases this is the 2017 model
to the parameter (Vaswani et al. 2017, §3): 63,045,632 at width 512 and 37,000 shared tokens.
"""

from typing import NamedTuple

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.layers.block import BlockMemory
from regard.layers.embedding import Embedding
from regard.layers.visibility import padding
from regard.models.body import all_visible
from regard.models.copying import Copying, PointerOutput, mixture
from regard.models.heads import TokenHead
from regard.models.stack import Stack


class DecoderOutput(NamedTuple):
    """States of a forward pass over source and target."""

    states: Float[Tensor, "batch query width"]
    """The decoder's."""
    context: Float[Tensor, "batch key width"]
    """The encoder's."""
    context_visible: Bool[Tensor, "batch 1 1 key"]


class Transformer(nn.Module):
    """Encoder and decoder.

    Args:
        reading: The embedding layer of the source.
        encoder: The stack over the source.
        writing: The embedding layer of the target; the same object as ``reading`` if tied.
        decoder: The causal stack over the target, with cross-attention.
        head: Maps the decoder's states to logits.
        copying: The copy mechanism; None for a model without it.

    """

    def __init__(
        self,
        reading: Embedding,
        encoder: Stack,
        writing: Embedding,
        decoder: Stack,
        head: TokenHead,
        copying: Copying | None = None,
    ) -> None:
        super().__init__()
        self.reading, self.encoder = reading, encoder
        self.writing, self.decoder = writing, decoder
        self.head, self.copying = head, copying

    def encode(
        self, source: Int[Tensor, "batch key"], *, visible: Bool[Tensor, "batch 1 1 key"]
    ) -> Float[Tensor, "batch key width"]:
        """Return the encoder's states of the source."""
        return self.encoder(self.reading(source), visible=visible)

    def forward(
        self,
        source: Int[Tensor, "batch key"],
        target: Int[Tensor, "batch query"],
        *,
        source_lengths: Int[Tensor, " batch"],
        target_lengths: Int[Tensor, " batch"],
    ) -> Float[Tensor, "batch query width"]:
        """Return the decoder's states, from which :attr:`head` predicts the next token.

        ``target`` begins with the start token: the state of position n predicts token n + 1.
        """
        return self.compute_states(
            source, target, source_lengths=source_lengths, target_lengths=target_lengths
        ).states

    def compute_states(
        self,
        source: Int[Tensor, "batch key"],
        target: Int[Tensor, "batch query"],
        *,
        source_lengths: Int[Tensor, " batch"],
        target_lengths: Int[Tensor, " batch"],
    ) -> DecoderOutput:
        """Return the states of decoder and encoder."""
        context_visible = padding(source_lengths, source.shape[1])
        context = self.encode(source, visible=context_visible)
        states = self.decoder(
            self.writing(target),
            visible=padding(target_lengths, target.shape[1]),
            context=context,
            context_visible=context_visible,
        )
        return DecoderOutput(states, context, context_visible)

    def point(self, passed: DecoderOutput) -> PointerOutput:
        """Return the pointer distribution of each state; only for a copy model."""
        assert self.copying is not None
        return self.copying(passed.states, passed.context, visible=passed.context_visible)

    def steps(
        self, source: Int[Tensor, "batch key"], *, source_lengths: Int[Tensor, " batch"]
    ) -> "TransformerSteps":
        """Start generation of one answer per source."""
        return TransformerSteps(self, source, source_lengths)


class TransformerSteps:
    """Partial answers, one per row, as :mod:`regard.decoding` expects them.

    Args:
        model: The model.
        source: The sources, one row per answer.
        source_lengths: Length of each row without padding.

    """

    def __init__(self, model: Transformer, source: Tensor, source_lengths: Tensor) -> None:
        self.model, self.source = model, source
        self.context_visible = padding(source_lengths, source.shape[1])
        self.context: Tensor | None = model.encode(source, visible=self.context_visible)
        self.memory = model.decoder.memory()
        self.pointer = BlockMemory()
        self.source_attention: Tensor | None = None
        """Pointer distribution of each row's newest state, in a copy model."""
        self.written = 0

    def advance(self, newest: Int[Tensor, " row"]) -> Float[Tensor, "row token"]:
        """Append a token to every row, and return the logits of the next."""
        newest = newest.to(self.source.device)
        states = self.model.writing(newest[:, None], start=self.written)
        self.written += 1
        states = self.model.decoder(
            states,
            visible=all_visible(self.written, device=states.device),
            context=self.context,
            context_visible=self.context_visible,
            memory=self.memory,
        )
        logits = self._mix(states)[:, 0]
        self.context = None  # its keys and values are cached now
        return logits

    def _mix(self, states: Tensor) -> Float[Tensor, "row 1 token"]:
        """Return logits, or log p of the mixture in a copy model."""
        logits = self.model.head(states)
        if self.model.copying is None:
            return logits
        pointed = self.model.copying(
            states, self.context, visible=self.context_visible, memory=self.pointer.cross
        )
        self.source_attention = pointed.weights[:, 0]
        return mixture(pointed, logits, source=self.source)

    def keep(self, rows: Int[Tensor, " kept"]) -> None:
        """Select rows, in this order."""
        if self.context is not None:
            self.context = self.context.index_select(0, rows)
        self.context_visible = self.context_visible.index_select(0, rows)
        self.source = self.source.index_select(0, rows)
        for memory in (*self.memory, self.pointer):
            memory.keep(rows)
