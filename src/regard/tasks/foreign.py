"""Models of other libraries: what a task makes of one, and what its own model is to them."""

from typing import Any, Literal, NamedTuple

from regard.text.special import CLS, SEP, SPECIAL


class ForeignEncoder(NamedTuple):
    """Which heads an encoder has."""

    pools: bool = True
    """Whether its files say how its states are pooled into one vector."""
    fills_masks: bool = True
    judges_pairs: bool = True


class Adoption(NamedTuple):
    """How a task uses an encoder."""

    tables: dict[str, Any]
    """Tables of a recipe, in addition to the shape of the encoder."""
    usual: bool
    """Whether the encoder was trained for this."""


Kind = Literal["encoder-decoder", "causal", "encoder"]
Head = Literal["tokens", "labels", "tags", "vector", "states"]
Reads = Literal["text", "folded", "masked", "words"]
TEXT = "A"
"""The place of a text in a template; a pair has ``B`` as well."""
FRAMED = (SPECIAL[CLS], TEXT, SPECIAL[SEP])
FRAMED_PAIR = (*FRAMED, "B", SPECIAL[SEP])


def kind_of_body(*, causal: bool | None) -> Kind:
    """Return what a body is to other libraries."""
    return "causal" if causal else "encoder"


class Obstacle(NamedTuple):
    """A setting that another library's architecture cannot express."""

    setting: str
    """Its dotted path."""
    value: Any
    reason: str
    remedy: str
    """What to set in the recipe, as a sentence."""

    def __str__(self) -> str:
        return f"{self.setting} = {self.value!r}: {self.reason}. {self.remedy}"


class Export(NamedTuple):
    """What the model of a task is to another library."""

    kind: Kind
    head: Head
    template: tuple[str, ...] = (TEXT,)
    """Special tokens around a text, as the model reads it; of an encoder-decoder its source."""
    reads: Reads = "text"
    """What of a text is tokenized: all of it, with white space folded, also with ``[MASK]`` as a
    mask, or one word after the other."""
    pair_template: tuple[str, ...] = ()
    """The same for two texts; empty if the model reads one."""
    labels: tuple[str, ...] = ()
    problem: str = ""
    """``single_label_classification``, ``multi_label_classification`` or ``regression``."""
    pairs: bool = False
    """Whether there is a head for sentence pairs besides that for masked tokens."""
    obstacles: tuple[Obstacle, ...] = ()
    """Settings of the task that no other library has."""
