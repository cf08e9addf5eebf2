"""What a report says of searches: some rankings side by side, and every question's ranks."""

from regard.draw.searches import Result, Search, Searches
from regard.run import Run

MOST = 8  # questions shown


def searches_of(run: Run) -> Searches | None:
    """Gather what a searcher found on the split measured last; None for any other run."""
    details = run.evaluation.get("details", {})
    if "searches" not in details:
        return None
    examples = [
        Search(
            each["query"],
            {
                way: [Result(one["shown"], one["grade"]) for one in each[way]]
                for way in ("dense", "bm25", "hybrid")
            },
        )
        for each in details["searches"][:MOST]
    ]
    return Searches(examples, [(dense, words) for dense, words, _ in details["ranks"]])
