"""Where to read a text's state, from which side, and whether a decoder is needed (D2 i, D3, D4)."""

import random
from functools import partial
from typing import Any

from regard.claims.claim import Figure, Measured, claim
from regard.claims.counters import time_fastest
from regard.claims.pretraining.comparison import body, tuned
from regard.claims.recipes import classification, rated, training
from regard.claims.seeds import Seeds, compare, means, spread
from regard.claims.table import list_values, tabulate
from regard.claims.trials import accuracy, labelled_files, trial
from regard.draw.bars import Bars
from regard.inference.predictor import Predictor

POOLINGS = ("cls", "mean", "max", "attention", "hops")


@claim(
    numbers=(45,),
    source="D0 Q8, D4 Q6; Devlin et al. 2019",
    statement="Reading a sentence from one token, [CLS], is a poor choice.",
    layer="layers/pooling.py",
    reading="Fine-tuned, [CLS] can learn to gather what it needs. Frozen, it holds what "
    "pretraining "
    "asked of it, and without a task for pairs nothing was.",
    then='Pretrain with pairs = "next-sentence", which trains [CLS], and repeat.',
    condition="the body is kept as it was pretrained, where nothing was asked of [CLS]",
    slow=True,
)
def pooling_trained() -> Measured:
    """Learn 100 ratings from one pretrained body with each pooling, whole and frozen, three seeds.

    A better pooling counts if it is better by more than the seeds of either differ.
    """
    start = body()
    whole = {name: tuned(start, name, freeze=False) for name in POOLINGS}
    frozen = {name: tuned(start, name, freeze=True) for name in POOLINGS}
    return Measured(
        f"fine-tuned: {list_values('{} {:.0%}', means(whole))}; frozen: "
        f"{list_values('{} {:.0%}', means(frozen))}",
        (*_against_cls("fine-tuned", whole), *_against_cls("frozen", frozen)),
        Bars("Accuracy, frozen", list(means(frozen).items())),
    )


def _against_cls(way: str, found: dict[str, Seeds]) -> tuple[Figure, ...]:
    best = max((name for name in found if name != "cls"), key=lambda name: found[name].mean)
    return (
        *tabulate(f"{way}, {{}}", means(found)),
        Figure(f"{way}, seeds differ by", spread(found[best], found["cls"])),
        compare(f"best other above [CLS], {way}", found[best], found["cls"]),
    )


def last_decides(seed: int, count: int) -> list[tuple[str, str]]:
    """Give rows of letters whose label is their last one: all evidence stands to the right."""
    chance = random.Random(seed)
    rows = [[chance.choice("abcdefgh") for _ in range(12)] for _ in range(count)]
    return [(" ".join(row), row[-1]) for row in rows]


@claim(
    numbers=(47,),
    source="D3 Q5; Devlin et al. 2019, §1",
    statement="A one-sided model is limited where the evidence stands to the right.",
    layer="layers/visibility.py",
    reading="12.5% is guessing among 8 letters: no training gives a state what it cannot see.",
    then='Read at the last state instead (pooling = "last"): the one-sided model is as good there.',
    slow=True,
)
def right_context_trained() -> Measured:
    """Train a causal and a two-sided body to say the last of 12 letters from the first state."""
    rows = last_decides(0, 2000)
    files = labelled_files(rows[200:], rows[:200])
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


@claim(
    numbers=(50,),
    source="D2 i",
    statement="For classifying reviews an encoder is enough; an encoder-decoder is for "
    "writing texts.",
    layer="models/classifier.py",
    reading="The encoder-decoder can do it too, by writing the rating: its decoder looks where it "
    "needs to, and so must the encoder's head. A rating is one word, so writing takes no longer. "
    "Translations and summaries have lengths of their own and need it; pages to be found are "
    "encoded "
    "once and compared, which needs no decoder.",
    condition="its head looks at the states for itself, instead of taking their mean",
    then="bench/shapes.py runs both shapes on all four tasks, at the same number of parameters.",
    slow=True,
)
def encoder_or_both() -> Measured:
    """Rate reviews by an encoder with a head, and by an encoder-decoder that writes the rating.

    Of about the same size, 800 steps each on 4,000 reviews; the head reads the mean of the states,
    or looks for itself, as a decoder does. Time is that of 300 answers.
    """
    train, valid, test = rated(4000), rated(100, "valid"), rated(300, "test")
    mean, look = (
        trial(
            f"rate-by-{pooling}",
            classification(800, longest=128, head={"pooling": pooling, "dropout": 0.0}),
            labelled_files(train, valid),
        )
        for pooling in ("mean", "attention")
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
    runs = {"encoder, mean": mean, "encoder, look": look, "encoder-decoder": both}
    scores = {name: accuracy(run, test) for name, run in runs.items()}
    written = scores["encoder-decoder"]
    gains = {name: one - written for name, one in scores.items() if name != "encoder-decoder"}
    enough = {name: scores[name] >= written - 0.02 for name in gains}
    texts = [text for text, _ in test]
    slower = _seconds(Predictor(both), texts) / _seconds(Predictor(look), texts)
    return Measured(
        f"encoder {scores['encoder, mean']:.0%} by the mean of its states and "
        f"{scores['encoder, look']:.0%} by a look at them, encoder-decoder {written:.0%} right; "
        f"writing takes {slower:.1f} times as long",
        (
            *tabulate("{}: accuracy", scores),
            *tabulate("{}: above encoder-decoder", gains, enough),
            Figure("encoder-decoder over encoder, time (varies)", slower, slower > 1),
            *tabulate(
                "{}: parameters",
                {name: run.metrics["training"]["parameters"] for name, run in runs.items()},
            ),
        ),
    )


def _writing() -> dict[str, Any]:
    return {
        "task": "translation",
        "data": {"format": "parallel"},
        "text": {"tokenizer": "words", "vocabulary": 1500, "max_length": 128},
        "model": {
            "width": 48,
            "depth": 1,
            "decoder_depth": 1,
            "feed_forward": 64,
            "dropout": 0.0,
            "mixer": {"kind": "attention", "heads": 4},
        },
        "training": training(800),
        "decoding": {"method": "greedy"},
    }


def _column(rows: list[tuple[str, str]], place: int) -> str:
    return "".join(f"{row[place]}\n" for row in rows)


def _seconds(predictor: Predictor, texts: list[str]) -> float:
    predictor.predict(texts[:10])
    return time_fastest(partial(predictor.predict, texts), 1)
