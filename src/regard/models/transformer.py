"""The Transformer: an encoder that reads, a decoder that looks into what was read and writes.

    context = encoder(reading(source))
    states  = decoder(writing(begin + target[:-1]), looking into context)
    logits  = head(states)                    or, with copying: head(states) and where states point

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
from regard.models.copying import Copying, Pointed, mixture
from regard.models.heads import TokenHead
from regard.models.stack import Stack


class Passed(NamedTuple):
    """What one pass over source and target made."""

    states: Float[Tensor, "batch query width"]
    """The decoder's, before each token that follows the target."""
    context: Float[Tensor, "batch key width"]
    """The encoder's."""
    context_visible: Bool[Tensor, "batch 1 1 key"]


class Transformer(nn.Module):
    """Encoder and decoder.

    Args:
        reading: Turns source ids into states.
        encoder: The stack that reads.
        writing: Turns target ids into states; the same object as ``reading`` if they share.
        decoder: The causal stack that writes; its blocks look into the encoder's states.
        head: Turns the decoder's states into logits.
        copying: Points at tokens of the source; None for a model that only writes.

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
        """Read the source."""
        return self.encoder(self.reading(source), visible=visible)

    def forward(
        self,
        source: Int[Tensor, "batch key"],
        target: Int[Tensor, "batch query"],
        *,
        source_lengths: Int[Tensor, " batch"],
        target_lengths: Int[Tensor, " batch"],
    ) -> Float[Tensor, "batch query width"]:
        """States of the decoder before each token that follows ``target``; see :attr:`head`.

        ``target`` begins with the token of beginning: what comes in at n speaks for n + 1.
        """
        return self.passed(
            source, target, source_lengths=source_lengths, target_lengths=target_lengths
        ).states

    def passed(
        self,
        source: Int[Tensor, "batch key"],
        target: Int[Tensor, "batch query"],
        *,
        source_lengths: Int[Tensor, " batch"],
        target_lengths: Int[Tensor, " batch"],
    ) -> Passed:
        """Do the same, and keep what was read; see :meth:`pointed`."""
        context_visible = padding(source_lengths, source.shape[1])
        context = self.encode(source, visible=context_visible)
        states = self.decoder(
            self.writing(target),
            visible=padding(target_lengths, target.shape[1]),
            context=context,
            context_visible=context_visible,
        )
        return Passed(states, context, context_visible)

    def pointed(self, passed: Passed) -> Pointed:
        """Say where each state points; only for a model that copies."""
        assert self.copying is not None
        return self.copying(passed.states, passed.context, visible=passed.context_visible)

    def steps(
        self, source: Int[Tensor, "batch key"], *, source_lengths: Int[Tensor, " batch"]
    ) -> "TransformerSteps":
        """Begin to write one answer per source, a token at a time."""
        return TransformerSteps(self, source, source_lengths)


class TransformerSteps:
    """Answers under way: one row per answer. Speaks the language of :mod:`regard.decoding`.

    Args:
        model: The model that writes.
        source: What it reads, one row per answer.
        source_lengths: How much of each row is real.

    """

    def __init__(self, model: Transformer, source: Tensor, source_lengths: Tensor) -> None:
        self.model, self.source = model, source
        self.context_visible = padding(source_lengths, source.shape[1])
        self.context: Tensor | None = model.encode(source, visible=self.context_visible)
        self.memory = model.decoder.memory()
        self.pointer = BlockMemory()
        self.source_attention: Tensor | None = None
        """Pointer weights of each row's newest state, if the model copies."""
        self.written = 0

    def advance(self, newest: Int[Tensor, " row"]) -> Float[Tensor, "row token"]:
        """Logits of the next token of every row, after one more token each."""
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
        logits = self._mixed(states)[:, 0]
        self.context = None  # its keys and values are in the memory now
        return logits

    def _mixed(self, states: Tensor) -> Float[Tensor, "row 1 token"]:
        """Logits of what is written, or log p where something may be copied as well."""
        logits = self.model.head(states)
        if self.model.copying is None:
            return logits
        pointed = self.model.copying(
            states, self.context, visible=self.context_visible, memory=self.pointer.cross
        )
        self.source_attention = pointed.weights[:, 0]
        return mixture(pointed, logits, source=self.source)

    def keep(self, rows: Int[Tensor, " kept"]) -> None:
        """Go on with these rows, in this order."""
        if self.context is not None:
            self.context = self.context.index_select(0, rows)
        self.context_visible = self.context_visible.index_select(0, rows)
        self.source = self.source.index_select(0, rows)
        for memory in (*self.memory, self.pointer):
            memory.keep(rows)
