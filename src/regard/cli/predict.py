"""``regard predict``: ask a trained model."""

import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import AsJson, Decoding, Ensemble, Fields, check_new, parse_fields
from regard.cli.screen import clean, print_json, print_text
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.tasks.task import Prediction

SECONDS = 10.0  # between two lines of progress


def predict(  # noqa: PLR0913, PLR0917 - one for each option
    run: Annotated[Path, typer.Argument(help="A finished run folder.")],
    texts: Annotated[list[str] | None, typer.Argument(help="Texts to answer.")] = None,
    source: Annotated[
        Path | None,
        typer.Option("--input", help="A table, or a file to answer line by line; - is stdin."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="A new file to write the answers to.")
    ] = None,
    fields: Fields = "",
    truncate: Annotated[
        bool, typer.Option("--truncate", help="Truncate texts that are too long, and say so.")
    ] = False,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Give each text's vector instead of an answer.")
    ] = False,
    ensemble: Ensemble = [],  # noqa: B006
    changes: Decoding = [],  # noqa: B006
    as_json: AsJson = False,
) -> None:
    """Answer texts with a trained model; the run's task decides what an answer is.

    A translation, a summary, the continuation of a text (language modelling), the words for [MASK]
    (masked pretraining), or a label and its probability, separated by a tab. The two texts of a
    pair are separated by a tab as well. A blank line is answered with a blank line. Tagging marks
    each span with its label and score; --json has their offsets.
    A table (csv, tsv or jsonl) is answered row by row; an output file of the same kind keeps its
    columns, delimiter and encoding, and has the answer and its probability as well.
    Retrieval gives vectors, as --vectors does for every model with an encoder: as JSON, or as a
    NumPy array where the output file ends in .npy.

    Examples:
        regard predict runs/scenes "Der kleine Hund sieht die Katze."
        regard predict runs/mine --input new.de --output new.en
        regard predict runs/tickets --input new.csv --output answered.csv
        cat new.de | regard predict runs/mine
        regard predict runs/shakespeare "KING RICHARD:"
        regard predict runs/shakespeare "KING RICHARD:" --set decoding.temperature=0.5
        regard predict runs/reviews "A film to remember."
        regard predict runs/reviews-tuned --ensemble runs/reviews-read "A film to remember."
        regard predict runs/names "Will May meet Florence in Sydney?"
        regard predict runs/search --input texts.txt --output texts.npy

    """
    from regard.data.formats.rewriting import is_table
    from regard.inference.answered_table import AnsweredTable
    from regard.inference.predictor import Predictor, load_run
    from regard.recipe.decoding_overrides import parse_overrides
    from regard.serve.bulk import Opening, Question, answer_all

    check_new(output)
    if vectors and ensemble:
        raise UsageError(
            "vectors of several runs have no mean. Got --vectors and --ensemble.",
            "Leave one of them out.",
        )
    is_rows = _has_rows(texts, source, output, fields)
    model = Predictor(load_run(run, ensemble=ensemble, decoding=parse_overrides(changes)))
    table = None
    if is_rows and source:
        table = AnsweredTable(model.run, source, parse_fields(fields), _say)
    asked = table.read() if table else _read_texts(texts, source)
    opening = Opening(run, parse_overrides(changes), [Path(one) for one in ensemble])
    answers = answer_all(model, asked, Question(truncate, vectors), opening)
    if output is not None or as_json or not sys.stdout.isatty():
        answers = _show_progress(answers)
    if output is not None and output.suffix == ".npy":
        _save(answers, output)
        return
    if as_json:
        print_json({"run": str(run), "answers": [_as_json(answer) for answer in answers]})
        return
    if table and output and is_table(output):
        cut = table.write(answers, output, check_new)
    else:
        cut = _print(answers, output, as_it_is=texts is not None and len(texts) == 1)
    if cut:
        print_text(f"{cut:,} tokens did not fit and were truncated", to=sys.stderr)


def _say(text: str) -> None:
    print_text(text, to=sys.stderr)


