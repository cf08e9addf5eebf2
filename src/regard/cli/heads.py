"""``regard heads``: what every attention head does, how much it matters, what pruning costs."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import AsJson, Page, check_new
from regard.cli.screen import clean, print_json, print_text


def heads(
    run: Annotated[Path, typer.Argument(help="A finished run folder.")],
    data: Annotated[
        list[str],
        typer.Option("--data", help="A file of examples; give both sides of a translation."),
    ] = [],  # noqa: B006 - typer reads the default, nobody changes it
    split: Annotated[str, typer.Option(help="train, valid or test, without --data.")] = "test",
    output: Page = None,
    as_json: AsJson = False,
) -> None:
    """Analyse every attention head of a run over a set of examples.

    For each head: how often its strongest attention weight falls on the previous, the next, a
    special or the rarest token, or on the aligned source word, compared with chance; its importance
    (mean gradient of the loss with respect to a mask on the head); and the model's score as heads
    are pruned, the least important first.

    Examples:
        regard heads runs/reviews
        regard heads runs/mine --data new.de new.en --output heads.html

    """
    from regard.explain.heads.analysis import analyse
    from regard.report.heads import heads_page
    from regard.run import Run

    check_new(output, ".html")
    found = analyse(Run(run), split=split, files=data)
    if output is not None:
        output.write_text(heads_page(found), encoding="utf-8")
    if as_json:
        print_json(found.as_json())
        return
    for line in found.lines():
        print_text(clean(line))
