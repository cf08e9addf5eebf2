"""An exported folder, opened with transformers in float64."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard.interop.exports.target import Fit, Row, Texts
from regard.run import Run
from regard.tasks.foreign import Export

AUTO = {
    "encoder-decoder": "AutoModelForSeq2SeqLM",
    "causal": "AutoModelForCausalLM",
    "tokens": "AutoModelForMaskedLM",
    "pairs": "AutoModelForPreTraining",
    "labels": "AutoModelForSequenceClassification",
    "tags": "AutoModelForTokenClassification",
    "states": "AutoModel",
}
"""By kind or head, the class that a user would load the folder with."""


def import_transformers() -> Any:  # noqa: ANN401 - a module
    """Import transformers; it must not look for anything on the network."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers

    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    return transformers


def open_folder(run: Run, fit: Fit, folder: Path) -> "TransformersSide":
    """Open a folder that was written for a run."""
    return TransformersSide(run.task.export(), folder, fit)


class TransformersSide:
    """The tokenizer and the model of a folder.

    Args:
        shape: What the run is to another library.
        folder: The export.
        fit: Its architecture.

    """

    def __init__(self, shape: Export, folder: Path, fit: Fit) -> None:
        library = import_transformers()
        self.shape = shape
        self.tokenizer = library.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        kind: str = shape.kind if shape.kind != "encoder" else shape.head
        if fit.architecture.endswith("ForPreTraining"):
            kind = "pairs"
        self.model, found = getattr(library, AUTO[kind]).from_pretrained(
            folder, local_files_only=True, dtype=torch.float64, output_loading_info=True
        )
        wrong = [*found["missing_keys"], *found["unexpected_keys"], *found["mismatched_keys"]]
        if wrong:
            raise ValueError(f"transformers does not take these tensors as they are: {wrong[:3]}")
        self.model.eval()

    def encode(self, texts: Sequence[Texts]) -> list[list[int]]:
        return [self.tokenizer(*example)["input_ids"] for example in texts]

    @torch.inference_mode()
    def outputs(self, rows: Sequence[Row]) -> list[dict[str, Tensor]]:
        return [self._output(row) for row in rows]

    def _output(self, row: Row) -> dict[str, Tensor]:
        given: dict[str, Tensor] = {
            "input_ids": torch.tensor([row.ids]),
            "attention_mask": torch.ones(1, len(row.ids), dtype=torch.long),
        }
        if row.target:
            given["decoder_input_ids"] = torch.tensor([row.target])
        if row.segments:
            given["token_type_ids"] = torch.tensor([row.segments])
        found = self.model(**given)
        if self.shape.head == "states":
            return {"states": found.last_hidden_state[0]}
        if "prediction_logits" in found:
            pairs = found.seq_relationship_logits[0].flip(0)  # their label 0 is "follows"
            return {"logits": found.prediction_logits[0], "pair_logits": pairs}
        return {"logits": found.logits[0]}

    @torch.inference_mode()
    def answer(self, texts: Sequence[Texts], *, most: int) -> list[str] | None:
        if self.shape.head != "tokens" or self.shape.kind == "encoder":
            return None
        return [self._generate(text, most) for (text,) in texts]

    def _generate(self, text: str, most: int) -> str:
        """Write greedily; a language model's answer is what it adds."""
        given = self.tokenizer(text, return_tensors="pt", return_token_type_ids=False)
        found = self.model.generate(
            **given,
            max_new_tokens=most,
            num_beams=1,
            do_sample=False,
            no_repeat_ngram_size=0,
            min_length=0,
        )[0]
        if self.shape.kind != "causal":
            return self.tokenizer.decode(found, skip_special_tokens=True)
        read = given["input_ids"].shape[1]
        before = self.tokenizer.decode(found[:read], skip_special_tokens=True)
        return self.tokenizer.decode(found, skip_special_tokens=True)[len(before) :]
