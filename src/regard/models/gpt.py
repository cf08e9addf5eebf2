"""GPT: a causal body and a head that says what comes next (Radford et al. 2018).

logits(t) = head(body(ids)(t))        speaks for id(t + 1)
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.models.body import Body, all_visible
from regard.models.heads import TokenHead


class LanguageModel(nn.Module):
    """What comes next.

    Args:
        body: A causal body.
        head: Turns its states into logits.

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
        """States that speak for the token after each position; see :attr:`head`."""
        if visible is None:
            visible = all_visible(ids.shape[1], device=ids.device)
        return self.body(ids, visible=visible)

    def steps(self, prompts: Int[Tensor, "row position"], *, context: int) -> "LanguageModelSteps":
        """Begin to go on with ``prompts``, a token at a time, seeing ``context`` tokens at most."""
        return LanguageModelSteps(self, prompts, context)


def apart(ids: Int[Tensor, "batch position"], boundary: int) -> Bool[Tensor, "batch 1 position k"]:
    """Let tokens see their own document only; ``boundary`` begins one."""
    number = (ids == boundary).cumsum(dim=1)
    return number[:, None, :, None] == number[:, None, None, :]


class LanguageModelSteps:
    """Texts under way: one row each. Speaks the language of :mod:`regard.decoding`.

    When the context is full the oldest tokens are forgotten: its last half is read anew, as if the
    text began there, and writing goes on.

    Args:
        model: The model that writes.
        prompts: What every text begins with, after the token of beginning; may be empty.
        context: The most tokens that are seen at once.

    """

    def __init__(self, model: LanguageModel, prompts: Tensor, context: int) -> None:
        self.model, self.prompts, self.context = model, prompts, context
        self.ids = prompts[:, :0]
        self.memory = model.body.memory()

    def advance(self, newest: Int[Tensor, " row"]) -> Float[Tensor, "row token"]:
        """Logits of the next token of every row, after one more token each.

        The first call brings the token of beginning, and the prompts are read behind it.
        """
        new = newest[:, None].to(self.prompts.device)
        if not self.ids.shape[1]:
            new = torch.cat([new, self.prompts], dim=1)
        self.ids = torch.cat([self.ids, new], dim=1)
        if self.memory.positions + new.shape[1] > self.context:
            new = self.ids[:, -remembered(self.ids.shape[1], self.context) :]
            self.memory = self.model.body.memory()
        visible = all_visible(self.memory.positions + new.shape[1], device=new.device)
        states = self.model.body(new, visible=visible, memory=self.memory)
        return self.model.head(states[:, -1])

    def keep(self, rows: Int[Tensor, " kept"]) -> None:
        """Go on with these rows, in this order."""
        self.ids = self.ids.index_select(0, rows)
        self.memory.keep(rows)


def remembered(length: int, context: int) -> int:
    """How many of a text's last tokens are seen, if half is kept whenever the context is full.

    So reading a text at once comes to the same as reading it token by token.
    """
    half = max(1, context // 2)
    if length <= context:
        return length
    return half + (length - context - 1) % (context - half + 1)
