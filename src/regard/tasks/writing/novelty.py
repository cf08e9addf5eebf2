"""How much of a summary is the document's own: copying is safe, and may be all a model does.

copied         share of the summary's words that stand in the document
novel n-grams  share of its runs of n words that stand nowhere in the document
"""

from collections.abc import Sequence

from regard.tasks.writing.rouge import words

LONGEST = 3


def novelty(documents: Sequence[str], summaries: Sequence[str]) -> dict[str, float]:
    """Count over all summaries together; words as ROUGE has them."""
    seen = dict.fromkeys(range(1, LONGEST + 1), 0)
    new = dict.fromkeys(seen, 0)
    for document, summary in zip(documents, summaries, strict=True):
        said, known = words(summary), words(document)
        for size in seen:
            runs = _runs(known, size)
            own = [tuple(said[at : at + size]) for at in range(len(said) - size + 1)]
            seen[size] += len(own)
            new[size] += sum(run not in runs for run in own)
    shares = {size: new[size] / max(1, seen[size]) for size in seen}
    return {
        "words": seen[1] / max(1, len(summaries)),
        "copied": 1.0 - shares[1],
        "novel_bigrams": shares[2],
        "novel_trigrams": shares[3],
    }


def _runs(known: list[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(known[at : at + size]) for at in range(len(known) - size + 1)}
