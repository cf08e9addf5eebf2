"""The run as one of the two sides: its own tokenizer, network and decoding, in float64."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from regard.interop.exports.target import Row, Texts
from regard.models.bi_encoder import BiEncoder
from regard.models.body import all_visible
from regard.run import Run
from regard.tasks.foreign import TEXT, Export
from regard.tasks.kinds import make_task
from regard.tasks.pretraining.fill_masks import encode_with_masks
from regard.tasks.tagging.example import find_words
from regard.tasks.tagging.rows import to_rows
from regard.text import special

GREEDY = {
    "method": "greedy",
    "no_repeat": 0,
    "min_length": 0,
    "min_length_ratio": 0.0,
    "max_length_ratio": None,
    "baseline_weight": 0.0,
}
"""Settings of [decoding] under which two implementations must write the same."""


class Reference:
    """A run, computed in float64.

    Args:
        run: The run.
        shape: What its model is to the other side.

    """

    def __init__(self, run: Run, shape: Export) -> None:
        self.run, self.shape = run, shape
        self.model: Any = deepcopy(run.model).cpu().double().eval()

    def encode(self, texts: Sequence[Texts]) -> list[list[int]]:
        return [self._encode(example) for example in texts]

    def _encode(self, example: Texts) -> list[int]:
        template = self.shape.pair_template if len(example) == 2 else self.shape.template
        parts = {TEXT: example[0], "B": example[-1]}
        ids: list[int] = []
        for piece in template:
            ids += self._pieces(parts[piece]) if piece in parts else [special.SPECIAL.index(piece)]
        return ids

    def _pieces(self, text: str) -> list[int]:
        tokenizer = self.run.tokenizer
        if self.shape.reads == "words":
            return to_rows(tokenizer, [text], [find_words(text)])[0].ids
        if self.shape.reads == "text":
            return tokenizer.encode(text)
        folded = " ".join(text.split())
        masked = self.shape.reads == "masked"
        return encode_with_masks(tokenizer, folded) if masked else tokenizer.encode(folded)

    @torch.inference_mode()
    def outputs(self, rows: Sequence[Row]) -> list[dict[str, Tensor]]:
        return [self._output(row) for row in rows]

    def _output(self, row: Row) -> dict[str, Tensor]:
        ids, length = torch.tensor([row.ids]), torch.tensor([len(row.ids)])
        segments = torch.tensor([row.segments]) if row.segments else None
        model = self.model
        if self.shape.kind == "encoder-decoder":
            lengths = {"source_lengths": length, "target_lengths": torch.tensor([len(row.target)])}
            return {"logits": model.head(model(ids, torch.tensor([row.target]), **lengths))[0]}
        if self.shape.head == "tokens":
            return self._token_logits(ids, segments)
        if self.shape.head == "labels":
            return {"logits": model(ids, lengths=length, segments=segments)[0]}
        if self.shape.head == "tags":
            return {"logits": model(ids, lengths=length)[0]}
        if self.shape.head == "vector" and isinstance(model, BiEncoder):
            return {"vector": model(ids, lengths=length)[0]}
        states = model.body(ids, visible=all_visible(len(row.ids)))[0]
        pooled = self.shape.head == "vector"
        return {"vector": states.mean(dim=0)} if pooled else {"states": states}

    def _token_logits(self, ids: Tensor, segments: Tensor | None) -> dict[str, Tensor]:
        model = self.model
        if self.shape.kind == "causal":
            return {"logits": model.head(model(ids))[0]}
        visible = all_visible(ids.shape[1])
        states = model(ids, visible=visible, segments=segments)
        found = {"logits": model.head(states)[0]}
        if self.shape.pairs and segments is not None:
            found["pair_logits"] = model.pair_head(states, visible=visible)[0]
        return found

    def answer(self, texts: Sequence[Texts], *, most: int) -> list[str] | None:
        if self.shape.head != "tokens" or self.shape.kind == "encoder":
            return None
        recipe = self.run.recipe
        decoding = recipe.decoding.model_copy(
            update={**GREEDY, "max_length": most, "extra_length": most}
        )
        task = make_task(recipe.model_copy(update={"decoding": decoding}), self.run.tokenizer)
        found = task.answer(self.model, [text for (text,) in texts], quick=True, truncate=True)
        return [one.text for one in found]
