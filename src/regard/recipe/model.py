"""``[model]``: the shape of the network."""

from typing import Annotated, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from regard.recipe.documents import DocumentSettings
from regard.recipe.head import HeadSettings
from regard.recipe.settings import Refused, Settings
from regard.recipe.start import StartSettings

Share = Annotated[float, Field(ge=0.0, lt=1.0)]


class AttentionSettings(Settings):
    """Positions look at each other."""

    kind: Literal["attention"] = "attention"
    """Mix the sequence by attention."""
    heads: PositiveInt = 4
    """Number of looks each layer takes at once; must divide ``model.width``."""
    score: Literal["scaled-dot", "dot", "additive"] = "scaled-dot"
    """How a key answers a query: by their dot product, scaled or plain, or by a small network."""
    select: Literal["softmax", "log-length", "argmax"] = "softmax"
    """Where a query looks: everywhere a little; more sharply the longer the text; or at the best
    key alone."""
    window: PositiveInt | None = None
    """How many positions away a query may look; leave out to let it look anywhere."""
    normed: bool = False
    """Whether queries and keys are brought to unit scale before they meet (QK-norm)."""
    biases: bool = False
    """Whether the four projections of attention add a bias."""
    dropout: Share = 0.0
    """Share of the attention weights dropped while training; needs the slower equation path."""


class RecurrentSettings(Settings):
    """Each position hears from the one before it."""

    kind: Literal["recurrent"]
    """Mix the sequence by recurrence."""
    cell: Literal["gru", "lstm"] = "gru"
    """The recurrent cell."""


class ConvolutionSettings(Settings):
    """Each position hears from a few neighbours."""

    kind: Literal["convolution"]
    """Mix the sequence by convolution."""
    kernel: PositiveInt = 3
    """How many positions one output sees."""
    dilated: bool = False
    """Whether layer n skips kernel^n positions, so that the view grows exponentially with depth."""


Mixer = Annotated[
    AttentionSettings | RecurrentSettings | ConvolutionSettings, Field(discriminator="kind")
]


class SinusoidalSettings(Settings):
    """Fixed waves, one pair per frequency (Vaswani et al. 2017)."""

    kind: Literal["sinusoidal"] = "sinusoidal"
    """Tell positions apart by fixed waves."""
    joined: Literal["added", "concatenated"] = "added"
    """How a position meets the token's state: summed with it or put beside it."""


class LearnedSettings(Settings):
    """One learned vector per position."""

    kind: Literal["learned"]
    """Tell positions apart by learned vectors."""
    joined: Literal["added", "concatenated"] = "added"
    """How a position meets the token's state: summed with it or put beside it."""
    positions: PositiveInt = 512
    """How many positions there are; longer texts are refused."""


class RelativeSettings(Settings):
    """A learned number per head and distance, added to the scores (Shaw 2018; Raffel 2020)."""

    kind: Literal["relative"]
    """Tell distances apart by learned numbers on the scores."""
    positions: PositiveInt = 512
    """The longest text the full table can answer for, or where the farthest bucket begins."""
    buckets: PositiveInt | None = None
    """Share the numbers among this many distance classes; leave out for the full table."""


class RotarySettings(Settings):
    """Queries and keys are turned by an angle that grows with position (Su et al. 2021)."""

    kind: Literal["rotary"]
    """Tell distances apart by turning queries and keys."""
    base: Annotated[float, Field(gt=1.0)] = 10000.0
    """The slowest wave's length, in positions over 2π."""


class AlibiSettings(Settings):
    """A fixed penalty that grows with distance, one slope per head (Press et al. 2022)."""

    kind: Literal["alibi"]
    """Tell distances apart by a fixed penalty on the scores."""


class NoPositionSettings(Settings):
    """No positions at all: order is felt only through a causal view."""

    kind: Literal["none"]
    """Do not tell positions apart."""


