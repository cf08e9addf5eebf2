"""A translator trained end to end, and a step of the base model on this machine (D0)."""

import math
import re
import resource
import time
from itertools import islice
from typing import Any

import torch

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.counters import count_parameters
from regard.claims.recipes import training
from regard.claims.seeds import Seeds, compare, largest_spread
from regard.claims.transformer.sizes import BASE, VOCABULARY
from regard.claims.trials import run_trial
from regard.data.worlds.scenes import draw_scenes
from regard.inference.predictor import Predictor
from regard.models.build.writing import transformer
from regard.recipe.model import ModelSettings
from regard.run import Run
from regard.tasks.losses import head_loss

STEPS, PAPER_STEPS, PAPER_TOKENS, PAPER_FLOPS = 400, 100_000, 50_000, 3.3e18
GPU = 80e12  # operations a second of one graphics card of 2020, half of its peak
SEEDS, USABLE = (1, 2), 60.0
FOREIGN = ("Im Jahr 1987 sah Xavier einen Quastenflosser.", "Der Hund sieht 17 Katzen.")
"""Sentences with words unknown to the built-in world: a year, a name, a rare word, a number."""


def _make_files() -> dict[str, str]:
    train, valid = (
        list(islice(draw_scenes(split), many)) for split, many in (("train", 6000), ("valid", 200))
    )
    return {
        "train.de": "".join(f"{one.source}\n" for one in train),
        "train.en": "".join(f"{one.target}\n" for one in train),
        "valid.de": "".join(f"{one.source}\n" for one in valid),
        "valid.en": "".join(f"{one.target}\n" for one in valid),
    }


def train_translator(smoothing: float = 0.1, *, average: int = 0, seed: int = 1) -> Run:
    """Train a smaller version of the recipe scenes for 400 steps, or load the run."""
    tables: dict[str, Any] = {
        "task": "translation",
        "seed": seed,
        "text": {"vocabulary": 2000, "max_length": 64},
        "model": {
            "width": 96,
            "depth": 2,
            "decoder_depth": 2,
            "feed_forward": 192,
            "dropout": 0.0,
            "norm": "layer",
            "position": {"kind": "rotary", "base": 100.0},
            "start": {"lexicon": True},
        },
        "training": training(
            STEPS,
            batch_tokens=1024,
            label_smoothing=smoothing,
            average=average,
            checkpoints=20,
            optimizer={
                "kind": "muon",
                "rate": 0.03,
                "rest": {"rate": 3e-3, "betas": [0.9, 0.95], "weight_decay": 0.0},
            },
        ),
        "decoding": {"beam": 4, "length_penalty": 0.6},
    }
    return run_trial("translator", tables, _make_files())


def _load_scores(run: Run) -> dict[str, Any]:
    return run.metrics["valid"]["metrics"]


def _measure_perplexity(run: Run) -> float:
    """Compute the perplexity per token on unseen pairs, without smoothing."""
    pairs: list[tuple[str, ...]] = [
        (one.source, one.target) for one in islice(draw_scenes("valid"), 200)
    ]
    with torch.no_grad():
        lost = run.task.loss(run.model, run.task.pad(run.task.encode(pairs)))
    return math.exp(lost.plain / lost.tokens)


@claim(
    numbers=(33,),
    source="D0; Vaswani et al. 2017, §5.4",
    statement="Label smoothing hurts perplexity and improves BLEU.",
    layer="tasks/losses.py",
    meaning="Perplexity is measured without smoothing in both. The synthetic corpus is nearly "
    "solved: little of BLEU is left to improve, and two seeds of one setting differ as well.",
    next_step="Repeat with more seeds on real text (`regard train multi30k`) and `regard compare`.",
    condition="only one of the two metrics is considered",
    slow=True,
)
def label_smoothing_trained() -> Measurement:
    """Train the same translator with label smoothing 0 and 0.1, 400 steps, two seeds each.

    A rise counts if it is larger than the spread of the seeds of either.
    """
    runs = {share: [train_translator(share, seed=seed) for seed in SEEDS] for share in (0.0, 0.1)}
    perplexity = {
        share: Seeds(tuple(map(_measure_perplexity, found))) for share, found in runs.items()
    }
    bleu = {
        share: Seeds(tuple(_load_scores(run)["bleu"] for run in found))
        for share, found in runs.items()
    }
    return Measurement(
        f"perplexity {perplexity[0.0].mean:.2f} to {perplexity[0.1].mean:.2f}, BLEU "
        f"{bleu[0.0].mean:.1f} to {bleu[0.1].mean:.1f} (seeds differ by up to "
        f"{largest_spread(*bleu.values()):.1f})",
        (*_compare_settings("perplexity", perplexity), *_compare_settings("BLEU", bleu)),
    )


