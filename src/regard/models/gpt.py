"""GPT: a causal body and a head for the next token (Radford et al. 2018).

logits(t) = head(body(ids)(t))        of id(t + 1)
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.models.body import Body, all_visible
from regard.models.heads import TokenHead


class LanguageModel(nn.Module):
    """Next-token prediction.

    Args:
        body: A causal body.
        head: Maps its states to logits.

    """

    def __init__(self, body: Body, head: TokenHead) -> None:
        super().__init__()
        self.body, self.head = body, head

    def forward(
        self,
        ids: Int[Tensor, "batch position"],
        *,
        visible: Bool[Tensor, "#batch 1 #position position"] | None = None,
    ) -> Float[Tensor, "batch position width"]:
        """Return the states from which :attr:`head` predicts the token after each position."""
        if visible is None:
            visible = all_visible(ids.shape[1], device=ids.device)
        return self.body(ids, visible=visible)

    def steps(self, prompts: Int[Tensor, "row position"], *, context: int) -> "LanguageModelSteps":
        """Start generation after ``prompts``, with a context window of ``context`` tokens."""
        return LanguageModelSteps(self, prompts, context)


def document_mask(
    ids: Int[Tensor, "batch position"], boundary: int
) -> Bool[Tensor, "batch 1 position k"]:
    """Return a mask that restricts attention to one's own document; ``boundary`` begins one."""
    number = (ids == boundary).cumsum(dim=1)
    return number[:, None, :, None] == number[:, None, None, :]


class LanguageModelSteps:
    """Partial texts, one per row, as :mod:`regard.decoding` expects them.

    When the context window is full, only its last half is kept, and encoded again as if the text
    began there.

    Args:
        model: The model.
        prompts: The beginning of every text, after the start token; may be empty.
        context: Size of the context window in tokens.

    """

    def __init__(self, model: LanguageModel, prompts: Tensor, context: int) -> None:
        self.model, self.prompts, self.context = model, prompts, context
        self.ids = prompts[:, :0]
        self.memory = model.body.memory()

    def advance(self, newest: Int[Tensor, " row"]) -> Float[Tensor, "row token"]:
        """Append a token to every row, and return the logits of the next.

        The first call takes the start token; the prompts follow it.
        """
        new = newest[:, None].to(self.prompts.device)
        if not self.ids.shape[1]:
            new = torch.cat([new, self.prompts], dim=1)
        self.ids = torch.cat([self.ids, new], dim=1)
        if self.memory.positions + new.shape[1] > self.context:
            new = self.ids[:, -count_context(self.ids.shape[1], self.context) :]
            self.memory = self.model.body.memory()
        visible = all_visible(self.memory.positions + new.shape[1], device=new.device)
        states = self.model.body(new, visible=visible, memory=self.memory)
        return self.model.head(states[:, -1])

    def keep(self, rows: Int[Tensor, " kept"]) -> None:
        """Select rows, in this order."""
        self.ids = self.ids.index_select(0, rows)
        self.memory.keep(rows)


def count_context(length: int, context: int) -> int:
    """Return how many of a text's last tokens are in the context, as in generation step by step."""
    half = max(1, context // 2)
    if length <= context:
        return length
    return half + (length - context - 1) % (context - half + 1)
