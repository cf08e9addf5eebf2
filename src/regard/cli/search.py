"""``regard search``: documents that answer a query."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import AsJson
from regard.cli.screen import clean, console, print_json, print_text

if TYPE_CHECKING:
    from regard.inference.search.searcher import Hit


def search(
    index: Annotated[Path, typer.Argument(help="An index folder.")],
    query: Annotated[str, typer.Argument(help="The query.")],
    k: Annotated[int, typer.Option("--k", min=1, help="How many documents.")] = 10,
    by: Annotated[
        str, typer.Option(help="dense (vectors), bm25 (words) or hybrid (both, the default).")
    ] = "",
    share: Annotated[
        float | None, typer.Option(help="hybrid: the vectors' share, from 0 to 1.")
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Compare every document, even if there is a graph.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Search an index: documents that answer a query, best first.

    Examples:
        regard search indexes/cranfield "heat transfer in slip flow"
        regard search indexes/cranfield "flutter of panels" --by bm25 --k 3 --json

    """
    from regard.inference.search.searcher import Searcher

    opened = Searcher(index)
    way = by or opened.usual
    hits = opened.search(query, k=k, by=way, share=share, exact=exact)
    if as_json:
        found: list[dict[str, Any]] = [hit._asdict() for hit in hits]
        print_json({"index": str(index), "query": query, "by": way, "results": found})
        return
    if not hits:
        print_text("nothing matches: no document has a word of the query", to=sys.stderr)
    elif way == "hybrid" and not opened.has_words_of(query):
        guessed = "no document has a word of the query: what follows was found by vectors alone"
        print_text(guessed, to=sys.stderr)
    for hit in hits:
        _show(hit)


def _show(hit: "Hit") -> None:
    out = console()
    title = f"  {clean(hit.title)}" if hit.title else ""
    out.print(f"{hit.rank:3}  {hit.score:6.3f}  {clean(hit.id)}{title}", style="bold")
    if hit.snippet:
        out.print(f"             {clean(hit.snippet)}", style="dim", soft_wrap=False)