def _compare_settings(name: str, found: dict[float, Seeds]) -> tuple[Figure, ...]:
    plain, smoothed = found[0.0], found[0.1]
    return (
        Figure(f"{name} without smoothing", plain.mean),
        Figure(f"{name} with 0.1", smoothed.mean),
        Figure(f"{name}, seeds differ by", largest_spread(plain, smoothed)),
        compare(f"{name} rises by", smoothed, plain),
    )


@claim(
    numbers=(37, 38, 39),
    source="D0 Q7; Vaswani et al. 2017, §6.1",
    statement="A German-English Transformer can be trained end to end, to usable quality, on one "
    "machine.",
    layer="tasks/translation.py",
    meaning="D0's training was inconclusive: its answers repeat words, lose numbers and contain "
    "<UNK>. Ours falls back to bytes for unknown characters, so nothing is unknown; unseen "
    "numbers are still its weakness, which model.copying addresses.",
    next_step="`regard train scenes`, or `regard train multi30k` with real text; then translate "
    "D0's three sentences with `regard predict`.",
    correction="D0's “training was inconclusive” is not the last word: see the recipes scenes and "
    "multi30k.",
    slow=True,
)
def end_to_end_translation() -> Measurement:
    """Train a small translator for 400 steps and measure BLEU, also with checkpoints averaged.

    Its answers to 200 unseen sentences, and to two with a year, a number and a name, are checked
    for the failures that the document shows: repeated words, lost numbers, unknown words.
    """
    run, averaged = train_translator(), train_translator(average=5)
    bleu, mean = _load_scores(run)["bleu"], _load_scores(averaged)["bleu"]
    baseline = run.metrics["valid"]["metrics"]["baseline"]["bleu"]
    answers = [answer["answered"] for answer in run.answers]
    twice = sum(bool(re.search(r"\b(\w+)[ ,]+\1\b", answer)) for answer in answers)
    foreign = [answer.text for answer in Predictor(run).predict(FOREIGN)]
    unknown = sum("<unk>" in answer.lower() for answer in [*answers, *foreign])
    numbers = sum(number in answer for number, answer in zip(("1987", "17"), foreign, strict=True))
    return Measurement(
        f"BLEU {bleu:.1f} (copying {baseline:.1f}), {mean:.1f} averaged; {twice} of {len(answers)} "
        f"answers repeat a word, {numbers} of 2 numbers are kept",
        (
            Figure("BLEU", bleu, bleu > USABLE),
            Figure("BLEU of the plain baseline", baseline),
            Figure("BLEU, last 5 checkpoints averaged", mean),
            Figure("share of answers with a repeated word", twice / len(answers)),
            Figure("unseen numbers kept, of 2", numbers),
            Figure("unknown words in answers", unknown, unknown == 0),
        ),
    )


@claim(
    numbers=(31,),
    source="D0 Q6; Vaswani et al. 2017, table 2",
    statement="A model of 65M parameters cannot be trained on a single computer.",
    layer="models/transformer.py",
    meaning="The statement would need memory or time beyond one machine. A step fits into the "
    "memory of a laptop; the whole training takes half a day on one graphics card, and years on a "
    "few processor cores.",
    next_step="`regard account transformer-base` gives memory and time for your own machine.",
    correction="Trainable on one machine with a graphics card; on processor cores a matter of "
    "years, not of memory.",
    slow=True,
)
def untrainable_on_one_computer() -> Measurement:
    """Build the base model with 37,000 tokens, take two steps of Adam on 2 sequences of 64 words.

    Memory is the peak of the process, time that of the second step, extrapolated to the paper's
    100,000 steps of 50,000 tokens, and to one graphics card by the paper's 3.3·10¹⁸ operations.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = transformer(ModelSettings(**{**BASE, "dropout": 0.0}), VOCABULARY)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
        seconds = 0.0
        for _ in range(2):
            start = time.perf_counter()
            ids = torch.randint(7, VOCABULARY, (2, 65))
            lengths = torch.tensor([64, 64])
            states = model(ids[:, :64], ids[:, :64], source_lengths=lengths, target_lengths=lengths)
            loss = head_loss(model.head, states.flatten(0, 1), ids[:, 1:].flatten())
            optimizer.zero_grad()
            (loss.smoothed / loss.tokens).backward()
            optimizer.step()
            seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    memory = 16 * count_parameters(model)
    years = seconds / 256 * PAPER_STEPS * PAPER_TOKENS / (365 * 86400)
    hours = PAPER_FLOPS / GPU / 3600
    return Measurement(
        f"a step of 256 tokens takes {seconds:.1f} s and the process {peak / 1e9:.1f} GB; the "
        "whole "
        f"training {years:.1f} years here, {hours:.1f} hours on one graphics card",
        (
            Figure("bytes for parameters, gradients and Adam", memory, given=1.04e9, within=0.04),
            Figure("peak of the process in bytes (varies)", peak),
            Figure("seconds of one step (varies)", seconds),
            Figure("hours on one graphics card", hours, hours > 24 * 30, given=11.5, within=0.01),
            Figure("years on this machine (varies)", years),
        ),
    )
