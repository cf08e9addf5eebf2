"""The chapters in the order of the course documents; a new one is a file here and a row."""

from typing import Any

from regard.errors import UsageError
from regard.mechanisms.attention import ATTENTION
from regard.mechanisms.bert_input import BERT_INPUT
from regard.mechanisms.combination import COMBINATION
from regard.mechanisms.cost import COST
from regard.mechanisms.heads import HEADS
from regard.mechanisms.masked_words import MASKED_WORDS
from regard.mechanisms.masks import MASKS
from regard.mechanisms.mechanism import Mechanism
from regard.mechanisms.parameters import PARAMETERS
from regard.mechanisms.receptive_field import RECEPTIVE_FIELD
from regard.mechanisms.scaling import SCALING
from regard.mechanisms.sinusoids import SINUSOIDS

CHAPTERS: dict[str, Mechanism] = {
    mechanism.name: mechanism
    for mechanism in (
        *(ATTENTION, COST, HEADS, SINUSOIDS, MASKS, PARAMETERS, BERT_INPUT),  # D0
        *(COMBINATION, RECEPTIVE_FIELD, MASKED_WORDS),  # D2
        *(SCALING,),  # D4
    )
}


def find_chapter(name: str) -> Mechanism:
    """Return a chapter by its name."""
    if name not in CHAPTERS:
        raise UsageError(
            f"there is no chapter {name!r:.40}.", f"The chapters are {', '.join(CHAPTERS)}."
        )
    return CHAPTERS[name]


def list_chapters() -> list[dict[str, Any]]:
    """Describe all chapters, in order."""
    return [
        {"number": number, **mechanism.describe()}
        for number, mechanism in enumerate(CHAPTERS.values(), start=1)
    ]
