"""What a report says of answers that were written from a document."""

from typing import Any

from regard.draw.page import Fact, SampleWords

WRITTEN_WORDS = {
    "translation": SampleWords(),
    "summarization": SampleWords(
        "Document",
        "Reference",
        "Summary",
        "Held-out documents, cut here. The reference is one good summary among many. Where the "
        "model can copy, words of its summary are the darker the more of them was copied.",
    ),
    "denoising": SampleWords(
        "Document with gaps",
        "As it was written",
        "As the model wrote it",
        "Held-out documents. Marked: where the model's words are not the writer's.",
    ),
}


def novelty_facts(details: dict[str, Any]) -> list[Fact]:
    """Say how much of the summaries is their documents' own, the model's and the writers'."""
    return [
        (
            f"words of the {who}",
            f"{found['words']:.1f} each, {found['copied']:.0%} of them the document's; "
            f"{found['novel_bigrams']:.0%} of the pairs are new",
        )
        for who in ("answers", "references")
        if (found := details.get(who))
    ]
