"""The export targets, one row each: a new target is a file in ``exports`` and a row here."""

from regard.interop.exports.ctranslate2.ctranslate2 import CTRANSLATE2
from regard.interop.exports.hf.hf import HF
from regard.interop.exports.onnx import ONNX
from regard.interop.exports.sentence_transformers import SENTENCE_TRANSFORMERS
from regard.interop.exports.target import Target

TARGETS: dict[str, Target] = {
    target.name: target for target in (HF, SENTENCE_TRANSFORMERS, CTRANSLATE2, ONNX)
}
