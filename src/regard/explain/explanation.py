"""An explanation: text and answer, attention, one attribution, and how faithful it is.

regard.load("runs/reviews").explain("not bad at all")          in a notebook this draws itself
explanation.html()  .svg()  .as_json()  .attention["self"].weights
"""

import html as escaping
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard import __version__
from regard.draw.bars import Bars
from regard.draw.document import DocumentPicture, document_html
from regard.draw.label import strip_marks
from regard.draw.overview import score_bars
from regard.draw.picture import Picture
from regard.draw.svg import svg_map
from regard.draw.viewer import (
    ExplanationView,
    Shading,
    ViewedStack,
    explanation_page,
    view_data,
)
from regard.draw.words import WHAT_IT_SHOWS
from regard.explain.alignment import MapIndex
from regard.explain.attributions.attribution import Attribution
from regard.explain.erasure import Faithfulness, quote, write_interval
from regard.explain.output_erasure import OutputFaithfulness
from regard.explain.trace import Trace
from regard.tasks.question import Member

STACKS = {
    "cross": "cross-attention (answer to source)",
    "pointer": "copying pointer (answer to source)",
    "encoder": "self-attention of the encoder",
    "decoder": "self-attention of the decoder",
    "self": "self-attention",
    "pool": "attention of the pooling",
    "words": "attention of each sentence to its words",
    "sentences": "attention of the document to its sentences",
}


