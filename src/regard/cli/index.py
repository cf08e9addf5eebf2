"""``regard index``: a corpus made ready to be searched."""

import time
from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import AsJson, Fields, SkipBadLines, offer_skipping, parse_fields
from regard.cli.screen import print_json, print_text


def index(
    places: Annotated[
        list[str],
        typer.Argument(help="A run and a corpus: a folder with corpus.jsonl, or a file."),
    ],
    out: Annotated[Path, typer.Option("--output", help="The index folder to create; must be new.")],
    words_only: Annotated[
        bool, typer.Option("--words-only", help="BM25 only, without a run and vectors.")
    ] = False,
    approximate: Annotated[
        bool, typer.Option("--approximate", help="Also a graph, for millions of documents.")
    ] = False,
    skip: SkipBadLines = False,
    fields: Fields = "",
    as_json: AsJson = False,
) -> None:
    """Make a corpus ready to be searched: by the vectors of a run, by its words, or by both.

    The index folder is self-contained: it holds the vectors, BM25's lists, the beginnings of the
    documents, and what of the run is needed to read a query.

    Examples:
        regard index runs/search data/cranfield --output indexes/cranfield
        regard index runs/search articles.csv --fields "Body" --output indexes/articles
        regard index runs/search tickets.csv --fields "ID,Body" --output indexes/tickets
        regard index data/notes.txt --words-only --output indexes/notes

    """
    from regard.inference.search.build import build, two_places

    run, corpus = two_places(places, words_only=words_only)
    begin = time.perf_counter()
    columns = parse_fields(fields)
    with offer_skipping():
        facts = build(run, corpus, out, skip=skip, approximately=approximate, fields=columns)
    seconds = time.perf_counter() - begin
    if as_json:
        print_json({"index": str(out), "seconds": seconds, **facts})
        return
    vectors = f", vectors of {facts['width']} numbers" if facts["width"] else ""
    print_text(
        f"{facts['documents']:,} documents, {facts['terms']:,} words{vectors}, in {seconds:.1f} s"
    )
    print_text(f'next: regard search {out} "some words"')
