"""``regard train``: from a recipe to a run."""

from pathlib import Path
from typing import Annotated

import typer

import regard
from regard.cli.options import AsJson, Sets
from regard.cli.screen import print_json


def train(
    recipe: Annotated[str, typer.Argument(help="A recipe file, or the name of a shipped one.")],
    run: Annotated[
        Path | None, typer.Option(help="The run folder to make; runs/NAME by default.")
    ] = None,
    sets: Sets = [],  # noqa: B006 - typer reads the default, nobody changes it
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where this run stopped, to the same bits.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Train the model a recipe describes, and write a run folder that holds everything.

    Examples:
        regard train scenes
        regard train my.toml --run runs/mine --set training.budget=15min --set seed=2
        regard train my.toml --run runs/mine --resume

    """
    from regard.cli.progress import TrainingScreen
    from regard.recipe.load import load

    settings = load(recipe, sets)
    folder = run or Path("runs") / Path(recipe).stem
    with TrainingScreen(quiet=as_json) as screen:
        done = regard.train(settings, folder, resume=resume, watcher=screen)
    if as_json:
        print_json(done.summary)
    else:
        screen.conclude(done)
