"""A CTranslate2 folder as one of the two sides of a comparison."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import torch
from torch import Tensor

from regard.interop.exports.ctranslate2.spec import import_ctranslate2
from regard.interop.exports.target import Fit, Row, Texts
from regard.run import Run
from regard.text import special

TOKENIZER = "tokenizer.json"
ONE_THREAD = {"intra_threads": 1, "compute_type": "float32"}


def open_folder(run: Run, _fit: Fit, folder: Path) -> "CTranslate2Side":
    """Open a folder with CTranslate2's own classes, and its tokenizer with ``tokenizers``."""
    sides: dict[str, type[CTranslate2Side]] = {
        "encoder-decoder": TranslatorSide,
        "causal": GeneratorSide,
        "encoder": EncoderSide,
    }
    return sides[run.task.export().kind](run, folder)


class CTranslate2Side(ABC):
    """What the three kinds of model have in common.

    Args:
        run: The run, for its tokens, and for what CTranslate2 leaves to its callers.
        folder: The folder to open.

    """

    kind: str
    """The class of CTranslate2."""

    def __init__(self, run: Run, folder: Path) -> None:
        self.run, self.names = run, run.tokenizer.spelled
        self.ids = {token: id for id, token in enumerate(self.names)}
        self.library: Any = getattr(import_ctranslate2(), self.kind)(str(folder), **ONE_THREAD)
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
        self.tokenizer.encode_special_tokens = True

    def encode(self, texts: Sequence[Texts]) -> list[list[int]]:
        """Encode texts with the tokenizer of the folder."""
        return [self.tokenizer.encode(text[0], text[1] if text[1:] else None).ids for text in texts]

    @abstractmethod
    def outputs(self, rows: Sequence[Row]) -> list[dict[str, Tensor]]:
        """Return the outputs of each row by name."""

    def answer(self, texts: Sequence[Texts], *, most: int) -> list[str] | None:
        """Return nothing: only a translator answers."""
        return None


class TranslatorSide(CTranslate2Side):
    """An encoder-decoder."""

    kind = "Translator"

    def outputs(self, rows: Sequence[Row]) -> list[dict[str, Tensor]]:
        """Return the logits of every step of a search that is led along the target."""
        found = []
        for row in rows:
            (result,) = self.library.translate_batch(
                [[self.names[id] for id in row.ids]],
                target_prefix=[[self.names[id] for id in row.target[1:]]],
                beam_size=1,
                max_input_length=0,
                min_decoding_length=0,
                max_decoding_length=len(row.target),
                return_logits_vocab=True,
            )
            steps = [np.array(step).reshape(-1) for step in result.logits[0]]
            found.append({"logits": torch.from_numpy(np.stack(steps))})
        return found

    def answer(self, texts: Sequence[Texts], *, most: int) -> list[str] | None:
        """Translate greedily."""
        never = [[self.names[id]] for id in (special.PAD, special.UNKNOWN, special.BEGIN)]
        never += [[self.names[id]] for id in (special.CLS, special.SEP, special.MASK)]
        found = self.library.translate_batch(
            [[self.names[id] for id in row] for row in self.encode(texts)],
            beam_size=1,
            max_batch_size=32,
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=most,
            suppress_sequences=never,
        )
        rows = [[self.ids[token] for token in one.hypotheses[0]] for one in found]
        return [self.run.tokenizer.decode(row) for row in rows]


class GeneratorSide(CTranslate2Side):
    """A language model."""

    kind = "Generator"

    def outputs(self, rows: Sequence[Row]) -> list[dict[str, Tensor]]:
        """Return the logits of the token after each position."""
        return [
            {"logits": torch.from_numpy(np.array(self.library.forward_batch([row.ids])))[0]}
            for row in rows
        ]


class EncoderSide(CTranslate2Side):
    """The body of an encoder; what follows it is computed here, as users of the folder do."""

    kind = "Encoder"

    @torch.inference_mode()
    def outputs(self, rows: Sequence[Row]) -> list[dict[str, Tensor]]:
        """Return what the run's head makes of CTranslate2's states."""
        return [self._output(row) for row in rows]

    def _output(self, row: Row) -> dict[str, Tensor]:
        kinds = list(row.segments) or [0] * len(row.ids)
        segmented = self.run.recipe.model.embedding.segments > 0
        found = self.library.forward_batch([row.ids], token_type_ids=[kinds] if segmented else None)
        states = torch.from_numpy(np.array(found.last_hidden_state))
        model: Any = self.run.model
        own = model.body.register_forward_hook(lambda _body, _given, _states: states)
        try:
            ids, length = torch.tensor([row.ids]), torch.tensor([len(row.ids)])
            if self.run.task.export().head == "vector":
                return {"vector": model(ids, lengths=length)[0]}
            visible = torch.ones(1, 1, 1, len(row.ids), dtype=torch.bool)
            outputs = {"logits": model.head(states)[0]}
            if self.run.task.export().pairs and row.segments:
                outputs["pair_logits"] = model.pair_head(states, visible=visible)[0]
            return outputs
        finally:
            own.remove()
