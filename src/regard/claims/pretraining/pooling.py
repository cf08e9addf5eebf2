"""Pooling, causal or bidirectional bodies, and encoders without a decoder (D2 i, D3, D4)."""

import random
from functools import partial
from typing import Any

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.counters import time_fastest
from regard.claims.pretraining.objective_training import fine_tune, pretrain_body
from regard.claims.recipes import classification, make_reviews, training
from regard.claims.seeds import Seeds, average_seeds, compare, largest_spread
from regard.claims.table import list_values, tabulate
from regard.claims.trials import accuracy, make_labelled_files, run_trial
from regard.draw.bars import Bars
from regard.inference.predictor import Predictor

POOLINGS = ("cls", "mean", "max", "attention", "hops")


@claim(
    numbers=(45,),
    source="D0 Q8, D4 Q6; Devlin et al. 2019",
    statement="Representing a sentence by one token, [CLS], is a poor choice.",
    layer="layers/pooling.py",
    meaning="Fine-tuned, [CLS] can learn to gather what it needs. Frozen, it holds what "
    "pretraining trained it for, and without a sentence-pair objective that is nothing.",
    next_step='Pretrain with pairs = "next-sentence", which trains [CLS], and repeat.',
    condition="the body is frozen as it was pretrained, without an objective for [CLS]",
    slow=True,
)
def pooling_trained() -> Measurement:
    """Train on 100 ratings from one pretrained body with each pooling, fine-tuned and frozen.

    Three seeds each; a better pooling counts if its gain is larger than the spread of the seeds of
    either.
    """
    start = pretrain_body()
    whole = {name: fine_tune(start, name, freeze=False) for name in POOLINGS}
    frozen = {name: fine_tune(start, name, freeze=True) for name in POOLINGS}
    return Measurement(
        f"fine-tuned: {list_values('{} {:.0%}', average_seeds(whole))}; frozen: "
        f"{list_values('{} {:.0%}', average_seeds(frozen))}",
        (*_compare_with_cls("fine-tuned", whole), *_compare_with_cls("frozen", frozen)),
        Bars("Accuracy, frozen", list(average_seeds(frozen).items())),
    )


def _compare_with_cls(way: str, found: dict[str, Seeds]) -> tuple[Figure, ...]:
    best = max((name for name in found if name != "cls"), key=lambda name: found[name].mean)
    return (
        *tabulate(f"{way}, {{}}", average_seeds(found)),
        Figure(f"{way}, seeds differ by", largest_spread(found[best], found["cls"])),
        compare(f"best other above [CLS], {way}", found[best], found["cls"]),
    )


def make_letter_rows(seed: int, count: int) -> list[tuple[str, str]]:
    """Generate rows of letters labelled with their last one: all evidence is on the right."""
    chance = random.Random(seed)
    rows = [[chance.choice("abcdefgh") for _ in range(12)] for _ in range(count)]
    return [(" ".join(row), row[-1]) for row in rows]


@claim(
    numbers=(47,),
    source="D3 Q5; Devlin et al. 2019, §1",
    statement="A causal model is limited where the evidence is on the right.",
    layer="layers/visibility.py",
    meaning="12.5% is chance among 8 letters: no training gives a state what it cannot see.",
    next_step='Pool the last state instead (pooling = "last"): the causal model is as good there.',
    slow=True,
)
def right_context_trained() -> Measurement:
    """Train a causal and a bidirectional body to predict the label from the first state.

    The label is the last of 12 letters: all evidence is on the right.
    """
    rows = make_letter_rows(0, 2000)
    files = make_labelled_files(rows[200:], rows[:200])
    found = {}
    for name, causal in (("causal", True), ("bidirectional", False)):
        tables = classification(300, causal=causal, head={"pooling": "first", "dropout": 0.0})
        found[name] = accuracy(run_trial(f"right-{name}", tables, files), make_letter_rows(1, 400))
    return Measurement(
        f"causal {found['causal']:.0%}, bidirectional {found['bidirectional']:.0%} (chance 12%)",
        (
            Figure("causal", found["causal"], found["causal"] < 0.3),
            Figure("bidirectional", found["bidirectional"], found["bidirectional"] > 0.8),
        ),
    )


@claim(
    numbers=(50,),
    source="D2 i",
    statement="For classifying reviews an encoder is enough; an encoder-decoder is for writing "
    "texts.",
    layer="models/classifier.py",
    meaning="The encoder-decoder can classify too, by writing the rating: its decoder attends to "
    "where it needs to, and so must the encoder's head. A rating is one word, so writing takes no "
    "longer. Translations and summaries vary in length and need a decoder; documents to be "
    "searched are encoded once and compared, which needs none.",
    condition="its head pools by attention instead of taking the mean of the states",
    next_step="bench/shapes.py runs both architectures on all four tasks, at the same number of "
    "parameters.",
    slow=True,
)
def encoder_or_both() -> Measurement:
    """Rate reviews by an encoder with a head, and by an encoder-decoder that writes the rating.

    Similar sizes, 800 steps each on 4,000 reviews; the head uses mean pooling, or attention pooling
    as a decoder does. Time is that of 300 answers.
    """
    train, valid, test = make_reviews(4000), make_reviews(100, "valid"), make_reviews(300, "test")
    mean, attention = (
        run_trial(
            f"rate-by-{pooling}",
            classification(800, longest=128, head={"pooling": pooling, "dropout": 0.0}),
            make_labelled_files(train, valid),
        )
        for pooling in ("mean", "attention")
    )
    both = run_trial(
        "rate-by-writing",
        _writing_recipe(),
        {
            "train.text": _write_column(train, 0),
            "train.rating": _write_column(train, 1),
            "valid.text": _write_column(valid, 0),
            "valid.rating": _write_column(valid, 1),
        },
    )
    runs = {"encoder, mean": mean, "encoder, attention": attention, "encoder-decoder": both}
    scores = {name: accuracy(run, test) for name, run in runs.items()}
    written = scores["encoder-decoder"]
    gains = {name: one - written for name, one in scores.items() if name != "encoder-decoder"}
    enough = {name: scores[name] >= written - 0.02 for name in gains}
    texts = [text for text, _ in test]
    slower = _time(Predictor(both), texts) / _time(Predictor(attention), texts)
    return Measurement(
        f"encoder {scores['encoder, mean']:.0%} by mean pooling and "
        f"{scores['encoder, attention']:.0%} by attention pooling, encoder-decoder {written:.0%}; "
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


def _writing_recipe() -> dict[str, Any]:
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


def _write_column(rows: list[tuple[str, str]], place: int) -> str:
    return "".join(f"{row[place]}\n" for row in rows)


def _time(predictor: Predictor, texts: list[str]) -> float:
    predictor.predict(texts[:10])
    return time_fastest(partial(predictor.predict, texts), 1)
