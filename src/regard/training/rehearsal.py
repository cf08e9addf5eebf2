"""A rehearsal: real steps of a recipe on made-up text, to learn what steps cost on this machine.

Everything is the recipe's own (task, model, optimizer, batches) but the words, which are drawn
evenly from a vocabulary of the right size, so that no data need be there. What it learns is thrown
away.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from regard.account.facts import Facts, default_length, default_written, load_of
from regard.account.machine import flops
from regard.account.observed import observed
from regard.account.operations import operations
from regard.account.plan import ledger_of
from regard.account.time import Pace, extrapolated
from regard.data.store import Store
from regard.recipe.recipe import ENCODER_DECODERS, Recipe
from regard.tasks.from_recipe import TASKS, make_task, make_tokenizer
from regard.tasks.retrieval.example import Tag
from regard.tasks.task import Texts
from regard.training.optimizer import make_optimizers
from regard.training.preparation import Prepared, prepare
from regard.training.randomness import INITIALISATION, seed_torch
from regard.training.state import State
from regard.training.step import Stepper
from regard.training.watcher import Nobody

LEAST, MOST = 3, 24  # steps that are timed
SENTENCE = 12  # words of a made-up sentence
BATCHES = 4  # how many steps the made-up text lasts for
SLOW = 2.0  # seconds of a step from which on shallow models stand in


Clock = Callable[[], float]


class Pages(NamedTuple):
    """What is made up."""

    vocabulary: int
    length: int
    """Tokens of a text, about; exactly where ``even``."""
    even: bool = False


def rehearsal(recipe: Recipe, pages: Pages, folder: Path) -> tuple[Stepper, State]:
    """Make everything that a first step needs; ``folder`` takes the made-up ids."""
    recipe = _settled(recipe, pages)
    examples = list(_examples(recipe, pages))
    tokenizer = make_tokenizer(recipe, lambda: iter(_lesson(recipe, pages)))
    task = make_task(recipe, tokenizer)
    store = Store.open_or_write(
        folder,
        lambda: iter(examples),
        task.encode,
        key=(recipe.task, tokenizer.fingerprint, *task.encoded_by),
        longest=None,
    )
    return on_stage(recipe, Prepared(task, store, task.stream(store), lambda: iter(examples), []))


def on_stage(recipe: Recipe, prepared: Prepared) -> tuple[Stepper, State]:
    """Build the model and what moves it, for data that is ready."""
    seed_torch(recipe.seed, INITIALISATION)
    model = prepared.task.build()
    prepared.task.begin(model, prepared.store)
    optimizers = make_optimizers(model, recipe.training.optimizer)
    state = State(model, optimizers, ema=recipe.training.ema)
    stepper = Stepper(recipe, prepared.task, prepared.store, prepared.stream, steps=1000)
    return stepper, state


def seconds_per_step(recipe: Recipe, pages: Pages, *, patience: float = 2.0) -> tuple[float, float]:
    """Time steps for about ``patience`` seconds; return seconds and tokens of one step.

    Steps cut into shards are timed by one shard, and the optimizer apart.
    """
    shards = recipe.training.shards
    part = {"shards": 1, "batch_tokens": max(1, recipe.training.batch_tokens // shards)}
    whole = recipe.model_copy(update={"training": recipe.training.model_copy(update=part)})
    with tempfile.TemporaryDirectory() as folder:
        stepper, state = rehearsal(whole, pages, Path(folder))
        taken, tokens = timed(stepper, state, patience=patience)
        moving = _moving(state) if shards > 1 else 0.0
    return shards * taken - (shards - 1) * moving, shards * tokens


def timed(
    stepper: Stepper, state: State, *, patience: float, clock: Clock = time.perf_counter
) -> tuple[float, float]:
    """Return the mean seconds and tokens of steps spread over one epoch, after a first one."""
    places = np.linspace(0, stepper.stream.steps_per_epoch - 1, MOST).astype(int)
    places = np.random.default_rng(0).permutation(places)
    begin = clock()
    stepper.take(state, int(places[0]))
    least = 1 if clock() - begin > patience else LEAST
    seconds: list[float] = []
    tokens: list[int] = []
    while len(seconds) < least or (sum(seconds) < patience and len(seconds) < MOST):
        begin = clock()
        stepped = stepper.take(state, int(places[len(seconds)]))
        seconds.append(clock() - begin)
        tokens.append(stepped.tokens)
    return float(np.mean(seconds)), float(np.mean(tokens))


def pace(recipe: Recipe, facts: Facts, length: int | None = None) -> Pace:
    """Find out how fast steps go here; deep models that are slow are timed by shallow ones."""
    pages = Pages(facts.vocabulary, length or default_length(recipe))
    entries = ledger_of(recipe, facts, load_of(recipe, length))
    shards = recipe.training.shards
    expected = operations(recipe, entries).step / shards / flops(torch.float32, 0.05)
    if expected < SLOW:
        seconds, tokens = seconds_per_step(recipe, pages)
        return Pace(seconds, tokens, "steps taken here on made-up text")
    seconds, tokens = _by_shallow_ones(recipe, pages)
    return Pace(seconds, tokens, "steps of shallower models, taken here on made-up text")


def _by_shallow_ones(recipe: Recipe, pages: Pages) -> tuple[float, float]:
    """Add what one more block costs, on either side of a translator, as often as there are more."""
    model = recipe.model
    once = {"depth": 1, "decoder_depth": 1}
    first, tokens = _at(recipe, pages, once)
    seconds = extrapolated(first, _at(recipe, pages, once | {"depth": 2})[0], model.depth)
    if recipe.task in ENCODER_DECODERS:
        deeper = _at(recipe, pages, once | {"decoder_depth": 2})[0]
        seconds += extrapolated(first, deeper, model.decoder_depth) - first
    return seconds, tokens


def _at(recipe: Recipe, pages: Pages, depths: dict[str, int]) -> tuple[float, float]:
    shallow = recipe.model.model_copy(update=depths)
    return seconds_per_step(recipe.model_copy(update={"model": shallow}), pages)


def _moving(state: State) -> float:
    begin = time.perf_counter()
    for optimizer in state.optimizers:
        optimizer.step()
    return time.perf_counter() - begin


def _settled(recipe: Recipe, pages: Pages) -> Recipe:
    """Let words be the tokens, and settle the labels that the data would have."""
    text = {"tokenizer": "words", "dropout": 0.0, "lowercase": False}
    text |= {"vocabulary": pages.vocabulary}
    data: dict[str, Any] = {}
    if recipe.data.scores:
        data["score_range"] = recipe.data.score_range or (0.0, 1.0)
    elif not recipe.data.labels:
        data["labels"] = ("a", "b")
    start = recipe.model.start.model_copy(update={"run": None, "lexicon": False})
    return recipe.model_copy(
        update={
            "text": recipe.text.model_copy(update=text),
            "data": recipe.data.model_copy(update=data),
            "model": recipe.model.model_copy(update={"start": start}),
        }
    )


def _words(vocabulary: int) -> list[str]:
    """As many words as there are tokens beside bytes and special ones."""
    count = max(8, vocabulary - 263)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [
        "X" + letters[n % 26] + letters[n // 26 % 26] + letters[n // 676 % 26] + letters[n // 17576]
        for n in range(count)
    ]


def _lesson(recipe: Recipe, pages: Pages) -> Iterator[Texts]:
    """Every word once: what the tokenizer learns from."""
    words = _words(pages.vocabulary)
    yield from (
        (" ".join(words[n : n + 100]),) * TASKS[recipe.task].fields
        for n in range(0, len(words), 100)
    )


def _examples(recipe: Recipe, pages: Pages) -> Iterator[Texts]:
    """Make up enough examples for a few steps."""
    task, rng = TASKS[recipe.task], np.random.default_rng(recipe.seed)
    words = np.array(_words(pages.vocabulary))
    rows = max(1, recipe.training.batch_tokens // pages.length) * BATCHES
    label = _label(recipe)
    for _ in range(max(BATCHES + 2, rows)):
        spread = 1.0 if pages.even else float(np.clip(rng.normal(1.0, 0.3), 0.4, 1.6))
        texts = []
        for length in (pages.length, default_written(recipe, pages.length))[: task.texts]:
            count = max(1, int(spread * length * SENTENCE / (SENTENCE + 1)) - 1)
            texts.append(_text(rng.choice(words, count).tolist()))
        yield (*texts, *([label] * (task.fields - task.texts)))


def _text(words: list[str]) -> str:
    """Sentences, for those who ask about them."""
    cut = [words[n : n + SENTENCE] for n in range(0, len(words), SENTENCE)]
    return " ".join(" ".join(sentence) + "." for sentence in cut)


def _label(recipe: Recipe) -> str:
    if recipe.task == "retrieval":
        return Tag("document", titled=True).written()
    if recipe.data.scores:
        assert recipe.data.score_range is not None
        return str(recipe.data.score_range[0])
    return recipe.data.labels[0]


def pace_on_data(recipe: Recipe) -> tuple[Recipe, Facts, Pace]:
    """Read a recipe's data as training does, and time real steps on it."""
    prepared = prepare(recipe, Nobody())
    recipe = prepared.task.recipe
    stepper, state = on_stage(recipe, prepared)
    seconds, tokens = timed(stepper, state, patience=4.0)
    pace = Pace(seconds, tokens, "steps taken here on its data", prepared.stream.steps_per_epoch)
    return recipe, observed(state.model, prepared.task.tokenizer.size), pace
