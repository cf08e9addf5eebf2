"""``regard compare``: runs side by side, and whether their difference can be chance."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import AsJson, check_new
from regard.cli.screen import clean, print_json, print_text

if TYPE_CHECKING:
    from regard.inference.comparison import Comparison


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Finished run folders, of one task.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="A new file to write: .html, .csv or .tex."),
    ] = None,
    names: Annotated[
        list[str],
        typer.Option("--names", metavar="A B", help="Names of the groups, in their order."),
    ] = [],  # noqa: B006 - typer reads the default, nobody changes it
    as_json: AsJson = False,
) -> None:
    """Compare runs: seeds grouped, mean and 95% interval, and whether a difference can be chance.

    Runs of one recipe with several seeds are one group. Groups are compared on the same test
    examples, by paired bootstrap and approximate randomisation (sacreBLEU's own for BLEU and
    chrF), and by Welch's test over seeds.

    Examples:
        regard compare runs/small runs/large
        regard compare runs/scratch-* runs/pretrained-* --names scratch pretrained
        regard compare runs/scratch-* runs/pretrained-* --output compared.html
        regard compare runs/mine-1 runs/mine-2 runs/mine-3 --json

    """
    from regard.inference.comparison import compare as compare_runs
    from regard.run import Run

    check_new(output, ".html", ".csv", ".tex")
    compared = compare_runs([Run(run) for run in runs], names)
    if output is not None:
        from regard.report.comparison import WRITERS

        output.write_text(WRITERS[output.suffix](compared), encoding="utf-8")
    if as_json:
        print_json(compared.as_json())
    else:
        print_comparison(compared)


def print_comparison(compared: "Comparison") -> None:
    """Print the table of scores and the sentences of the tests."""
    print_text(f"{compared.task}, {compared.split}, {compared.examples:,} examples\n")
    rows = [[clean(cell) for cell in row] for row in compared.rows()]
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)]
        print_text("  ".join([f"{row[0]:<{widths[0]}}", *cells]).rstrip())
    print_text(f"\nthe baseline is {compared.baseline_name}")
    for pair in compared.main_pairs:
        print_text(clean(f"\n{pair.words}"))
    if len({(pair.first, pair.second) for pair in compared.pairs}) > 1:
        print_text("\nof many comparisons, one in twenty passes p = 0.05 by chance alone")
