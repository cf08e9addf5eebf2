"""Compare a run with its export: the same tokens, outputs and answers for the same texts.

Outputs are computed for the same ids on both sides, so that a difference of tokens and one of the
network are distinguished. A logit of -∞, of a token outside the output vocabulary, is not compared.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from regard.interop.exports.reference import Reference
from regard.interop.exports.samples import Samples
from regard.interop.exports.score import score
from regard.interop.exports.target import Equality, Fit, Row, Side, Target, Texts
from regard.run import Run
from regard.tasks.foreign import Export
from regard.text import special

LONGEST_ANSWER = 32
"""Tokens of a compared answer."""
ANSWERED = 16
"""Texts whose answers are compared."""


def compare(run: Run, target: Target, fit: Fit, theirs: Side, samples: Samples) -> Equality:
    """Compare the run with an opened export."""
    shape = target.shape(run)
    ours = Reference(run, shape)
    texts = [text for text in samples.texts if _fits(run, ours, text)]
    encoded = ours.encode(texts)
    same = sum(a == b for a, b in zip(encoded, theirs.encode(texts), strict=True))
    rows = make_rows(shape, encoded)
    differences = largest_differences(ours.outputs(rows), theirs.outputs(rows), lacks=fit.lacks)
    most = min(LONGEST_ANSWER, run.recipe.text.max_length - 1)
    room = run.recipe.text.max_length - most * (shape.kind == "causal")
    asked = [text for text, ids in zip(texts, encoded, strict=True) if len(ids) <= room]
    asked = asked[:ANSWERED]
    mine, others = (side.answer(asked, most=most) for side in (ours, theirs))
    answers = [] if mine is None or others is None else list(zip(mine, others, strict=True))
    agreed = sum(a == b for a, b in answers)
    equal = (
        same == len(texts)
        and agreed == len(answers)
        and all(one <= target.tolerance for one in differences.values())
    )
    scores = score(run, shape, ours, theirs, samples, name=target.name) if equal else {}
    return Equality(
        len(texts), same, len(answers), agreed, differences, target.tolerance, scores, equal
    )


def make_rows(shape: Export, encoded: Sequence[list[int]]) -> list[Row]:
    """Give every row the target or the segments that its model reads."""
    rows = []
    for number, ids in enumerate(encoded):
        if shape.kind == "encoder-decoder":
            other = encoded[number - 1][:-1][:LONGEST_ANSWER]
            rows.append(Row(ids, (special.BEGIN, *other)))
        elif shape.pair_template:
            first = ids.index(special.SEP) + 1
            rows.append(Row(ids, segments=(*[0] * first, *[1] * (len(ids) - first))))
        else:
            rows.append(Row(ids))
    return rows


def largest_differences(
    ours: Sequence[dict[str, Tensor]],
    theirs: Sequence[dict[str, Tensor]],
    *,
    lacks: Sequence[str] = (),
) -> dict[str, float]:
    """Return the largest difference of every output, relative to the largest if that is above 1."""
    found: dict[str, float] = {}
    for mine, others in zip(ours, theirs, strict=True):
        for name in mine.keys() - set(lacks):
            expected = mine[name]
            found[name] = max(found.get(name, 0.0), difference(expected, others[name]))
    return found


def difference(expected: Tensor, got: Tensor) -> float:
    """Return the largest difference where ``expected`` is finite; infinite for other shapes."""
    if expected.shape != got.shape:
        return float("inf")
    expected, got = expected.double(), got.double()
    finite = expected.isfinite()
    if not finite.any():
        return float("inf")
    size = max(1.0, float(expected[finite].abs().max()))
    gap = (expected[finite] - got[finite]).abs().max() / size
    return float("inf") if bool(torch.isnan(gap)) else float(gap)


def _fits(run: Run, ours: Reference, text: Texts) -> bool:
    """Say whether a text fits the model without truncation."""
    return len(ours.encode([text])[0]) <= run.recipe.text.max_length - 1


def as_json(equality: Equality) -> dict[str, Any]:
    """Return it as it stands in ``equality.json``."""
    return {
        "equal": equality.equal,
        "texts": equality.texts,
        "same_tokens": equality.same_tokens,
        "answers": equality.answers,
        "same_answers": equality.same_answers,
        "largest_difference": equality.differences,
        "tolerance": equality.tolerance,
        "scores": equality.scores,
    }
