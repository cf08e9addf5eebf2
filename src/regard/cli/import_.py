"""``regard import``: other people's models become runs."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import AsJson
from regard.cli.screen import print_json, print_text


def import_(
    folder: Annotated[
        Path, typer.Argument(help="A folder with config.json, model.safetensors and a tokenizer.")
    ],
    run: Annotated[Path, typer.Argument(help="The run folder to create; must be new.")],
    task: Annotated[
        str | None,
        typer.Option(help="retrieval or masked-pretraining, where several are possible."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a run of a BERT that Hugging Face transformers saved, without training.

    A sentence encoder (modules.json) becomes a searcher: predict gives its vectors, index and
    search use them. A BERT with a head for masked words fills in [MASK]. Either can be named in
    model.start.run of a recipe, to carry its body into a classifier, a sentence pair or a searcher.
    Texts are cut and states are computed as they were there. Pickles are never opened.

    Examples:
        regard import all-MiniLM-L6-v2 runs/minilm
        regard import bert-base-uncased runs/bert
        regard import bert-base-uncased runs/bert-vectors --task retrieval

    """
    from regard.interop.take import import_folder
    from regard.report.imported import write_report
    from regard.tasks.kinds import kind_of

    made = import_folder(folder, run, task=task, report=write_report)
    facts = made.metrics["imported"]
    if as_json:
        print_json({"run": str(run), "task": made.recipe.task, **facts})
        return
    left = ", ".join(facts["left_out"])
    print_text(
        f"{facts['architecture']} from {facts['from']}: {facts['parameters']:,} parameters, "
        f"{made.tokenizer.size:,} tokens, a run of {made.recipe.task}"
        + (f"; left out: {left}" if left else "")
    )
    print_text(f'next: regard predict {run} "{kind_of(made.recipe).example}"')
