"""Reviews whose rating needs two sentences, and words erased (D1 Q3)."""

from typing import Any

import numpy as np
import torch

from regard.claims.claim import Claim, Figure, Measured
from regard.claims.recipes import classification, rated
from regard.claims.trials import accuracy, labelled, trial
from regard.explain.erasure import erase, mean_erasure
from regard.layers.tap import listen
from regard.run import Run


def _han(**documents: Any) -> Run:  # noqa: ANN401
    tables = classification(
        400,
        longest=160,
        depth=1,
        bare=True,
        mixer={"kind": "recurrent", "cell": "gru"},
        position={"kind": "none"},
        head={"pooling": "attention", "dropout": 0.0},
        documents={"read": "sentences", **documents},
    )
    files = {
        "train.jsonl": labelled(rated(2500, context=0.7)),
        "valid.jsonl": labelled(rated(200, "valid", context=0.7)),
    }
    return trial("han-" + documents.get("context", "none"), tables, files)


def _context() -> Measured:
    """Train HAN and the context-aware network on 2,500 reviews, most of which need two sentences.

    Asked are reviews in which one sentence names what counts and another judges many things.
    """
    alone, aware = _han(), _han(context="both")
    needs = rated(300, "test", context=1.0)
    found = [accuracy(run, needs) for run in (alone, aware)]
    return Measured(
        f"where two sentences are needed: HAN {found[0]:.0%}, context-aware {found[1]:.0%}",
        (
            Figure("HAN", found[0]),
            Figure("context-aware", found[1]),
            Figure("context-aware above HAN", found[1] - found[0], found[1] > found[0]),
        ),
    )


def _faithful() -> Measured:
    """Erase the words a trained HAN looks at most, and as many at random, in 60 reviews.

    A word's look is its weight in the sentence; measured is how far the probability of the answer
    falls.
    """
    run, generator = _han(), np.random.default_rng(0)
    erasures = []
    for text, _ in rated(60, "test"):
        words = text.split()
        scores = _word_looks(run, text, words)
        (answer,) = run.task.answer(run.model, [text])

        def falls(
            masks: np.ndarray, words: list[str] = words, said: str = answer.text
        ) -> np.ndarray:
            texts = [
                " ".join(w for w, kept in zip(words, mask, strict=True) if kept) for mask in masks
            ]
            answers = run.task.answer(run.model, texts)
            return np.array([one.probabilities.get(said, 0.0) for one in answers])

        erasures.append(erase(falls, scores, generator=generator, draws=10))
    found = mean_erasure(erasures, generator=generator)
    return Measured(
        f"without the words looked at the answer falls by {found.top:.2f}, without others by "
        f"{found.chance:.2f}",
        (
            Figure("fall without the words looked at", found.top),
            Figure("fall without as many random words", found.chance),
            Figure("advantage", found.advantage, found.low > 0),
            Figure("advantage, lower end of 95%", found.low),
        ),
    )


def _word_looks(run: Run, text: str, words: list[str]) -> list[float]:
    """Give each word's weight, in the order of the text; a word of several tokens their sum."""
    with torch.no_grad(), listen(run.model, "word_weights") as heard:
        run.task.states(run.model, run.task.asked(text))
    (found,) = heard.values()
    flat = [weight for row in found[0].tolist() for weight in row if weight > 0]
    tokens = run.tokenizer.encode_batch(
        [f" {word}" if place else word for place, word in enumerate(words)]
    )
    sizes = [len(one) for one in tokens]
    if sum(sizes) != len(flat):
        flat = [*flat, *[0.0] * sum(sizes)][: sum(sizes)]
    ends = np.cumsum(sizes)
    return [float(sum(flat[end - size : end])) for end, size in zip(ends, sizes, strict=True)]


CONTEXT = Claim(
    name="reviews-need-context",
    numbers=(66, 67),
    source="D1 Q3; Remy et al. 2019",
    statement="Where the meaning of a sentence stands in another, context-aware attention is "
    "better "
    "than HAN.",
    layer="models/han.py",
    reading="Ratings in which one sentence names what counts and another judges many things.",
    then="Train longer with `regard train` on world:reviews.",
    measure=_context,
    slow=True,
)
FAITHFUL = Claim(
    name="documents-faithful",
    numbers=(65,),
    source="D1 Q3; DeYoung et al. 2020",
    statement="The coefficients drawn over a document show what the answer rests on.",
    layer="explain/erasure.py",
    reading="If the words looked at mattered no more than others, both falls would be alike.",
    then="`regard explain RUN TEXT` says this figure beside every map.",
    measure=_faithful,
    slow=True,
)
