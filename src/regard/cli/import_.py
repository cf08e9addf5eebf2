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
        typer.Option(help="What to import it for, where the folder leaves a choice."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a run of a model that Hugging Face transformers saved, without training.

    A sentence encoder (modules.json) becomes a searcher: predict gives its vectors, index and
    search use them. A BERT with a head for masked words fills in [MASK]; one with labels or tags
    predicts them. Marian, Pegasus, BART, mBART and T5 translate or summarize; GPT-2, Llama, Arcee
    and Qwen3 continue text. Any of them can be named in model.start.run of a recipe. Tokens and
    states are the same as there; what cannot be is refused. Pickles are never opened.

    Examples:
        regard import all-MiniLM-L6-v2 runs/minilm
        regard import bert-base-uncased runs/bert
        regard import bert-base-uncased runs/bert-vectors --task retrieval
        regard import exported/summaries runs/summaries --task summarization

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
