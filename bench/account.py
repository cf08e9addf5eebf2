"""Predicted against measured: parameters, FLOPs, memory and time of shipped recipes.

Predicted is what ``regard account`` says, with ``--told`` of texts as long as the data's are on
average (its ``--length``). Measured are the model's own numbers, every matrix product of one step on
the reference path, the most bytes torch's allocator had out during a step, and the seconds of real
steps: on the recipe's own data where it is there (``--data FOLDER`` stands for the folder ``data`` that
recipes name), otherwise on made-up text of other lengths. Rounds of predicted and measured steps are
taken in turn, so that a busy moment meets both; ``--clock cpu`` counts the
processor's time instead, for machines that are not quiet.
"""

import argparse
import gc
import json
import os
import statistics
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from regard.account.facts import default_length
from regard.account.memory import memory
from regard.account.observed import Products, load_of_batch, observed
from regard.account.operations import operations
from regard.account.parameters import count
from regard.account.plan import ledger_of
from regard.errors import RegardError
from regard.layers.tap import Tap, listen
from regard.recipe.load import load
from regard.training.allocator import keep_pages
from regard.training.preparation import prepare
from regard.training.rehearsal import Pages, on_stage, rehearsal, timed
from regard.training.watcher import Nobody

NAMES = [
    "scenes",
    "multi30k",
    "multi30k-long",
    "shakespeare",
    "shakespeare-long",
    "bert",
    "reviews-scratch",
    "sentence-pairs",
    "lab-sentiment",
    "self-attentive",
]
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def flops_of_a_step(stepper, state, batch):
    """Every product of one step, on the reference path; in float64, where LSTMs are products too."""
    model = state.model.double().train()
    heard = any(isinstance(part, Tap) for part in model.modules())
    with listen(model) if heard else nullcontext(), Products() as products:
        stepper.task.loss(model, batch).smoothed.backward()
        for optimizer in state.optimizers:
            optimizer.step()
    return products.flops


def most_alive(take):
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        take()
    found = recorded.profiler.kineto_results.events()
    alive = most = 0
    for _, size in sorted((e.start_ns(), e.nbytes()) for e in found if e.name() == "[memory]"):
        alive += size
        most = max(most, alive)
    return most


def real(recipe, folder):
    """Real data if it is there, else made-up text of other lengths than the prediction's."""
    try:
        prepared = prepare(recipe, Nobody())
        return "real data", on_stage(prepared.task.recipe, prepared)
    except RegardError:
        pages = Pages(recipe.text.vocabulary, max(8, default_length(recipe) * 3 // 4))
        return "made up", rehearsal(recipe, pages, folder)


def usual_length(stepper):
    """Mean tokens of the texts that are read, over twenty batches of an epoch."""
    found = []
    for place in np.linspace(0, stepper.stream.steps_per_epoch - 1, 20).astype(int):
        batch = stepper.task.batch(stepper.store, stepper.stream[int(place)], (1,))
        texts = next(field for field in batch.fields if field.ids.shape[1] > 1)
        found += texts.lengths.tolist()
    return round(statistics.mean(found))


def measured(name, chosen):
    recipe, clock = load(name), CLOCKS[chosen.clock]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        source, (stepper, state) = real(recipe, Path(one))
        task = stepper.task
        facts = observed(state.model, task.tokenizer.size)
        told = chosen.told and source == "real data"
        length = usual_length(stepper) if told else default_length(recipe)
        guess = rehearsal(recipe, Pages(facts.vocabulary, length), Path(two))
        pairs = []
        for _ in range(chosen.rounds):
            said, _ = timed(*guess, patience=chosen.patience, clock=clock)
            took, _ = timed(stepper, state, patience=chosen.patience, clock=clock)
            pairs.append((said, took))
        del guess
        gc.collect()
        batch = task.batch(stepper.store, stepper.stream[0], (1,))
        entries = ledger_of(task.recipe, facts, load_of_batch(recipe.task, batch))

        def take():
            fresh = on_stage(task.recipe, prepared_like(stepper))
            for _ in range(2):
                fresh[0].take(fresh[1], 0)
            if task.recipe.training.keep == "best":
                fresh[1].best = fresh[1].copy()
                fresh[0].take(fresh[1], 0)

        alive = most_alive(take)
        numbers = sum(p.numel() for p in state.model.parameters())
        predicted = operations(task.recipe, entries)
        _, fresh = on_stage(task.recipe, prepared_like(stepper))
        flops = flops_of_a_step(stepper, fresh, batch)
    seconds = statistics.median(said / took for said, took in pairs)
    return {
        "recipe": name,
        "steps on": source,
        "parameters": [count(entries).total, numbers],
        "flops": [predicted.step, flops],
        "memory": [memory(task.recipe, entries).peak, alive],
        "seconds": [statistics.median(s for s, _ in pairs), statistics.median(t for _, t in pairs)],
        "time ratio": seconds,
    }


def prepared_like(stepper):
    from regard.training.preparation import Prepared

    return Prepared(stepper.task, stepper.store, stepper.stream, lambda: iter(()), [])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--data", type=Path, help="the folder that recipes call data")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--patience", type=float, default=2.0, help="seconds of steps in a round")
    parser.add_argument("--told", action="store_true", help="say how long the data's texts are")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    keep_pages()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        if chosen.data:
            (Path(folder) / "data").symlink_to(chosen.data.resolve())
        home = Path.cwd()
        os.chdir(folder)
        print(
            f"{'recipe':18}{'parameters':>14}{'GFLOP':>10}{'MiB':>8}{'ms':>8}   ratio of predicted to measured"
        )
        for name in chosen.names:
            row = measured(name, chosen)
            rows.append(row)
            ratios = [row[what][0] / row[what][1] for what in ("parameters", "flops", "memory")]
            print(
                f"{name:18}{row['parameters'][1]:>14,}{row['flops'][1] / 1e9:>10.2f}"
                f"{row['memory'][1] / 2**20:>8.0f}{1000 * row['seconds'][1]:>8.0f}   parameters "
                f"{ratios[0]:.4f}  FLOPs {ratios[1]:.4f}  memory {ratios[2]:.3f}  time "
                f"{row['time ratio']:.3f}  ({row['steps on']})",
                flush=True,
            )
        os.chdir(home)
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
