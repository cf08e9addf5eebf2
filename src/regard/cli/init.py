"""``regard init``: a complete recipe for data that nobody has described yet."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.findings import print_findings
from regard.cli.options import AsJson, Fields, parse_fields
from regard.cli.screen import clean, fold, print_json, print_text
from regard.errors import UsageError


def init(
    task: Annotated[str, typer.Argument(help="The task, such as classification.")],
    data: Annotated[
        list[str],
        typer.Option("--data", help="A training file; give both sides of parallel text."),
    ],
    out: Annotated[Path, typer.Option("--output", help="The recipe to write; must be new.")] = Path(
        "recipe.toml"
    ),
    fields: Fields = "",
    start: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="A run to start from: its body and tokenizer."),
    ] = None,
    forecast: Annotated[
        bool,
        typer.Option(
            "--forecast/--no-forecast",
            help="Time some steps, and say what training takes and what to expect of it.",
        ),
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Inspect your data and write a complete recipe for it, with the reasons as comments.

    Examples:
        regard init translation --data train.de train.en
        regard init translation --data pairs.tsv --output small.toml
        regard init masked-pretraining --data books.txt
        regard init language-modelling --data plays.txt
        regard init classification --data reviews.jsonl
        regard init classification --data tickets.csv --fields "Message body,Category"
        regard init classification --data reviews.jsonl --start runs/pretrained
        regard init sentence-pair --data pairs.tsv
        regard init summarization --data articles.jsonl
        regard init retrieval --data corpus/

    """
    from regard.recipe.dump import dump
    from regard.recipe.load import rebase_paths
    from regard.recipe.recipe import Recipe
    from regard.run import Run
    from regard.tasks.kinds import KINDS
    from regard.tasks.suggest.suggestion import suggest
    from regard.tasks.transfer import Origin
    from regard.training.preview import preview

    if task not in KINDS:
        raise UsageError(
            f"there is no task {task!r}; the tasks are {', '.join(KINDS)}.", "Name one of them."
        )
    if out.exists():
        raise UsageError(
            f"a recipe is never overwritten. {out} exists.", "Name another with --output."
        )
    origin = None if start is None else Origin(Run(start).recipe, str(start))
    found = suggest(task, data, origin, fields=parse_fields(fields))
    placed = rebase_paths(found.recipe.model_dump(), lambda file: str(Path(file).absolute()))
    recipe = Recipe.model_validate(placed)
    out.write_text(
        dump(
            recipe,
            folder=out.absolute().parent,
            comments=True,
            reasons=found.reasons,
            all_tasks=False,
        ),
        encoding="utf-8",
    )
    seen = preview(recipe, found.report.records["train"]) if forecast else None
    if as_json:
        said = {"recipe": str(out), "reasons": found.reasons, "check": found.report.as_dict()}
        print_json({**said, "forecast": seen.as_json()} if seen else said)
        return
    columns = found.reasons.pop("data.fields", "")
    if columns:
        print_text(fold(clean(f"columns: {columns}"), indent=0))
    print_findings(found.report)
    print_text("")
    for path, reason in found.reasons.items():
        print_text(fold(clean(f"{path}: {reason}"), indent=2))
    print_text("")
    for line in seen.describe() if seen else ():
        print_text(fold(clean(line), indent=2))
    print_text(f"wrote {out}; next: regard check {out}, then regard train {out}")
