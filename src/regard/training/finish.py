"""After the last step: choose the parameters, evaluate them as users will, write the run."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from regard import run as folders
from regard import run_files
from regard.account.observed import facts_of_model
from regard.account.summary import account
from regard.device import device_of
from regard.errors import UsageError
from regard.files import write_whole
from regard.recipe.recipe import Recipe
from regard.report.card import model_card
from regard.tasks.examples import examples, first
from regard.tasks.task import Evaluation, Texts
from regard.training import checkpoint
from regard.training.journal import Journal
from regard.training.preparation import MAX_TEST, Prepared
from regard.training.start import StartingPoint
from regard.training.state import State
from regard.training.watcher import Watcher

SAMPLES = 20  # answers kept in metrics.json


def finish(
    prepared: Prepared, state: State, began: StartingPoint | None, *, folder: Path, watcher: Watcher
) -> None:
    """Write every file of the run but its checkpoints, report and seal."""
    recipe = prepared.task.recipe
    state.load_parameters(choose_parameters(recipe, folder, state))
    prepared.task.finish_model(state.model)
    folders.write_model(folder, state.model, prepared.task.tokenizer)
    baseline = prepared.task.fit_baseline(prepared.source)
    prepared.task.load_baseline(baseline)
    held_out = first(examples(recipe, "valid"), MAX_TEST)
    baseline |= prepared.task.fit_ensemble(state.model, held_out)
    folders.write_baseline(folder, baseline)
    metrics = _evaluate(prepared, state, folder, watcher)
    counters = state.counters
    metrics["training"] = {
        "steps": counters.step,
        "seconds": counters.seconds,
        "tokens": counters.tokens,
        "tokens_per_second": counters.tokens / max(counters.seconds, 1e-9),
        "parameters": sum(parameter.numel() for parameter in state.model.parameters()),
        "examples": len(prepared.store),
        "overlong": prepared.store.counts.overlong,
        "skipped": prepared.skipped,
        "data": prepared.store.fingerprint,
        "threads": torch.get_num_threads(),
        "device": str(device_of(state.model)),
        **({"began": began.summary()} if began else {}),
        **_account(prepared, state),
    }
    write_whole(folder / run_files.METRICS, json.dumps(metrics, indent=1, ensure_ascii=False))
    Journal(folder / run_files.JOURNAL).write("end", step=counters.step, seconds=counters.seconds)
    card = model_card(recipe, metrics, baseline=prepared.task.baseline)
    write_whole(folder / run_files.CARD, card)


def _account(prepared: Prepared, state: State) -> dict[str, Any]:
    """Return what the run costs by formula, where its task has an account."""
    recipe, size = prepared.task.recipe, prepared.task.tokenizer.size
    try:
        found = account(recipe, facts_of_model(state.model, size)).as_json()
    except UsageError:  # a task without an account
        return {}
    return {"account": {name: found[name] for name in ("parameters", "flops", "memory", "length")}}


def _evaluate(prepared: Prepared, state: State, folder: Path, watcher: Watcher) -> dict[str, Any]:
    """Evaluate on both splits; write the answers on the last one."""
    recipe, metrics = prepared.task.recipe, {}
    for split in ("valid", "test") if recipe.data.test else ("valid",):
        watcher.say(f"evaluating on {split}")
        found = first(examples(recipe, split), MAX_TEST)
        measured = prepared.task.measure(state.model, found, quick=False)
        samples = [sample._asdict() for sample in measured.samples[:SAMPLES]]
        metrics[split] = {**measured.as_json(), "data": _hash_examples(found), "samples": samples}
        write_whole(folder / run_files.ANSWERS, _format_answers(measured))
    return metrics


def _format_answers(measured: Evaluation) -> str:
    lines = (json.dumps(sample._asdict(), ensure_ascii=False) for sample in measured.samples)
    return "".join(f"{line}\n" for line in lines)


def _hash_examples(found: list[Texts]) -> str:
    """Identify a set of examples, whatever files they came from."""
    return sha256(json.dumps(found).encode()).hexdigest()


def choose_parameters(recipe: Recipe, folder: Path, state: State) -> dict[str, Tensor]:
    """Return the final parameters: the last, the best, or the mean of several checkpoints."""
    if recipe.training.keep == "best" and state.best:
        return state.best
    if not recipe.training.average:
        return state.copy_parameters()
    saves = checkpoint.checkpoints(folder / run_files.CHECKPOINTS)[: recipe.training.average]
    parameters = [load_file(save / checkpoint.name_of("model")) for save in saves]
    return {
        name: torch.stack([each[name] for each in parameters]).mean(dim=0) for name in parameters[0]
    }
