"""``regard evaluate``: measure a trained model."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import (
    AsJson,
    Decoding,
    Ensemble,
    Fields,
    SkipBadLines,
    offer_skipping,
    parse_fields,
)
from regard.cli.screen import print_json, print_rows, print_text

MOST_LABELS = 30  # listed with their scores


def evaluate(  # noqa: PLR0913, PLR0917 - one for each option
    run: Annotated[Path, typer.Argument(help="A finished run folder.")],
    data: Annotated[
        list[str], typer.Option("--data", help="A file to measure on; give both sides of a pair.")
    ] = [],  # noqa: B006
    fields: Fields = "",
    skip: SkipBadLines = False,
    split: Annotated[str, typer.Option(help="train, valid or test, without --data.")] = "test",
    ensemble: Ensemble = [],  # noqa: B006
    changes: Decoding = [],  # noqa: B006
    as_json: AsJson = False,
) -> None:
    """Measure a trained model next to a plain baseline, with the signature of the metric.

    Examples:
        regard evaluate runs/scenes
        regard evaluate runs/mine --data new.de new.en --json
        regard evaluate runs/reviews-tuned --ensemble runs/reviews-read
        regard evaluate runs/reviews-tuned --set decoding.baseline_weight=0.5
        regard evaluate runs/search --data sts-dev.csv --fields 5,6,4

    """
    from regard.inference.predictor import Predictor, load_run
    from regard.recipe.decoding_overrides import parse_overrides
    from regard.tasks.scores import (
        describe_empty,
        describe_share,
        list_labels,
        tabulate_scores,
    )

    model = Predictor(load_run(run, ensemble=ensemble, decoding=parse_overrides(changes)))
    columns = parse_fields(fields)
    with offer_skipping():
        measured = model.evaluate(split=split, files=data, fields=columns, skip=skip)
    if data and (encoding := model.find_encoding(data)) != "utf-8":
        print_text(f"{data[0]} is read as {encoding}", to=sys.stderr)
    if as_json:
        print_json(measured.as_json())
        return
    rows, alone = [], []
    for row in tabulate_scores(measured.as_json()):
        scores = row.format()
        cells = [f"{scores.pop('model'):>7}", *(f"{who} {score}" for who, score in scores.items())]
        rows.append((row.metric, "   ".join(cells)))
        alone += [(f"{row.metric} alone", row.format_alone())] if row.alone else []
    rows += alone
    if share := describe_share(measured.as_json()):
        rows.append(("ensemble", share))
    labels = list_labels(measured.as_json())
    rows += [(f"label {label}", scores) for label, scores in labels[:MOST_LABELS]]
    if more := labels[MOST_LABELS:]:
        rows.append(("labels", f"{len(more):,} more; --json has all"))
    if empty := describe_empty(measured.as_json()):
        rows.append(("no label", empty))
    rows += [(f"{name} is", signature) for name, signature in measured.signature.items()]
    skipped = measured.details.get("skipped", 0)
    rest = f"; {skipped:,} bad {'line' if skipped == 1 else 'lines'} skipped" if skipped else ""
    print_rows([*rows, ("examples", f"{measured.examples:,}{rest}")])
