"""Captions of sample summaries in a report."""

from typing import Any

from regard.draw.page import Fact


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
