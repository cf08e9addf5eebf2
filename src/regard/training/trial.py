"""A trial: the training of a recipe for its score alone, by the same loop as a run's."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from regard import run as folders
from regard import run_files
from regard.tasks.task import Evaluation
from regard.training.finish import choose_parameters
from regard.training.journal import Journal
from regard.training.loop import Loop
from regard.training.preparation import Prepared
from regard.training.step import Stepper
from regard.training.train import initialize, use_threads
from regard.training.watcher import Watcher


class Trial(NamedTuple):
    """The outcome of a trial."""

    evaluation: Evaluation
    """Of the parameters that a run would keep, on ``valid``, as quick as while training."""
    bytes: int
    """Size of the model file."""


def run_trial(prepared: Prepared, steps: int, watcher: Watcher) -> Trial:
    """Train for ``steps`` steps, evaluate on ``prepared.valid`` and leave nothing behind."""
    task = prepared.task
    use_threads(task.recipe)
    settings = task.recipe.training
    selects = settings.keep == "best" or settings.patience
    changes = {
        "evaluations": settings.evaluations if selects else 0,
        "checkpoints": settings.checkpoints if settings.average else 0,
    }
    recipe = task.recipe.model_copy(update={"training": settings.model_copy(update=changes)})
    state, began = initialize(recipe, prepared)
    carried = began.names if began else ()
    with TemporaryDirectory() as name:
        folder = Path(name)
        Loop(
            Stepper(recipe, task, prepared.store, prepared.stream, steps, carried),
            state,
            prepared.valid,
            folder=folder / run_files.CHECKPOINTS,
            journal=Journal(folder / run_files.JOURNAL),
            watcher=watcher,
            made_of={"steps": steps},
        ).run()
        state.load_parameters(choose_parameters(recipe, folder, state))
        measured = task.measure(state.model, prepared.valid, quick=True)
        task.finish_model(state.model)
        folders.write_model(folder, state.model, task.tokenizer)
        return Trial(measured, (folder / run_files.MODEL).stat().st_size)
