"""``regard explain``: which words an answer depends on, and every attention head."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import AsJson, check_new
from regard.cli.screen import clean, console, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from regard.explain.explanation import Explanation

PATIENCE = 2.0  # seconds before the progress line is shown


def explain(  # noqa: PLR0913, PLR0917 - one for each option
    run: Annotated[Path, typer.Argument(help="A finished run folder.")],
    text: Annotated[str, typer.Argument(help="The text to answer.")],
    target: Annotated[
        str | None, typer.Option(help="Explain this translation instead of the model's own.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Classifier: explain this label, not the likeliest.")
    ] = None,
    continue_text: Annotated[
        bool, typer.Option("--continue", help="Language model: continue the text first.")
    ] = False,
    attribution: Annotated[
        str | None,
        typer.Option(
            help="weights, rollout, gradient, integrated-gradients or occlusion; the default "
            "depends on the task."
        ),
    ] = None,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="[STACK.]LAYER.HEAD",
            help="Attention map to show: 2.3, 2.mean, mean, encoder or encoder.2.3; "
            "by default the sharpest head of the last layer.",
        ),
    ] = None,
    sinks: Annotated[
        str,
        typer.Option(help="Attention to special tokens or the first: keep, hide, renormalise."),
    ] = "keep",
    pieces: Annotated[
        bool, typer.Option("--pieces", help="Show the tokenizer's pieces, not words.")
    ] = False,
    output: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE",
            help="A new page .html (all heads), or picture .svg or .png; may be given again.",
        ),
    ] = [],  # noqa: B006 - typer reads the default, nobody changes it
    as_json: AsJson = False,
) -> None:
    """Answer a text, attribute the answer to its words, and show the attention.

    Each word gets a score by one attribution, with a test of its faithfulness: what happens to the
    answer, or to each written word, when the words ranked highest are erased. Where an ensemble
    answers, the ensemble is explained. Attention is shown for every head, cross-attention for a
    translator, self-attention elsewhere; never a mean over heads unless asked for.

    Examples:
        regard explain runs/scenes "Der kleine Hund sieht die Katze."
        regard explain runs/reviews "not bad at all" --attribution weights
        regard explain runs/mine "Ein Hund." --target "A dog." --output dog.html --output dog.svg
        regard explain runs/shakespeare "KING RICHARD:" --continue --head 2.3

    """
    from regard.explain.explain import ExplainOptions
    from regard.explain.explain import explain as explain_run
    from regard.run import Run

    for file in output:
        check_new(file, ".html", ".svg", ".png")
    options = ExplainOptions(
        attribution=attribution,
        head=head,
        sinks=sinks,
        pieces=pieces,
        label=label,
        continue_text=continue_text,
    )
    with ErasureScreen() as screen:
        found = explain_run(Run(run), text, target, options, progress=screen.update)
    for file in sorted(output, key=lambda file: file.suffix != ".png"):  # a PNG may be refused
        _write(found, file, document=head is None)
    if as_json:
        print_json(found.as_json())
    else:
        _show(found)


class ErasureScreen:
    """A progress line on stderr once erasing words has taken a while."""

    def __init__(self) -> None:
        self.console = console(to_stderr=True)
        self.status = self.console.status("")
        self.begin = time.monotonic()

    def __enter__(self) -> "ErasureScreen":
        return self

    def update(self, done: int, total: int) -> None:
        """Show how many of the texts with erased words were read."""
        if self.console.is_terminal and time.monotonic() - self.begin > PATIENCE:
            self.status.start()
            self.status.update(f"testing faithfulness: {done:,} of {total:,} texts read")

    def __exit__(self, *_: object) -> None:
        self.status.stop()


def _write(found: "Explanation", file: Path, *, document: bool) -> None:
    """Write a page or a picture; ``document`` if the SVG may be that of a whole document."""
    if file.suffix == ".html":
        file.write_text(found.html(), encoding="utf-8")
    elif file.suffix == ".png":
        from regard.draw.png import png_map

        file.write_bytes(png_map(found.picture()))
    else:
        from regard.draw.bars import bar_chart
        from regard.draw.document_svg import document_svg

        drawn = found.document if document else None
        bars = found.bars() if document else None
        picture = document_svg(drawn) if drawn else bar_chart(bars) if bars else found.svg()
        file.write_text(picture, encoding="utf-8")


def _show(found: "Explanation") -> None:
    """Draw what fits a terminal: the answer, all heads small, one large, the attribution."""
    from regard.draw.document_terminal import TerminalDocument
    from regard.draw.overview import TerminalOverview
    from regard.draw.terminal import TerminalMap

    out = console()
    if found.answer:
        out.print(clean(found.answer), style="bold", soft_wrap=True)
    if found.members:
        out.print(clean(found.members_sentence))
    if found.document is not None:
        out.print(TerminalDocument(found.document))
    elif found.stack is not None and found.shown is not None:
        if found.trace.weights.shape[0] * found.trace.weights.shape[1] > 1:
            out.print(TerminalOverview(found.weights, chosen=found.shown))
        out.print(TerminalMap(found.picture()))
    for note in found.notes:
        out.print(clean(note), style="dim")
    if not found.drawn_whole:
        _show_attribution(found, out)


def _show_attribution(found: "Explanation", out: "Console") -> None:
    from regard.draw.overview import ShadedWords
    from regard.draw.terminal import TerminalMap

    if found.attribution is None:
        return
    out.print(f"\nAttribution by {clean(found.attribution.description)}:", style="bold")
    if len(found.answers) == 1 or found.stack is not None:
        words = [word.replace("▁", "") for word in found.words]
        out.print(ShadedWords(words, found.attribution.by_word()))
    else:
        out.print(TerminalMap(found.picture()))
    out.print(clean(found.sentence))