Position = Annotated[
    SinusoidalSettings
    | LearnedSettings
    | RelativeSettings
    | RotarySettings
    | AlibiSettings
    | NoPositionSettings,
    Field(discriminator="kind"),
]


class EmbeddingSettings(Settings):
    """How tokens enter."""

    ngrams: Annotated[int, Field(ge=1, le=8)] = 1
    """Longest run of tokens that has vectors of its own, found by a hash: 2 adds pairs with the
    token before, 3 also triples, and so on to 8; 1 is none."""
    ngram_rows: PositiveInt = 16384
    """How many vectors the runs of one length share."""
    ngram_dropout: Share = 0.0
    """Share of the runs left out while training, so that they are not merely learned by heart."""
    ngram_min_count: PositiveInt = 1
    """In how many training texts a run of tokens has to stand to have a vector of its own."""
    ngram_lazy: bool = False
    """Whether a step moves only the vectors of the runs it has read, and weight decay is paid every
    32 steps: several times faster where ``ngram_rows`` is large, and nearly the same."""
    segments: NonNegativeInt = 0
    """How many kinds of span a row may hold, each with a vector of its own; BERT has 2. A sentence
    pair with 4 also tells the tokens that both texts have from those that one has."""
    norm: bool = False
    """Whether the sum of the vectors is normed before it enters the first block, as BERT does."""


