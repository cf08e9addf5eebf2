"""The target ``ctranslate2``: the network, its tokens, and the tokenizer of both."""

import json
from pathlib import Path

from regard.files import write_whole
from regard.interop.exports.ctranslate2.fit import find_obstacles
from regard.interop.exports.ctranslate2.side import TOKENIZER, open_folder
from regard.interop.exports.ctranslate2.spec import write_ctranslate2
from regard.interop.exports.hf.tokenizer import build_tokenizer
from regard.interop.exports.hf.tokenizer import find_obstacles as find_tokenizer_obstacles
from regard.interop.exports.target import Fit, Target
from regard.run import Run
from regard.tasks.foreign import Obstacle

CLASSES = {"encoder-decoder": "Translator", "causal": "Generator", "encoder": "Encoder"}
NOTES = {
    "encoder-decoder": (
        "beam search: CTranslate2 divides by length^p, regard by ((5 + length) / 6)^p, so answers "
        "of different lengths may be ranked differently; greedy answers are the same",
        "an answer may be empty: set min_decoding_length=0",
        'compute_type="int8" is faster, and its answers differ a little',
    ),
    "causal": (),
    "encoder": ("the folder holds the body; pooling or head are left to its callers",),
}


def fits(run: Run) -> Fit | list[Obstacle]:
    """Return the class of CTranslate2 that a run fits, or the settings in the way."""
    shape = run.task.export()
    obstacles = find_obstacles(run.recipe) or find_tokenizer_obstacles(run.tokenizer, shape)
    return obstacles or Fit(f"ctranslate2.{CLASSES[shape.kind]}", NOTES[shape.kind])


def write(run: Run, _fit: Fit, folder: Path) -> None:
    """Write the model and ``tokenizer.json``."""
    write_ctranslate2(run.recipe, run.model, run.tokenizer, folder)
    found = build_tokenizer(run.tokenizer, run.task.export())
    write_whole(folder / TOKENIZER, json.dumps(found, ensure_ascii=False))


CTRANSLATE2 = Target(
    "ctranslate2",
    "a folder for CTranslate2",
    ("ctranslate2",),
    fits,
    write,
    open_folder,
    precision="regard computed in float64, ctranslate2 in float32",
)
