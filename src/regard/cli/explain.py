"""``regard explain``: where a model looked, and which words its answer came from."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import AsJson
from regard.cli.screen import clean, console, print_json, print_text
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.draw.document import DocumentPicture
    from regard.explain.explanation import Explanation


def explain(  # noqa: PLR0913, PLR0917 - one for each option
    run: Annotated[Path, typer.Argument(help="A finished run folder.")],
    text: Annotated[str | None, typer.Argument(help="The text to answer.")] = None,
    target: Annotated[
        str | None, typer.Option(help="Translation: look at this one instead of the model's own.")
    ] = None,
    reading: Annotated[
        str, typer.Option(help="weights, rollout, gradient, integrated or occlusion.")
    ] = "weights",
    layer: Annotated[int | None, typer.Option(help="Layer to show, from 1; else the last.")] = None,
    head: Annotated[
        int | None, typer.Option(help="Head to show, from 1; else the sharpest of the layer.")
    ] = None,
    mean: Annotated[
        bool, typer.Option("--mean", help="Show the mean over the layer's heads.")
    ] = False,
    stack: Annotated[
        str | None, typer.Option(help="Looks to show: cross, encoder, decoder, self or pool.")
    ] = None,
    pieces: Annotated[
        bool, typer.Option("--pieces", help="Show the tokenizer's pieces, not words.")
    ] = False,
    hide_sink: Annotated[
        bool,
        typer.Option("--hide-sink", help="Leave out looks at special tokens, else the first word."),
    ] = False,
    renormalise: Annotated[
        bool, typer.Option("--renormalise", help="With --hide-sink: let rows sum to one again.")
    ] = False,
    label: Annotated[
        str | None, typer.Option(help="Classifier: ask about this label, not the likeliest.")
    ] = None,
    go_on: Annotated[
        bool, typer.Option("--continue", help="Language model: go on with the text first.")
    ] = False,
    heads: Annotated[
        list[str] | None,
        typer.Option(
            "--heads",
            help="Say what every head does over a split (test), or over a file like the data; "
            "give it twice for the two sides of a translation.",
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write every head's map to a page.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Write the drawn map to a picture.")] = None,
    png: Annotated[Path | None, typer.Option(help="The same as PNG; needs the extra png.")] = None,
    as_json: AsJson = False,
) -> None:
    """Answer a text and show where each word looked and which words the answer came from.

    A translator's words look into the source; elsewhere each word of the text looks into the text
    itself. All heads are shown small and one large, never a mean unless asked for. Beside it stands
    a reading (raw weights, rollout, gradient, integrated gradients or occlusion), and what happens
    to the answer without the words it ranks highest. The page has every head of every layer.

    Examples:
        regard explain runs/scenes "Der kleine Hund sieht die Katze."
        regard explain runs/reviews "not bad at all" --reading occlusion
        regard explain runs/mine "Ein Hund." --target "A dog." --html dog.html --svg dog.svg
        regard explain runs/shakespeare "KING RICHARD:" --continue --layer 2 --head 3
        regard explain runs/reviews --heads test --html heads.html

    """
    from regard.explain.explain import Choice
    from regard.explain.explain import explain as explain_run
    from regard.run import Run

    for file in (html, svg, png):
        if file is not None and file.exists():
            raise UsageError(f"nothing is overwritten. {file} exists.", "Name another file.")
    if heads:
        _heads(run, heads, html, as_json=as_json, text=text)
        return
    if text is None:
        raise UsageError(
            "there must be a text to look at, or a file for --heads. Got neither.",
            "Give a text in quotes.",
        )
    choice = Choice(
        reading=reading,
        stack=stack,
        layer=layer,
        head=head,
        mean=mean,
        pieces=pieces,
        hide_sink=hide_sink,
        renormalise=renormalise,
        label=label,
        go_on=go_on,
    )
    found = explain_run(Run(run), text, target, choice)
    _write(found, html, svg, png, drawn=found.document if stack is None else None)
    if as_json:
        print_json(found.as_json())
    else:
        _show(found)


def _write(
    found: "Explanation",
    html: Path | None,
    svg: Path | None,
    png: Path | None,
    *,
    drawn: "DocumentPicture | None",
) -> None:
    """Write the pictures that are wanted; a PNG first, since it may be refused."""
    if png is not None:
        from regard.draw.png import png_map

        png.write_bytes(png_map(found.picture()))
    if html is not None:
        html.write_text(found.html(), encoding="utf-8")
    if svg is not None:
        from regard.draw.document_svg import document_svg

        svg.write_text(document_svg(drawn) if drawn else found.svg(), encoding="utf-8")


def _show(found: "Explanation") -> None:
    """Draw what fits a terminal: the answer, all heads small, one large, the reading."""
    from regard.draw.document_terminal import TerminalDocument
    from regard.draw.overview import ShadedWords, TerminalOverview
    from regard.draw.terminal import TerminalMap

    out = console()
    if found.answer:
        out.print(clean(found.answer), style="bold", soft_wrap=True)
    if found.document is not None:
        out.print(TerminalDocument(found.document))
    elif found.stack is not None and found.look is not None:
        if found.trace.weights.shape[0] * found.trace.weights.shape[1] > 1:
            out.print(TerminalOverview(found.weights, chosen=found.look))
        out.print(TerminalMap(found.picture()))
    for note in found.notes:
        out.print(note, style="dim")
    if found.reading is not None and not found.drawn_whole:
        out.print(f"\nReading by {clean(found.reading.told)}:", style="bold")
        if len(found.answers) == 1 or found.stack is not None:
            words = [word.replace("▁", "") for word in found.words]
            out.print(ShadedWords(words, found.reading.of_words()))
        else:
            out.print(TerminalMap(found.picture()))
        out.print(clean(found.sentence))


def _heads(
    run: Path, files: list[str], html: Path | None, *, as_json: bool, text: str | None
) -> None:
    """Say what every head does over a corpus."""
    from regard.explain.heads.analysis import analyse
    from regard.report.heads import heads_page
    from regard.run import Run

    if text is not None:
        raise UsageError(
            "--heads looks at the texts of a file. Got a text as well.", "Leave the text out."
        )
    found = analyse(Run(run), files)
    if html is not None:
        html.write_text(heads_page(found), encoding="utf-8")
    if as_json:
        print_json(found.as_json())
        return
    for line in found.lines():
        print_text(clean(line))
