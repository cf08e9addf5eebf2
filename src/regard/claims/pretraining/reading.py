"""Where to read a text's state, from which side, and whether a decoder is needed (D2 i, D3, D4)."""

import random
from typing import Any

from regard.claims.claim import Claim, Figure, Measured
from regard.claims.pretraining.trained import body, tuned
from regard.claims.recipes import classification, rated, training
from regard.claims.trials import accuracy, labelled, trial
from regard.explain.draw.bars import Bars
from regard.inference.predictor import Predictor

POOLINGS = ("cls", "mean", "max", "attention", "hops")


def _pooling() -> Measured:
    """Fine-tune one pretrained body on 250 ratings with each pooling, whole and frozen."""
    start = body(3000)
    whole = {name: tuned(start, head=_head(name)) for name in POOLINGS}
    frozen = {name: _frozen(name) for name in ("cls", "mean", "attention")}
    best = max(score for name, score in whole.items() if name != "cls")
    still = max(score for name, score in frozen.items() if name != "cls")
    return Measured(
        "whole: "
        + ", ".join(f"{name} {one:.0%}" for name, one in whole.items())
        + "; frozen: "
        + ", ".join(f"{name} {one:.0%}" for name, one in frozen.items()),
        (
            *(Figure(f"fine-tuned, {name}", one) for name, one in whole.items()),
            *(Figure(f"frozen, {name}", one) for name, one in frozen.items()),
            Figure(
                "best other above [CLS], fine-tuned",
                best - whole["cls"],
                best > whole["cls"] + 0.02,
            ),
            Figure(
                "best other above [CLS], frozen",
                still - frozen["cls"],
                still > frozen["cls"] + 0.02,
            ),
        ),
        Bars("Accuracy, fine-tuned", list(whole.items())),
    )


def _head(name: str) -> dict[str, Any]:
    head: dict[str, Any] = {"pooling": name, "dropout": 0.0}
    return {**head, "hops": {"hops": 4, "features": 24}} if name == "hops" else head


def _frozen(name: str) -> float:
    tables = classification(120, longest=128, head=_head(name))
    tables["model"]["start"] = {"run": str(body(3000).folder), "freeze": True}
    del tables["text"]
    files = {"train.jsonl": labelled(rated(250)), "valid.jsonl": labelled(rated(200, "valid"))}
    return accuracy(trial(f"frozen-{name}", tables, files), rated(500, "test"))


def last_decides(seed: int, count: int) -> list[tuple[str, str]]:
    """Give rows of letters whose label is their last one: all evidence stands to the right."""
    chance = random.Random(seed)
    rows = [[chance.choice("abcdefgh") for _ in range(12)] for _ in range(count)]
    return [(" ".join(row), row[-1]) for row in rows]


def _right() -> Measured:
    """Train a causal and a two-sided body to say the last of 12 letters from the first state."""
    rows = last_decides(0, 2000)
    files = {"train.jsonl": labelled(rows[200:]), "valid.jsonl": labelled(rows[:200])}
    found = {}
    for name, causal in (("one-sided", True), ("two-sided", False)):
        tables = classification(300, causal=causal, head={"pooling": "first", "dropout": 0.0})
        found[name] = accuracy(trial(f"right-{name}", tables, files), last_decides(1, 400))
    return Measured(
        f"one-sided {found['one-sided']:.0%}, two-sided {found['two-sided']:.0%} (chance 12%)",
        (
            Figure("one-sided", found["one-sided"], found["one-sided"] < 0.3),
            Figure("two-sided", found["two-sided"], found["two-sided"] > 0.8),
        ),
    )


