"""An explanation: what was asked and answered, every look, one reading, and how far to trust it.

regard.load("runs/reviews").explain("not bad at all")          in a notebook this draws itself
explanation.html()  .svg()  .as_json()  .looks["self"].weights
"""

import html as escaping
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard import __version__
from regard.draw.document import DocumentPicture, document_html
from regard.draw.label import plain
from regard.draw.picture import Picture
from regard.draw.svg import svg_map
from regard.draw.viewer import Shading, View, ViewedStack, explanation_page
from regard.explain.alignment import Look
from regard.explain.attributions.attribution import Reading
from regard.explain.erasure import Faithfulness
from regard.explain.trace import Trace

STACKS = {
    "cross": "looks of the answer into the source",
    "pointer": "where the answer pointed to copy",
    "encoder": "looks of the source at itself",
    "decoder": "looks of the answer at what was written before",
    "self": "looks of the text at itself",
    "pool": "looks of the pooling at the text",
    "words": "looks of each sentence at its words",
    "sentences": "look of the document at its sentences",
}


@dataclass(frozen=True)
class Explanation:
    """What a run answered, where it looked, and which words the answer came from."""

    asked: str
    answer: str
    task: str
    looks: Mapping[str, Trace]
    """By stack, as shown; empty for a model that does not attend."""
    stack: str | None
    """The stack shown first."""
    look: Look | None
    """The layer and head shown large."""
    words: tuple[str, ...] = ()
    """What the reading scores."""
    answers: tuple[str, ...] = ()
    """What it scores them for."""
    reading: Reading | None = None
    faithfulness: Faithfulness | None = None
    notes: tuple[str, ...] = ()
    """What was done to the weights, in sentences."""
    document: DocumentPicture | None = None
    """The text with its looks drawn over it, for networks of sentences or of hops."""

    @property
    def trace(self) -> Trace:
        """The looks shown first."""
        assert self.stack is not None, "a model without attention has no looks"
        return self.looks[self.stack]

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words (or pieces) that were looked at."""
        return self.trace.source if self.stack else self.words

    @property
    def weights(self) -> NDArray[np.float32]:
        """The looks shown first: layer, head, who looked, what was looked at."""
        return self.trace.weights

    @property
    def sentence(self) -> str:
        """How far the reading can be trusted, in plain words."""
        if self.faithfulness is None:
            return ""
        return self.faithfulness.in_words(_said(self.answers))

    def picture(self) -> Picture:
        """Return the map of the look shown large."""
        if self.stack is None or self.look is None:
            return _reading_map(self)
        trace = self.trace
        title = f"{STACKS[self.stack]} ({self.look.name})"
        return Picture(plain(trace.target), plain(trace.source), self.look.of(trace), title)

    def svg(self) -> str:
        """Draw the look shown large as a picture that stands alone."""
        return svg_map(self.picture())

    def html(self) -> str:
        """Draw everything as one self-contained page."""
        order = sorted(self.looks, key=lambda name: name != self.stack)
        start = (self.look.layer, self.look.head or 0) if self.look else (0, 0)
        return explanation_page(
            View(
                title=self.asked,
                summary=f"Answer: {self.answer}" if self.answer else "",
                stacks=[_viewed(name, self.looks[name]) for name in order],
                start=start,
                shading=self._shading(),
                notes=self.notes,
                own=bool(self.stack) and self.trace.own,
                document=document_html(self.document) if self.document else "",
                version=__version__,
            )
        )

    @property
    def drawn_whole(self) -> bool:
        """Whether the drawn document already says all that the reading would."""
        by_weights = self.reading is not None and self.reading.name == "weights"
        drawn = self.document is not None and self.document.faithfulness == self.sentence
        return by_weights and drawn

    def _shading(self) -> Shading | None:
        if self.reading is None or self.drawn_whole:
            return None
        return Shading(
            plain(self.answers),
            plain(self.words),
            self.reading.scores,
            self.reading.told,
            self.sentence,
        )

    def _repr_html_(self) -> str:
        page = escaping.escape(self.html(), quote=True)
        style = "width:100%;height:48rem;border:0"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'

    def as_json(self) -> dict[str, Any]:
        """Return everything under the names that scripts rely on."""
        told: dict[str, Any] = {
            "text": self.asked,
            "answer": self.answer,
            "task": self.task,
            "tokens": plain(self.tokens),
            "stack": self.stack,
            "notes": list(self.notes),
        }
        if self.stack is not None:
            told |= _stack_json(self.trace)
            told["others"] = {
                name: _stack_json(trace) for name, trace in self.looks.items() if name != self.stack
            }
        if self.look is not None:
            told["shown"] = {"layer": self.look.layer + 1, "head": _counted(self.look.head)}
        if self.reading is not None and self.faithfulness is not None:
            told["reading"] = self.reading.as_json(self.answers, self.words)
            told["faithfulness"] = self.faithfulness.as_json(_said(self.answers))
        else:
            told["faithfulness"] = None
        return told | (self.document.as_json() if self.document else {})


def _viewed(name: str, trace: Trace) -> ViewedStack:
    return ViewedStack(STACKS[name], plain(trace.target), plain(trace.source), trace.weights)


def _reading_map(explained: Explanation) -> Picture:
    assert explained.reading is not None
    scores = np.maximum(explained.reading.scores, 0.0)
    return Picture(plain(explained.answers), plain(explained.words), scores, explained.reading.told)


def _stack_json(trace: Trace) -> dict[str, Any]:
    layers, heads = trace.weights.shape[:2]
    return {
        "source": plain(trace.source),
        "target": plain(trace.target),
        "layers": layers,
        "heads": heads,
        "weights": trace.weights.tolist(),
    }


def _counted(number: int | None) -> int | None:
    return None if number is None else number + 1


def _said(answers: tuple[str, ...]) -> str:
    return "".join(answers).replace("▁", " ").strip() if len(answers) < 8 else "the answer"
