"""``regard export``: a run becomes a folder that other libraries load, with a proof of equality."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import AsJson
from regard.cli.screen import clean, print_json, print_text
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.interop.export import Exported, Offer


def export(
    run: Annotated[Path, typer.Argument(help="A finished run.")],
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="The folder to write; it must be new.")
    ] = None,
    to: Annotated[
        str, typer.Option(metavar="TARGET", help="The format; without it, list what fits.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Write a run in another library's format, verified with that library.

    Without a target, list which formats the run fits; for the others, which setting stands in the
    way and what to set in the recipe instead. With one, write the folder, load it with the other
    library, compare tokens, logits and answers, and record the result in equality.json. If they are
    not equal, nothing is left and the exit code is 1.

    Examples:
        regard export runs/multi30k
        regard export runs/multi30k --to hf exported/multi30k

    """
    from regard.interop.export import export_run, find_target, list_offers
    from regard.run import Run

    opened = Run(run)
    if not to:
        if folder is not None:
            raise UsageError("a folder needs a format.", f"Write: --to hf {folder}")
        offers = list_offers(opened)
        if as_json:
            print_json({"run": str(run), "targets": [offer.as_json() for offer in offers]})
        else:
            _show_offers(run, offers)
        return
    target = find_target(to)
    if folder is None:
        raise UsageError("an export needs a folder.", f"Write: regard export {run} --to {to} DIR")
    made = export_run(opened, target, folder)
    if as_json:
        print_json({"folder": str(folder), **made.record})
    else:
        _show_export(made)


def _show_offers(run: Path, offers: "list[Offer]") -> None:
    for offer in offers:
        name = offer.target.name
        if offer.fit:
            print_text(clean(f"{name}: fits, as {offer.fit.architecture}"))
            print_text(f"    regard export {run} --to {name} DIR")
            continue
        print_text(f"{name}: does not fit")
        for one in offer.obstacles:
            print_text(clean(f"    {one.setting} = {one.value!r}: {one.reason}. {one.remedy}"))


def _show_export(made: "Exported") -> None:
    equality = made.equality
    print_text(clean(f"{made.folder}: {made.fit.architecture}"))
    answers = f", {equality.same_answers} of {equality.answers} answers" if equality.answers else ""
    differences = ", ".join(f"{name} {gap:.1e}" for name, gap in equality.differences.items())
    print_text(
        f"equal: tokens of {equality.same_tokens} of {equality.texts} texts{answers}; largest "
        f"difference: {differences}"
    )
    for name, value in equality.scores.items():
        if isinstance(value, dict):
            print_text(f"{name}: " + ", ".join(f"{key} {one:.4g}" for key, one in value.items()))
    for note in made.fit.notes:
        print_text(clean(f"note: {note}"))