def _encoder() -> Measured:
    """Rate reviews by an encoder with a head, and by an encoder-decoder that writes the rating.

    Of about the same size, 250 steps each on 1,500 reviews; time is that of 300 answers.
    """
    train, valid, test = rated(1500), rated(100, "valid"), rated(300, "test")
    encoder = trial(
        "rate-by-encoder",
        classification(250, longest=128),
        {"train.jsonl": labelled(train), "valid.jsonl": labelled(valid)},
    )
    both = trial(
        "rate-by-writing",
        _writing(),
        {
            "train.text": _column(train, 0),
            "train.rating": _column(train, 1),
            "valid.text": _column(valid, 0),
            "valid.rating": _column(valid, 1),
        },
    )
    sizes = [run.metrics["training"]["parameters"] for run in (encoder, both)]
    scores = [accuracy(run, test) for run in (encoder, both)]
    seconds = [_seconds(Predictor(run), [text for text, _ in test]) for run in (encoder, both)]
    return Measured(
        f"encoder {scores[0]:.0%}, encoder-decoder {scores[1]:.0%} right; writing takes "
        f"{seconds[1] / seconds[0]:.1f} times as long",
        (
            Figure("encoder: accuracy", scores[0]),
            Figure("encoder-decoder: accuracy", scores[1]),
            Figure(
                "encoder at least as good", scores[0] - scores[1], scores[0] >= scores[1] - 0.02
            ),
            Figure(
                "encoder-decoder over encoder, time (varies)",
                seconds[1] / seconds[0],
                seconds[1] > seconds[0],
            ),
            Figure("encoder: parameters", sizes[0]),
            Figure("encoder-decoder: parameters", sizes[1]),
        ),
    )


def _writing() -> dict[str, Any]:
    return {
        "task": "translation",
        "data": {"format": "parallel"},
        "text": {"tokenizer": "words", "vocabulary": 1500, "longest": 128},
        "model": {
            "width": 48,
            "depth": 1,
            "decoder_depth": 1,
            "feed_forward": 64,
            "dropout": 0.0,
            "mixer": {"kind": "attention", "heads": 4},
        },
        "training": training(250),
        "decoding": {"method": "greedy"},
    }


def _column(rows: list[tuple[str, str]], place: int) -> str:
    return "".join(f"{row[place]}\n" for row in rows)


def _seconds(predictor: Predictor, texts: list[str]) -> float:
    import time

    predictor.predict(texts[:10])
    start = time.perf_counter()
    predictor.predict(texts)
    return time.perf_counter() - start


POOLING = Claim(
    name="pooling-trained",
    numbers=(45,),
    source="D0 Q8, D4 Q6; Devlin et al. 2019",
    statement="Reading a sentence from one token, [CLS], is a poor choice.",
    layer="layers/pooling.py",
    reading="Fine-tuned, [CLS] can learn to gather what it needs. Frozen, it holds what "
    "pretraining "
    "asked of it, and without a task for pairs nothing was.",
    then='Pretrain with pairs = "next-sentence", which trains [CLS], and repeat.',
    condition="the body is frozen, or was never asked to use [CLS]",
    measure=_pooling,
    slow=True,
)
RIGHT = Claim(
    name="right-context-trained",
    numbers=(47,),
    source="D3 Q5; Devlin et al. 2019, §1",
    statement="A one-sided model is limited where the evidence stands to the right.",
    layer="layers/visibility.py",
    reading="12.5% is guessing among 8 letters: no training gives a state what it cannot see.",
    then='Read at the last state instead (pooling = "last"): the one-sided model is as good there.',
    measure=_right,
    slow=True,
)
ENCODER = Claim(
    name="encoder-or-both",
    numbers=(50,),
    source="D2 i",
    statement="For classifying reviews an encoder is enough; an encoder-decoder is for "
    "writing texts.",
    layer="models/classifier.py",
    reading="The encoder-decoder can do it too, by writing the rating, at more time per answer. "
    "Translations and summaries have lengths of their own and need it; pages to be found are "
    "encoded "
    "once and compared, which needs no decoder.",
    then="bench/shapes.py runs both shapes on all four tasks, at the same number of parameters.",
    measure=_encoder,
    slow=True,
)
