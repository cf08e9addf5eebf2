"""The lead: the beginning of a document taken for its summary. Hard to beat where news is written.

lead-k        the first k sentences
lead words    the first n words, n the mean length of the training summaries
"""

from itertools import accumulate, islice

from regard.tasks.task import Examples
from regard.text.sentences import split_sentences

MOST_LOOKED_AT = 2000  # training examples by which k and n are chosen
MOST_SENTENCES = 20


def lead(document: str, sentences: int) -> str:
    """Return the first sentences."""
    return " ".join(split_sentences(document)[:sentences])


def lead_words(document: str, words: int) -> str:
    """Return the first words."""
    return " ".join(document.split()[:words])


def choose_lead(source: Examples) -> int:
    """Return the number of sentences whose mean length in words is nearest to the summaries'."""
    totals, wanted = [0] * MOST_SENTENCES, 0
    for document, summary in islice(source(), MOST_LOOKED_AT):
        lengths = [len(sentence.split()) for sentence in split_sentences(document)[:MOST_SENTENCES]]
        lengths += [0] * (MOST_SENTENCES - len(lengths))
        totals = [a + b for a, b in zip(totals, accumulate(lengths), strict=True)]
        wanted += len(summary.split())
    apart = [abs(total - wanted) for total in totals]
    return 1 + apart.index(min(apart))