class ModelSettings(Settings):
    """The shape of the network."""

    width: PositiveInt = 192
    """Size of the state that stands for one token."""
    depth: NonNegativeInt = 3
    """Number of blocks stacked on one another; in a translator, those of the encoder. With none a
    text is the sum of its tokens' vectors."""
    decoder_depth: PositiveInt = 2
    """Number of blocks of the decoder; shallow decoders answer faster."""
    feed_forward: PositiveInt = 768
    """Width of the layer inside each feed-forward part."""
    activation: Literal["relu", "gelu", "swiglu", "relu2"] = "relu2"
    """What bends inside the feed-forward part; swiglu adds a gate."""
    norm: Literal["layer", "rms"] = "rms"
    """How states are brought to one scale."""
    norm_order: Literal["pre", "post"] = "pre"
    """Whether states are normed before each part or after it is added (the 2017 paper)."""
    last_norm: bool = True
    """``pre``: whether states are normed after the last block. Without, a token whose vector is
    long counts for more when states are pooled."""
    norm_epsilon: PositiveFloat | None = None
    """Keeps the norm of a state of zeros finite; leave out for 1e-5 (layer) or 1e-6 (rms)."""
    biases: bool = False
    """Whether the feed-forward parts and norms add a bias."""
    tied: bool = True
    """Whether reading and writing tokens share one table, on both sides of a translator."""
    scaled_embedding: bool = True
    """Whether token vectors are multiplied by √width when they enter (the 2017 paper)."""
    dropout: Share = 0.1
    """Share of each part's output dropped while training."""
    zero_init: bool = True
    """Whether every part begins by adding nothing: its last matrix starts at zero."""
    writes: Literal["seen", "all"] = "seen"
    """Which tokens can be written: those seen on the target side and single bytes, or all. In a
    language model those never seen share one logit instead."""
    copying: bool = False
    """Whether a model that writes may also point at a token of its source and take it over: names
    and numbers never seen in training then come through (See et al. 2017)."""
    soft_cap: NonNegativeFloat = 0.0
    """Bend logits smoothly into ±soft_cap; 0 leaves them as they are."""
    causal: bool | None = None
    """Whether a position sees only what came before it; leave out for what the task needs."""
    bare: bool = False
    """Labels: whether blocks are their mixer alone, without sums, norms and feed-forward, as in
    the papers of HAN and of the structured embedding."""
    states: PositiveInt | None = None
    """``bare``: size of the states a recurrent mixer ends in, where it is not ``width``."""
    mixer: Mixer = AttentionSettings()
    position: Position = SinusoidalSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    head: HeadSettings = HeadSettings()
    documents: DocumentSettings = DocumentSettings()
    start: StartSettings = StartSettings()

    @property
    def ends_in(self) -> int:
        """Size of the states that a body ends in."""
        return self.states or self.width

    @model_validator(mode="after")
    def _there_are_runs_to_leave_out(self) -> "ModelSettings":
        chosen = self.embedding
        for name in ("ngram_dropout", "ngram_lazy", "ngram_min_count"):
            value, plain = getattr(chosen, name), EmbeddingSettings.model_fields[name].default
            # What is begun from may have runs of tokens, though nothing is said of them here.
            if value != plain and chosen.ngrams == 1 and self.start.run is None:
                raise Refused(
                    f"model.embedding.{name} = {str(value).lower()} has no effect while "
                    "model.embedding.ngrams is 1",
                    f"Set ngrams to 2 or more, or take {name} out",
                )
        return self

    @model_validator(mode="after")
    def _heads_divide_width(self) -> "ModelSettings":
        if isinstance(self.mixer, AttentionSettings) and self.width % self.mixer.heads:
            heads, width = self.mixer.heads, self.width
            raise Refused(
                f"model.mixer.heads must divide model.width; {heads} does not divide {width}",
                f"The next width that fits is {-(-width // heads) * heads}",
            )
        return self

    @model_validator(mode="after")
    def _scores_have_someone_to_bias(self) -> "ModelSettings":
        on_scores = isinstance(self.position, RelativeSettings | RotarySettings | AlibiSettings)
        if on_scores and not isinstance(self.mixer, AttentionSettings):
            raise Refused(
                f'model.position.kind "{self.position.kind}" speaks to attention only, but '
                f'model.mixer.kind is "{self.mixer.kind}"',
                'Choose position "sinusoidal", "learned" or "none", or mixer "attention"',
            )
        return self

    @model_validator(mode="after")
    def _tied_tables_are_as_wide_as_states(self) -> "ModelSettings":
        beside = getattr(self.position, "joined", "added") == "concatenated"
        if beside and self.tied:
            raise ValueError(
                'model.position.joined = "concatenated" leaves part of a state to the position, so '
                "the table of tokens is narrower than a state and cannot also write tokens; set "
                "model.tied to false"
            )
        return self

    @model_validator(mode="after")
    def _documents_fit(self) -> "ModelSettings":
        read, pooling, mixer = self.documents.read, self.head.pooling, self.mixer.kind
        if read == "sentences" and pooling != "attention":
            raise Refused(
                'model.documents.read = "sentences" ends in a look at the sentences, but '
                f'model.head.pooling is "{pooling}"',
                'Set model.head.pooling to "attention"',
            )
        if self.states is not None and not (self.bare and mixer == "recurrent"):
            raise Refused(
                f"model.states = {self.states} is where a bare recurrent mixer ends, but "
                f'model.bare is {str(self.bare).lower()} and model.mixer.kind is "{mixer}"',
                "Set bare to true and the mixer to recurrent, or take states out",
            )
        return self

    @model_validator(mode="after")
    def _a_lexicon_needs_one_table(self) -> "ModelSettings":
        if self.start.lexicon and not self.tied:
            raise Refused(
                "model.start.lexicon puts both languages into one table of tokens, but model.tied "
                "is false",
                "Set model.tied to true or model.start.lexicon to false",
            )
        return self

    @model_validator(mode="after")
    def _rotary_turns_pairs(self) -> "ModelSettings":
        if isinstance(self.position, RotarySettings) and isinstance(self.mixer, AttentionSettings):
            features = self.width // self.mixer.heads
            if features % 2:
                heads = self.mixer.heads
                raise Refused(
                    'model.position.kind "rotary" turns pairs of features, so model.width over '
                    f"model.mixer.heads must be even; {self.width} / {heads} is {features}",
                    f"The next width that fits is {heads * (features + 1)}",
                )
        return self
