"""A document with its attention weights: a bar for each sentence, a shade for each word.

    shade(word) = √sentence · word / the largest of these      (Yang et al. 2016, figure 5)

so that words stand out where their sentence does. Hops are several views of one text, with a map of
how much they overlap. The effect of erasing the words is always shown below.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.draw.frame import page, tabs
from regard.draw.label import label
from regard.draw.markup import tag, text
from regard.draw.picture import Matrix, Picture
from regard.draw.svg import svg_map

_SHOWS = (
    "The bar is the attention weight of a sentence; a darker word has a higher weight within its "
    "sentence, scaled by the root of the sentence's weight."
)
_SHOWS_HOPS = (
    "Each view is one hop of the pooling; a darker word has a higher attention weight in that hop. "
    "The map shows how much two hops attend to the same words."
)
_IS_NOT = (
    "Attention weights are not the reason for an answer: they weight states, which already contain "
    "information about neighbouring words. The sentence above says what erasing the words does."
)


@dataclass(frozen=True)
class DrawnSentence:
    """The words of one sentence, and their attention weights."""

    words: Sequence[str]
    weights: Sequence[float]
    """One for each word; of HAN's sentences they sum to one."""
    weight: float | None = None
    """The sentence's weight; None if the model is not hierarchical."""


@dataclass(frozen=True)
class DocumentView:
    """The whole document with the weights of one hop, or of words and sentences."""

    name: str
    sentences: Sequence[DrawnSentence]

    def shades(self) -> list[list[float]]:
        """Return the shade of every word, from 0 to 1."""
        found = [
            [weight * (1.0 if one.weight is None else one.weight) ** 0.5 for weight in one.weights]
            for one in self.sentences
        ]
        peak = max((shade for own in found for shade in own), default=0.0) or 1.0
        return [[shade / peak for shade in own] for own in found]


@dataclass(frozen=True)
class DocumentPicture:
    """All that is drawn of one document."""

    views: Sequence[DocumentView]
    """The first is shown first."""
    answer: str
    faithfulness: str
    """The effect of erasing the words with the highest weights, as a sentence."""
    overlap: Matrix | None = None
    """Overlap of the weights of each pair of hops."""
    title: str = ""
    note: str = ""
    """What is known over many documents."""

    @property
    def hops(self) -> bool:
        """Whether the views are hops."""
        return self.overlap is not None

    @property
    def verdict(self) -> str:
        """What is shown below every drawing."""
        return f"Faithfulness of the attention weights. {self.faithfulness}"

    def as_json(self) -> dict[str, Any]:
        """Return what is drawn under the names that scripts rely on."""
        drawn = [
            {
                "name": view.name,
                "sentences": [
                    {"words": list(one.words), "weights": list(one.weights), "weight": one.weight}
                    for one in view.sentences
                ],
            }
            for view in self.views
        ]
        overlap = {} if self.overlap is None else {"overlap": np.asarray(self.overlap).tolist()}
        return {"views": drawn, **overlap}


def document_html(picture: DocumentPicture) -> str:
    """Draw a document as part of a page."""
    views = [(label(view.name, 28), _draw_view(view)) for view in picture.views]
    notes = tag(
        "div",
        tag("p", tag("b", text(picture.verdict))),
        tag("p", text(picture.note)) if picture.note else "",
        tag("p", tag("b", "What this shows. "), _SHOWS_HOPS if picture.hops else _SHOWS),
        tag("p", tag("b", "What it is not. "), _IS_NOT),
        class_="words",
    )
    answer = tag("p", "Answer: ", tag("b", text(picture.answer)), class_="hint", dir="auto")
    drawn = views[0][1] if len(views) == 1 else tabs("hop", views)
    return tag("style", STYLE) + answer + drawn + notes + _draw_overlap(picture)


def document_page(picture: DocumentPicture, *, title: str, version: str = "") -> str:
    """Draw a document as a page of its own."""
    parts = {"Document": document_html(picture)}
    return page(title, "", parts, version=version, kind="Explanation")


def overlap_picture(picture: DocumentPicture) -> Picture | None:
    """Return the map of how much hops attend to the same words, if there are several."""
    if picture.overlap is None:
        return None
    found = np.asarray(picture.overlap, dtype=np.float64)
    names = [f"hop {place + 1}" for place in range(len(found))]
    return Picture(names, names, found, "overlap of hops")


STYLE = """
.document{margin:0 0 1rem;max-width:46rem}
.overlap{margin-top:1.2rem}
.document .sentence{display:grid;grid-template-columns:4.6rem 1fr;gap:0 .9rem;margin:0 0 .45rem;
align-items:baseline}
.document .whole{grid-template-columns:1fr}
.document .share{font-size:.75rem;color:var(--soft);text-align:right;
font-variant-numeric:tabular-nums;white-space:nowrap}
.document .share i{display:inline-block;height:.62rem;border-radius:2px;background:var(--second);
width:calc(var(--share)*2.2rem);margin-right:.35rem}
.document .word{border-radius:3px;padding:.08em .12em;
background:color-mix(in srgb,var(--accent) calc(var(--shade)*78%),transparent)}
"""


def _draw_view(view: DocumentView) -> str:
    return tag(
        "div",
        *(
            _draw_sentence(sentence, shades)
            for sentence, shades in zip(view.sentences, view.shades(), strict=True)
        ),
        class_="document",
        dir="auto",
    )


def _draw_sentence(sentence: DrawnSentence, shades: Sequence[float]) -> str:
    words = " ".join(
        tag(
            "span",
            text(label(word)),
            class_="word",
            style=f"--shade:{shade:.3f}",
            title=f"{weight:.1%}",
        )
        for word, weight, shade in zip(sentence.words, sentence.weights, shades, strict=True)
    )
    if sentence.weight is None:
        return tag("div", tag("div", words), class_="sentence whole")
    bar = tag("i", style=f"--share:{sentence.weight:.3f}")
    share = tag("div", bar, f"{sentence.weight:.0%}", class_="share")
    return tag("div", share, tag("div", words), class_="sentence")


def _draw_overlap(picture: DocumentPicture) -> str:
    found = overlap_picture(picture)
    return tag("div", svg_map(found, alone=False), class_="scroll overlap") if found else ""
