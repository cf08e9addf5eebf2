"""``regard explain``: where a model looked while it read or wrote."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import AsJson
from regard.cli.screen import clean, console, print_json
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.explain.trace import Trace


def explain(
    run: Annotated[Path, typer.Argument(help="A finished run folder.")],
    text: Annotated[str, typer.Argument(help="The text to answer.")],
    target: Annotated[
        str | None, typer.Option(help="Translation: look at this one instead of the model's own.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write every head's map to a page.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Write the drawn map to a picture.")] = None,
    as_json: AsJson = False,
) -> None:
    """Answer a text and show where each word looked: the last layer's mean over heads.

    In a translator each word of the answer looks into the source; elsewhere each word of the text
    looks into the text itself. Attention shows where the model mixed from, not why it answered
    so. The page has every head.

    Examples:
        regard explain runs/scenes "Der kleine Hund sieht die Katze."
        regard explain runs/reviews "not bad at all"
        regard explain runs/mine "Ein Hund." --target "A dog." --html dog.html --svg dog.svg

    """
    from regard.explain.draw.html import attention_page
    from regard.explain.draw.svg import svg_map
    from regard.explain.draw.terminal import TerminalMap
    from regard.explain.report import attention_of, picture_of
    from regard.explain.trace import trace as trace_run
    from regard.run import Run

    for file in (html, svg):
        if file is not None and file.exists():
            raise UsageError(f"nothing is overwritten. {file} exists.", "Name another file.")
    trace = trace_run(Run(run), text, target).by_words()
    picture = picture_of(trace)
    if html is not None:
        html.write_text(attention_page(attention_of(trace), title=text), encoding="utf-8")
    if svg is not None:
        svg.write_text(svg_map(picture), encoding="utf-8")
    if as_json:
        print_json(_as_json(trace))
        return
    out = console()
    out.print(clean(trace.answer), style="bold", soft_wrap=True)
    out.print(TerminalMap(picture))


def _as_json(trace: "Trace") -> dict[str, Any]:
    layers, heads = trace.weights.shape[:2]
    return {
        "answer": trace.answer,
        "source": [word.replace("▁", "") for word in trace.source],
        "target": [word.replace("▁", "") for word in trace.target],
        "layers": layers,
        "heads": heads,
        "weights": trace.weights.tolist(),
    }
