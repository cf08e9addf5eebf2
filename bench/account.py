"""Predicted against measured: parameters, FLOPs, memory and time of shipped recipes.

Predicted parameters, FLOPs and memory come from the formulas for one batch; measured are the model's
own parameters, every matrix product of that step on the reference path, and the peak of torch's
allocator. Predicted seconds are those of ``regard account RECIPE``: steps on the first texts of the
data, or on synthetic text without data. Measured seconds are steps on all of the data as the recipe
says (``--data FOLDER`` replaces the folder ``data`` that recipes name), or on synthetic text of another
length. Rounds of both alternate, so that load affects both; ``--clock cpu`` counts processor time
instead, for busy machines. ``typical`` is the FLOPs of the batch that ``regard account RECIPE``
describes, over the mean of the data's batches.
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

import torch
from torch.profiler import ProfilerActivity, profile

from regard.account.memory import memory
from regard.account.observed import FlopCounter, facts_of_model
from regard.account.operations import operations
from regard.account.parameters import count
from regard.account.plan import ledger_of
from regard.errors import RegardError
from regard.layers.tap import Tap, listen
from regard.recipe.load import load
from regard.tasks.kinds import task_class
from regard.training.allocator import configure_malloc
from regard.training.preparation import prepare
from regard.training.sample import read_sample
from regard.training.step_timing import batch_loads, build_training, time_on_sample, time_steps
from regard.training.synthetic_data import TextShape, make_synthetic_data
from regard.training.watcher import SilentWatcher

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
OTHERS = ["documents-han", "documents-context", "search", "summaries"]
YELP = [
    'data.train=["data/yelp/train.jsonl.gz"]',
    'data.valid=["data/yelp/dev.jsonl.gz"]',
    "data.test=[]",
]
BOOKS = ["gutenberg/war_and_peace.txt", "wikitext2/wiki.valid.raw", "wikitext2/wiki.test.raw"]
SETS = {
    "documents-han": YELP,
    "documents-context": YELP,
    "bert": [f"data.train={json.dumps([f'data/{name}.gz' for name in BOOKS])}"],
}
"""Real texts for recipes that name a world, or a file that is prepared by hand."""
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def flops_of_a_step(stepper, state, batch):
    """Count every matrix product of one step on the reference path; in float64, LSTMs included."""
    model = state.model.double().train()
    has_taps = any(isinstance(part, Tap) for part in model.modules())
    with listen(model) if has_taps else nullcontext(), FlopCounter() as products:
        stepper.task.loss(model, batch).smoothed.backward()
        for optimizer in state.optimizers:
            optimizer.step()
    return products.flops


def peak_memory(take):
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        take()
    found = recorded.profiler.kineto_results.events()
    alive = most = 0
    for _, size in sorted((e.start_ns(), e.nbytes()) for e in found if e.name() == "[memory]"):
        alive += size
        most = max(most, alive)
    return most


def on_the_data(recipe, folder):
    """Load all of the data, or make synthetic text of other lengths than the prediction's."""
    try:
        return "real data", prepare(recipe, SilentWatcher())
    except RegardError:
        shape = TextShape(
            recipe.text.vocabulary, max(8, task_class(recipe).typical_length(recipe) * 3 // 4)
        )
        return "synthetic", make_synthetic_data(recipe, shape, folder)


def load_predicted(recipe, folder):
    """Return the data that ``regard account RECIPE`` times steps on."""
    try:
        return read_sample(recipe, folder).prepared
    except RegardError:
        return make_synthetic_data(
            recipe,
            TextShape(recipe.text.vocabulary, task_class(recipe).typical_length(recipe)),
            folder,
        )


def typical_flops(recipe, facts, prepared):
    """Divide the FLOPs that ``regard account RECIPE`` describes by the mean of the data's batches."""
    try:
        _, predicted, load, _ = time_on_sample(recipe, timed=False)
    except RegardError:
        return None
    means = [
        operations(recipe, ledger_of(recipe, facts, one)).step for one in batch_loads(prepared)
    ]
    step = operations(
        recipe,
        ledger_of(recipe, predicted._replace(output_vocabulary=facts.output_vocabulary), load),
    ).step
    return step / statistics.mean(means)


def measure(name, chosen):
    recipe, clock = load(name, SETS.get(name, [])), CLOCKS[chosen.clock]
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        source, prepared = on_the_data(recipe, Path(one))
        task = prepared.task
        stepper, state = build_training(task.recipe, prepared)
        facts = facts_of_model(state.model, task.tokenizer.size)
        begin = clock()
        other = load_predicted(recipe, Path(two))
        inspection = clock() - begin
        guess = build_training(other.task.recipe, other)
        pairs = []
        for _ in range(chosen.rounds):
            predicted, _ = time_steps(*guess, patience=chosen.patience, clock=clock)
            took, _ = time_steps(stepper, state, patience=chosen.patience, clock=clock)
            pairs.append((predicted, took))
        del guess
        gc.collect()
        batch = task.batch(stepper.store, stepper.stream[0], (1,))
        entries = ledger_of(task.recipe, facts, task.load(batch))
        usual = typical_flops(recipe, facts, prepared)

        def take():
            fresh = build_training(task.recipe, prepared)
            for _ in range(2):
                fresh[0].take(fresh[1], 0)
            if task.recipe.training.keep == "best":
                fresh[1].best = fresh[1].copy()
                fresh[0].take(fresh[1], 0)

        alive = peak_memory(take)
        numbers = sum(p.numel() for p in state.model.parameters())
        by_formula = operations(task.recipe, entries)
        _, fresh = build_training(task.recipe, prepared)
        flops = flops_of_a_step(stepper, fresh, batch)
    seconds = statistics.median(predicted / took for predicted, took in pairs)
    return {
        "recipe": name,
        "steps on": source,
        "parameters": [count(entries).total, numbers],
        "flops": [by_formula.step, flops],
        "memory": [memory(task.recipe, entries).peak, alive],
        "seconds": [statistics.median(s for s, _ in pairs), statistics.median(t for _, t in pairs)],
        "time ratio": seconds,
        "typical": usual,
        "inspection seconds": inspection,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*NAMES, *OTHERS])
    parser.add_argument("--data", type=Path, help="the folder that recipes call data")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--patience", type=float, default=2.0, help="seconds of steps in a round")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    configure_malloc()
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
            row = measure(name, chosen)
            rows.append(row)
            ratios = [row[what][0] / row[what][1] for what in ("parameters", "flops", "memory")]
            print(
                f"{name:18}{row['parameters'][1]:>14,}{row['flops'][1] / 1e9:>10.2f}"
                f"{row['memory'][1] / 2**20:>8.0f}{1000 * row['seconds'][1]:>8.0f}   parameters "
                f"{ratios[0]:.4f}  FLOPs {ratios[1]:.4f}  memory {ratios[2]:.3f}  time "
                f"{row['time ratio']:.3f}  typical {row['typical'] or float('nan'):.3f}  inspected in "
                f"{row['inspection seconds']:.1f} s  ({row['steps on']})",
                flush=True,
            )
        os.chdir(home)
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
