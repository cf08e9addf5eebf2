"""What a report page says, as plain data: whoever trained fills it in, :mod:`.html` draws it.

Everything is shown as it is written here; numbers that a reader needs rounded or with thousands
marked come as text. Texts may hold anything: they are escaped when drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.draw.document import DocumentPicture
from regard.draw.picture import Matrix
from regard.draw.searches import Searches

Fact = tuple[str, str]
"""A name and what is known under it: ("sentence pairs", "29,000")."""


@dataclass(frozen=True)
class Score:
    """A score, with that of the baseline."""

    name: str
    """As the field writes it: "BLEU", "chrF"."""
    value: float | int
    baseline: float | int | None = None
    """The plain method's figure on the same data."""
    baseline_name: str = ""
    """What that method is: "copying the source"."""
    signature: str = ""
    """sacreBLEU's signature, which says how exactly the figure was computed."""
    best: float | int | None = None
    """The end of the scale (100 for BLEU), which draws a bar; None where there is none."""
    digits: int = 1
    """Places after the point."""
    note: str = ""
    """What was measured: "test, 1,000 sentences, beam 5"."""
    unit: str = ""
    """What follows the figures: "%"."""
    together: float | int | None = None
    """What model and plain method reach when they answer together."""


@dataclass(frozen=True)
class Curve:
    """One quantity over training: the three sequences have the same length."""

    name: str
    """What it is: "training loss", "validation BLEU"."""
    steps: Sequence[float | int]
    minutes: Sequence[float | int]
    values: Sequence[float | int]


@dataclass(frozen=True)
class Panel:
    """Curves that share one scale and so one chart."""

    title: str
    curves: Sequence[Curve]


@dataclass(frozen=True)
class ReportSample:
    """One held-out example and the model's answer."""

    source: str
    reference: str
    answer: str
    copied: Sequence[tuple[str, float]] = ()
    """The answer's words, each with the share of it that was copied; empty where none is known."""


@dataclass(frozen=True)
class SampleWords:
    """What the three sides of a sample are called."""

    source: str = "Source"
    reference: str = "Reference"
    answer: str = "Answer"
    hint: str = (
        "Held-out examples. Marked: where the answer's words differ from the reference, which is "
        "one good answer among many."
    )


@dataclass(frozen=True)
class Confusion:
    """Which answers were given for which labels."""

    labels: Sequence[str]
    counts: Sequence[Sequence[int]]
    """By the label that was right and the label that was answered."""


@dataclass(frozen=True)
class HeadMap:
    """The attention map of one head, or a mean that is named as one."""

    name: str
    """Which head: "layer 3, head 2"."""
    weights: Matrix
    """By target word and source word."""


@dataclass(frozen=True)
class AttentionMaps:
    """The attention of every head for one text and its answer."""

    source: Sequence[str]
    target: Sequence[str]
    heads: Sequence[HeadMap]
    """The first is shown first."""
    note: str = ""
    """What is known about it: "agrees with the gold alignment on 93% of content words"."""
    self_attention: bool = False
    """Whether source and target are the same words; otherwise an answer attends to its source."""


@dataclass(frozen=True)
class ReportData:
    """All a report page holds. Parts that are empty are left out."""

    title: str
    """The run's name."""
    summary: str
    """One or two sentences: what was trained on what, and how well it does."""
    recipe: Sequence[Fact] = ()
    """The settings that matter to a reader; the whole recipe is in the run folder."""
    scores: Sequence[Score] = ()
    panels: Sequence[Panel] = ()
    confusion: Confusion | None = None
    labels: Sequence[Fact] = ()
    """The scores of each label, where a text may have several."""
    searches: Searches | None = None
    samples: Sequence[ReportSample] = ()
    sample_words: SampleWords = SampleWords()
    attention: AttentionMaps | None = None
    document: DocumentPicture | None = None
    """A document with its attention weights, by sentences or by hops."""
    data: Sequence[Fact] = ()
    """Counts of each split, languages, the fingerprint."""
    cost: Sequence[Fact] = ()
    """What it costs, by formula: parameters by part, operations, memory."""
    environment: Sequence[Fact] = ()
    """Versions, threads, processor, seconds, tokens per second."""
    commands: Sequence[Fact] = ()
    """What to do next: (what it does, the command)."""
    version: str = ""
    """The version of regard that wrote the page."""
    kind: str = "Training report"
    """What kind of page it is."""