def _show_progress(answers: "Iterator[Prediction]") -> "Iterator[Prediction]":
    """Say now and then how many texts are answered."""
    begin = said = time.monotonic()
    for number, answer in enumerate(answers, start=1):
        yield answer
        if (now := time.monotonic()) - said > SECONDS:
            rate = number / (now - begin)
            print_text(f"{number:,} texts answered, {rate:,.0f} per second", to=sys.stderr)
            said = now


def _has_rows(
    texts: list[str] | None, source: Path | None, output: Path | None, fields: str
) -> bool:
    """Whether the rows of a table are to be answered; refuse what does not fit together."""
    from regard.data.formats.rewriting import is_table
    from regard.inference.answered_table import check_input, check_output

    if source:
        check_input(source)
    if texts or not source or not is_table(source):
        if fields:
            raise UsageError(
                "--fields names the columns of a table, and there is none.",
                "Name a csv, tsv or jsonl file with --input, or leave --fields out.",
            )
        return False
    if output:
        check_output(source, output)
    return True


def _print(answers: "Iterator[Prediction]", output: Path | None, *, as_it_is: bool) -> int:
    """Write an answer per line; return how many tokens were cut."""
    from regard.inference.answered_table import format_answer, write_unfinished

    cut = 0
    with (
        write_unfinished(output, check_new=check_new)
        if output
        else nullcontext(sys.stdout) as stream
    ):
        for answer in answers:
            cut += answer.truncated
            _write(format_answer(answer), stream, as_it_is=as_it_is)
    return cut


def _save(answers: "Iterator[Prediction]", output: Path) -> None:
    """Write vectors as one array, a row per text."""
    import numpy as np

    rows = [np.asarray(answer.vector, dtype=np.float32) for answer in answers]
    if not rows or not rows[0].size:
        raise UsageError(
            f"a .npy file holds vectors. {output} would hold text.",
            "Ask for vectors with --vectors, or name another file.",
        )
    with output.open("xb") as file:
        np.save(file, np.stack(rows), allow_pickle=False)


def _as_json(answer: "Prediction") -> dict[str, Any]:
    """Return an answer as JSON has it: words, not ids, and nothing that does not apply."""
    plain = answer._field_defaults
    return {
        name: value
        for name, value in answer._asdict().items()
        if name != "ids" and (name not in plain or value != plain[name])
    }


def _write(text: str, stream: Any, *, as_it_is: bool) -> None:  # noqa: ANN401
    """Write an answer on one line, so that answer n belongs to text n; a single one as it is."""
    shown = text if as_it_is else " ".join(text.splitlines())
    if stream is sys.stdout:
        print_text(clean(shown))
    else:
        stream.write(shown + "\n")


def _read_texts(texts: list[str] | None, source: Path | None) -> Iterator[str]:
    if texts and source:
        raise UsageError(
            "texts come from the call or from --input, not both.", "Leave one of them out."
        )
    if texts:
        return iter(texts)
    if source is None and sys.stdin.isatty():
        raise UsageError(
            "there is no text to answer.", "Give a text or --input FILE, or pipe lines to stdin."
        )
    return _lines(source)


def _lines(source: Path | None) -> Iterator[str]:
    """Every line of a file or of stdin, blank ones too: answer n belongs to line n."""
    from regard.data.encoding import find_encoding
    from regard.data.lines import TextLine, iterate_lines
    from regard.data.record import CORRECT

    if source is None or str(source) == "-":
        source = Path("/dev/stdin")
    if (encoding := find_encoding(source)) != "utf-8":
        print_text(f"{source} is read as {encoding}", to=sys.stderr)
    for found in iterate_lines(source, encoding):
        if not isinstance(found, TextLine):
            raise UsageError(
                f"{found.place}: {found.problem}",
                "Convert the file to UTF-8."
                if found.kind == "encoding"
                else found.remedy.replace(CORRECT, "Correct the line."),
            )
        yield found.text