@dataclass(frozen=True)
class Explanation:
    """What a run answered, its attention weights, and the attribution of the answer to words."""

    text: str
    answer: str
    task: str
    attention: Mapping[str, Trace]
    """By stack, as shown; empty for a model without attention."""
    stack: str | None
    """The stack shown first."""
    shown: MapIndex | None
    """The layer and head shown large."""
    words: tuple[str, ...] = ()
    """What the attribution scores."""
    answers: tuple[str, ...] = ()
    """What it scores them for."""
    attribution: Attribution | None = None
    faithfulness: Faithfulness | OutputFaithfulness | None = None
    notes: tuple[str, ...] = ()
    """What was done to the weights, in sentences."""
    members: tuple[Member, ...] = ()
    """Who answered, if an ensemble did, and what each says alone."""
    document: DocumentPicture | None = None
    """The text with its attention weights drawn behind it, for networks of sentences or hops."""

    @property
    def trace(self) -> Trace:
        """The attention shown first."""
        assert self.stack is not None, "a model without attention has no trace"
        return self.attention[self.stack]

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words (or pieces) that are attended to."""
        return self.trace.source if self.stack else self.words

    @property
    def weights(self) -> NDArray[np.float32]:
        """The attention weights shown first: layer, head, target, source."""
        return self.trace.weights

    @property
    def sentence(self) -> str:
        """How faithful the attribution is, in plain words."""
        if self.faithfulness is None:
            return ""
        return self.faithfulness.describe(_join_answers(self.answers))

    @property
    def _answered(self) -> str:
        return f"Answer: {self.answer}" if self.answer else ""

    @property
    def members_sentence(self) -> str:
        """What each member of an ensemble says alone; empty where the network answers alone."""
        if not self.members:
            return ""
        alone = ", ".join(
            f"{one.name} {one.probability:.0%} (weight {one.weight:.0%})" for one in self.members
        )
        return (
            "An ensemble answers; its combined probability is explained. Probability of "
            f"{quote(self.answers[0])} by each member alone: {alone}."
        )

    def bars(self) -> Bars | None:
        """Return the words with the highest scores as bars, where one answer is explained."""
        if self.attribution is None or len(self.answers) != 1 or self.attribution.name == "weights":
            return None
        title = f"{self.attribution.name} for {quote(self.answers[0])}"
        return score_bars(strip_marks(self.words), self.attribution.scores[0], most=20, title=title)

    def picture(self) -> Picture:
        """Return the map shown large."""
        if self.stack is None or self.shown is None:
            return _attribution_map(self)
        trace = self.trace
        title = f"{STACKS[self.stack]} ({self.shown.name})"
        rows, columns = strip_marks(trace.target), strip_marks(trace.source)
        return Picture(rows, columns, self.shown.select(trace), title)

    def svg(self) -> str:
        """Draw the map shown large as a self-contained picture."""
        return svg_map(self.picture())

    def html(self) -> str:
        """Draw everything as one self-contained page."""
        return explanation_page(self._view())

    def view_data(self) -> dict[str, Any]:
        """Return the attention maps as the viewer of the page reads them."""
        return view_data(self._view())

    def _view(self) -> ExplanationView:
        order = sorted(self.attention, key=lambda name: name != self.stack)
        start = (self.shown.layer, self.shown.head or 0) if self.shown else (0, 0)
        return ExplanationView(
            title=self.text,
            summary=". ".join(filter(None, (self._answered, self.members_sentence))),
            stacks=[_view_stack(name, self.attention[name]) for name in order],
            start=start,
            shading=self._shading(),
            notes=self.notes,
            document=document_html(self.document) if self.document else "",
            version=__version__,
        )

    @property
    def drawn_whole(self) -> bool:
        """Whether the drawn document already shows all that the attribution would."""
        by_weights = self.attribution is not None and self.attribution.name == "weights"
        drawn = self.document is not None and self.document.faithfulness == self.sentence
        return by_weights and drawn

    def _shading(self) -> Shading | None:
        if self.attribution is None or self.drawn_whole:
            return None
        return Shading(
            strip_marks(self.answers),
            strip_marks(self.words),
            self.attribution.scores,
            self.attribution.description,
            self.sentence,
            self._format_tests(),
        )

    def _format_tests(self) -> list[list[str]]:
        """Return the test of each output as the lines of a table."""
        if not isinstance(self.faithfulness, OutputFaithfulness):
            return []
        lines = []
        for one in self.faithfulness.outputs:
            before, without, low, high = (f"{share:.0%}" for share in one.shares())
            names = " ".join(strip_marks([one.output, *one.erased])[1:])
            others = write_interval(low, high)
            depends = "yes" if one.dependent else "no"
            lines.append([*strip_marks([one.output]), names, before, without, others, depends])
        return lines

    def _repr_html_(self) -> str:
        page = escaping.escape(self.html(), quote=True)
        style = "width:100%;height:48rem;border:0"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'

    def as_json(self) -> dict[str, Any]:
        """Return everything under the names that scripts rely on."""
        found: dict[str, Any] = {
            "text": self.text,
            "answer": self.answer,
            "members": [one._asdict() for one in self.members],
            "task": self.task,
            "tokens": strip_marks(self.tokens),
            "stack": self.stack,
            "notes": list(self.notes),
        }
        if self.stack is not None:
            found |= _stack_json(self.trace)
            found["others"] = {
                name: _stack_json(trace)
                for name, trace in self.attention.items()
                if name != self.stack
            }
        if self.shown is not None:
            head = None if self.shown.head is None else self.shown.head + 1
            found["shown"] = {"layer": self.shown.layer + 1, "head": head}
        if self.attribution is not None and self.faithfulness is not None:
            found["attribution"] = self.attribution.as_json(self.answers, self.words)
            found["faithfulness"] = self.faithfulness.as_json(_join_answers(self.answers))
        else:
            found["faithfulness"] = None
        return found | (self.document.as_json() if self.document else {})


def _view_stack(name: str, trace: Trace) -> ViewedStack:
    rows, columns = strip_marks(trace.target), strip_marks(trace.source)
    return ViewedStack(STACKS[name], rows, columns, trace.weights, WHAT_IT_SHOWS[name])


def _attribution_map(explained: Explanation) -> Picture:
    assert explained.attribution is not None
    scores = np.maximum(explained.attribution.scores, 0.0)
    rows, columns = strip_marks(explained.answers), strip_marks(explained.words)
    return Picture(rows, columns, scores, explained.attribution.description)


def _stack_json(trace: Trace) -> dict[str, Any]:
    layers, heads = trace.weights.shape[:2]
    return {
        "source": strip_marks(trace.source),
        "target": strip_marks(trace.target),
        "layers": layers,
        "heads": heads,
        "weights": trace.weights.tolist(),
    }


def _join_answers(answers: tuple[str, ...]) -> str:
    return "".join(answers).replace("▁", " ").strip() if len(answers) < 8 else "the answer"
