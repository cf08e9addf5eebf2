"""The target ``sentence-transformers``: an encoder of transformers, its pooling, and normalisation.

    .                  the encoder, as the target hf writes it, without a head
    1_Pooling          mean, first or last state, or the maximum of each feature
    2_Normalize        of a retrieval run, whose vectors have length one

Any other encoder is pooled to the mean of its states, as ``regard predict --vectors`` does.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard.files import write_whole
from regard.interop.exports.hf.architecture import Need, find_obstacles
from regard.interop.exports.hf.hf import choose, write_network, write_tokenizer
from regard.interop.exports.hf.side import import_transformers
from regard.interop.exports.target import Fit, Row, Target, Texts
from regard.run import Run
from regard.tasks.foreign import Export, Obstacle

POOLINGS = {"mean": "mean_tokens", "first": "cls_token", "last": "lasttoken", "max": "max_tokens"}
MODES = (
    *("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens"),
    "lasttoken",
)
NEEDS = (
    Need("model.head.pooling", tuple(POOLINGS), "it pools in one of four ways"),
    Need("retrieval.term_weights", ("even",), "its pooling does not weigh terms"),
)


def view(shape: Export) -> Export:
    """Return what any encoder is here: something that gives vectors."""
    return shape._replace(
        head="vector", pair_template=(), labels=(), problem="", pairs=False, obstacles=()
    )


def fits(run: Run) -> Fit | list[Obstacle]:
    """Return the class of the encoder, or what stands in the way."""
    shape = run.task.export()
    if shape.kind != "encoder":
        reason = "sentence vectors come from bidirectional encoders"
        remedy = "Export to another format; `regard export RUN` lists them."
        return [Obstacle("task", run.recipe.task, reason, remedy)]
    pooling = find_obstacles(run.recipe, NEEDS) if shape.head == "vector" else []
    found = choose(run, view(shape)._replace(head="states"))
    if not isinstance(found, Fit):
        return [*pooling, *found]
    return pooling or found


def write(run: Run, fit: Fit, folder: Path) -> None:
    """Write the encoder and the files of its modules."""
    shape = view(run.task.export())
    write_network(run, shape._replace(head="states"), fit, folder)
    write_tokenizer(run, shape, folder)
    retrieves = run.task.export().head == "vector"
    kinds = ["Transformer", "Pooling", *(["Normalize"] if retrieves else [])]
    paths = ["", "1_Pooling", "2_Normalize"]
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (kind, path) in enumerate(zip(kinds, paths, strict=False))
    ]
    for path in paths[1 : len(kinds)]:
        (folder / path).mkdir()
    chosen = POOLINGS[run.recipe.model.head.pooling if retrieves else "mean"]
    pooling: dict[str, Any] = {"word_embedding_dimension": run.recipe.model.width}
    pooling |= {f"pooling_mode_{mode}": mode == chosen for mode in MODES}
    files: dict[str, Any] = {
        "modules.json": modules,
        "1_Pooling/config.json": {**pooling, "include_prompt": True},
        "sentence_bert_config.json": {
            "max_seq_length": run.recipe.text.max_length,
            "do_lower_case": False,
        },
        "config_sentence_transformers.json": {
            "prompts": {},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
    }
    for name, found in files.items():
        write_whole(folder / name, json.dumps(found, indent=2))
    write_whole(folder / "README.md", CARD.format(width=run.recipe.model.width))


CARD = """---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags:
  - regard
  - sentence-transformers
---

# A sentence encoder

Trained by regard; vectors of {width} numbers. `equality.json` records how tokens and vectors were
compared with those of the run.

```python
from sentence_transformers import SentenceTransformer

vectors = SentenceTransformer("DIR").encode(["a text", "another"])
```
"""


class SentenceTransformersSide:
    """The tokenizer and the modules of a folder, in float64.

    Args:
        folder: The export.

    """

    def __init__(self, folder: Path) -> None:
        import_transformers()
        from sentence_transformers import SentenceTransformer

        self.model: Any = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        self.model.double().eval()

    def encode(self, texts: Sequence[Texts]) -> list[list[int]]:
        return [self.model.tokenizer(*example)["input_ids"] for example in texts]

    @torch.inference_mode()
    def outputs(self, rows: Sequence[Row]) -> list[dict[str, Tensor]]:
        return [{"vector": self._vector(row.ids)} for row in rows]

    def _vector(self, ids: list[int]) -> Tensor:
        given = {
            "input_ids": torch.tensor([ids]),
            "attention_mask": torch.ones(1, len(ids), dtype=torch.long),
        }
        return self.model(given)["sentence_embedding"][0]

    def answer(self, texts: Sequence[Texts], *, most: int) -> list[str] | None:
        return None


SENTENCE_TRANSFORMERS = Target(
    "sentence-transformers",
    "an encoder with its pooling, for sentence-transformers",
    ("sentence-transformers",),
    fits,
    write,
    lambda _run, _fit, folder: SentenceTransformersSide(folder),
    view=view,
)
