"""``regard train``: from a recipe to a run, or to one run per seed."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import AsJson, Sets
from regard.cli.screen import print_json

if TYPE_CHECKING:
    from regard.run import Run


def train(
    recipe: Annotated[str, typer.Argument(help="A recipe file, or the name of a shipped one.")],
    run: Annotated[
        Path | None, typer.Option(help="The run folder to make; runs/NAME by default.")
    ] = None,
    sets: Sets = [],  # noqa: B006 - typer reads the default, nobody changes it
    seeds: Annotated[
        list[int],
        typer.Option(
            "--seeds",
            metavar="1 2 3",
            help="Train one run per seed, in the folders RUN-1, RUN-2 and so on, and compare them.",
        ),
    ] = [],  # noqa: B006
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue where the run stopped, to the same bits and with its own settings; "
            "with a larger training.budget, train it longer.",
        ),
    ] = False,
    report_to: Annotated[
        list[str],
        typer.Option(
            "--report-to",
            metavar="NAME",
            help="Trackers that also receive the curves: tensorboard, wandb, mlflow, trackio.",
        ),
    ] = [],  # noqa: B006
    as_json: AsJson = False,
) -> None:
    """Train the model a recipe describes, and write a run folder that holds everything.

    Examples:
        regard train scenes
        regard train my.toml --run runs/mine --set training.budget=15min --set seed=2
        regard train my.toml --seeds 1 2 3
        regard train my.toml --report-to tensorboard
        regard train my.toml --run runs/mine --resume
        regard train my.toml --run runs/mine --resume --set training.budget=1h

    """
    folder = run or Path("runs") / Path(recipe).stem
    train_one = partial(_train, recipe, quiet=as_json, report_to=report_to)
    if not seeds:
        done = train_one(folder, sets, resume=resume)
        if as_json:
            print_json(done.summary)
        return
    runs = []
    for seed in seeds:
        place = folder.with_name(f"{folder.name}-{seed}")
        if resume and not sets and (place / "regard.json").is_file():
            runs.append(_load_finished(place))
            continue
        again = resume and place.exists()
        more = sets if again else [*sets, *_share_examples(recipe, sets), f"seed={seed}"]
        runs.append(train_one(place, more, resume=again))
    from regard.cli.compare import print_comparison
    from regard.inference.comparison import compare

    compared = compare(runs)
    if as_json:
        print_json({"runs": [done.summary for done in runs], "comparison": compared.as_json()})
    else:
        print_comparison(compared)


def _share_examples(recipe: str, sets: list[str]) -> list[str]:
    """Return the setting by which runs of all seeds hold out the same examples."""
    from regard.recipe.load import load

    settings = load(recipe, sets)
    data = settings.data
    if data.valid or data.holdout_from == "end" or data.holdout_seed is not None:
        return []
    return [f"data.holdout_seed={settings.seed}"]


def _load_finished(folder: Path) -> "Run":
    from regard.run import Run

    return Run(folder)


def _train(
    recipe: str,
    folder: Path,
    sets: list[str],
    *,
    resume: bool,
    quiet: bool,
    report_to: list[str],
) -> "Run":
    import regard
    from regard.cli.progress import TrainingScreen
    from regard.recipe.load import load

    saved = resume and (folder / "recipe.toml").is_file()
    settings = load(folder if saved else recipe, sets)
    with TrainingScreen(quiet=quiet) as screen:
        if saved:
            screen.say(f"the settings are those of {folder}/recipe.toml")
        run = regard.train(settings, folder, resume=resume, report_to=report_to, watcher=screen)
        if not quiet:
            screen.conclude(run)
        return run
