"""``[model]``: the architecture of the network."""

from typing import Annotated, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    PositiveFloat,
    model_validator,
)

from regard.recipe.documents import DocumentSettings
from regard.recipe.head import HeadSettings
from regard.recipe.settings import (
    Hundreds,
    Millions,
    NoneToHundreds,
    NoneToMillions,
    Refused,
    Settings,
)
from regard.recipe.start import StartSettings

Share = Annotated[float, Field(ge=0.0, lt=1.0)]


class AttentionSettings(Settings):
    """Multi-head attention."""

    kind: Literal["attention"] = "attention"
    """Attention as the token mixer."""
    heads: Hundreds = 4
    """Number of attention heads; must divide ``model.width``."""
    score: Literal["scaled-dot", "dot", "additive"] = "scaled-dot"
    """Attention score of a query and a key: dot product, scaled or plain, or additive
    (Bahdanau)."""
    select: Literal["softmax", "log-length", "argmax"] = "softmax"
    """How scores become attention weights: softmax, softmax of scores multiplied by the logarithm
    of the length, or argmax (hard attention)."""
    window: Millions | None = None
    """Sliding-window attention: maximum distance of a key from its query; leave out for full
    attention."""
    normed: bool = False
    """Whether queries and keys are normalised (QK-norm)."""
    biases: bool = False
    """Whether the four projections of attention have biases."""
    dropout: Share = 0.0
    """Dropout of the attention weights; disables the fused kernel."""


class RecurrentSettings(Settings):
    """A recurrent network."""

    kind: Literal["recurrent"]
    """Recurrence as the token mixer."""
    cell: Literal["gru", "lstm"] = "gru"
    """The recurrent cell."""


class ConvolutionSettings(Settings):
    """A one-dimensional convolution."""

    kind: Literal["convolution"]
    """Convolution as the token mixer."""
    kernel: Hundreds = 3
    """Kernel size: number of positions that one output depends on."""
    dilated: bool = False
    """Whether layer n has dilation kernel^n, so that the receptive field grows exponentially with
    depth."""


Mixer = Annotated[
    AttentionSettings | RecurrentSettings | ConvolutionSettings, Field(discriminator="kind")
]


class SinusoidalSettings(Settings):
    """Fixed sinusoids of different frequencies (Vaswani et al. 2017)."""

    kind: Literal["sinusoidal"] = "sinusoidal"
    """Sinusoidal position encoding."""
    joined: Literal["added", "concatenated"] = "added"
    """Whether positions are added to the embeddings or concatenated to them."""


class LearnedSettings(Settings):
    """One learned vector per position."""

    kind: Literal["learned"]
    """Learned position embeddings."""
    joined: Literal["added", "concatenated"] = "added"
    """Whether positions are added to the embeddings or concatenated to them."""
    positions: Millions = 512
    """Number of position embeddings; longer texts are refused."""


class RelativeSettings(Settings):
    """A learned bias per head and distance, added to the scores (Shaw 2018; Raffel 2020)."""

    kind: Literal["relative"]
    """Relative position bias."""
    positions: Millions = 512
    """Longest text of the full table, or the distance at which the last bucket begins."""
    buckets: Millions | None = None
    """Number of distance buckets that share a bias (T5); leave out for the full table."""


class RotarySettings(Settings):
    """RoPE: queries and keys are rotated by an angle that grows with position (Su et al. 2021)."""

    kind: Literal["rotary"]
    """Rotary position embedding (RoPE)."""
    base: Annotated[float, Field(gt=1.0)] = 10000.0
    """Base of the frequencies: the longest wavelength in positions, divided by 2π."""
    cross_attention: bool = True
    """Encoder-decoders: whether cross-attention is rotated too, a prior for translations that keep
    the order of words. CTranslate2 has none; only models without it can be exported there."""


class AlibiSettings(Settings):
    """ALiBi: a fixed penalty that grows with distance, one slope per head (Press et al. 2022)."""

    kind: Literal["alibi"]
    """Attention with linear biases (ALiBi)."""


class NoPositionSettings(Settings):
    """No position encoding: only a causal mask distinguishes positions."""

    kind: Literal["none"]
    """No position encoding."""


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
    """Token embeddings, and what is added to them."""

    ngrams: Annotated[int, Field(ge=1, le=8)] = 1
    """Longest n-gram of tokens with an embedding, found by a hash (as in fastText): 2 adds bigrams
    that end at a token, 3 also trigrams, up to 8; 1 is none."""
    ngram_rows: Millions = 16384
    """Number of hash buckets (embeddings) for the n-grams of each length."""
    ngram_dropout: Share = 0.0
    """Share of the n-grams dropped in training, against overfitting."""
    ngram_min_count: Millions = 1
    """Minimum number of training texts that contain an n-gram for it to get an embedding."""
    ngram_lazy: bool = False
    """Sparse updates: a step changes only the embeddings of the n-grams it contains, and weight
    decay is applied every 32 steps. Several times faster with large ``ngram_rows``, and nearly the
    same."""
    segments: NoneToMillions = 0
    """Number of segment embeddings; BERT has 2. A sentence pair with 4 also distinguishes tokens
    that both texts contain from those that one contains."""
    norm: bool = False
    """Whether the sum of the embeddings is normalised before the first block, as in BERT."""


class ModelSettings(Settings):
    """The architecture of the network."""

    width: Millions = 192
    """Hidden size: size of the state of one token."""
    depth: NoneToHundreds = 3
    """Number of blocks (layers); in an encoder-decoder, those of the encoder. With 0 a text is
    represented by its token embeddings alone."""
    decoder_depth: Hundreds = 2
    """Number of decoder blocks; a shallow decoder generates faster."""
    feed_forward: Millions = 768
    """Hidden size of the feed-forward layers."""
    activation: Literal["relu", "gelu", "swiglu", "relu2"] = "relu2"
    """Activation of the feed-forward layers; ``swiglu`` is gated, ``relu2`` is the squared ReLU."""
    norm: Literal["layer", "rms"] = "rms"
    """Layer normalisation or RMS normalisation (RMSNorm)."""
    norm_order: Literal["pre", "post"] = "pre"
    """Pre-norm (before each layer) or post-norm (after the residual addition, as in the 2017
    paper)."""
    last_norm: bool = True
    """``pre``: whether the output of the last block is normalised. Without it, tokens with long
    vectors count for more in pooling."""
    norm_epsilon: PositiveFloat | None = None
    """Epsilon of the norm; leave out for 1e-5 (layer) or 1e-6 (rms)."""
    biases: bool = False
    """Whether the feed-forward layers and norms have biases."""
    tied: bool = True
    """Weight tying: whether input embeddings and output layer share one table, on both sides of a
    translator."""
    scaled_embedding: bool = True
    """Whether token embeddings are multiplied by √width (the 2017 paper)."""
    dropout: Share = 0.1
    """Dropout of the output of each layer."""
    zero_init: bool = True
    """Whether the last matrix of every layer is initialised to zero, so that every block starts as
    the identity."""
    writes: Literal["seen", "all"] = "seen"
    """Output vocabulary: the tokens seen on the target side and single bytes, or all tokens. In a
    language model unseen tokens share one logit instead."""
    copying: bool = False
    """Copy mechanism (pointer-generator, See et al. 2017): whether a model that generates text may
    copy tokens of its source, such as names and numbers never seen in training."""
    soft_cap: NonNegativeFloat = 0.0
    """Logit soft-capping: logits are bounded smoothly by ±soft_cap (tanh); 0 switches it off."""
    causal: bool | None = None
    """Whether attention is causal (left to right); leave out for the task's default."""
    bare: bool = False
    """Labels: whether blocks consist of their mixer alone, without residual connections, norms and
    feed-forward layers, as in HAN and the structured embedding."""
    states: Millions | None = None
    """``bare``: output size of a recurrent mixer, if it is not ``width``."""
    mixer: Mixer = AttentionSettings()
    position: Position = SinusoidalSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    head: HeadSettings = HeadSettings()
    documents: DocumentSettings = DocumentSettings()
    start: StartSettings = StartSettings()

    @property
    def ends_in(self) -> int:
        """Size of the states that a body returns."""
        return self.states or self.width

    @model_validator(mode="after")
    def _check_ngram_settings(self) -> "ModelSettings":
        chosen = self.embedding
        for name in ("ngram_dropout", "ngram_lazy", "ngram_min_count"):
            value, plain = getattr(chosen, name), EmbeddingSettings.model_fields[name].default
            # The run to start from may have n-grams although this recipe does not mention them.
            if value != plain and chosen.ngrams == 1 and self.start.run is None:
                setting = f"model.embedding.{name} = {str(value).lower()}"
                raise Refused(
                    f"{setting} has no effect while model.embedding.ngrams is 1",
                    f"Set ngrams to 2 or more, or take {name} out",
                )
        return self

    @model_validator(mode="after")
    def _check_heads_divide_width(self) -> "ModelSettings":
        heads = self.mixer.heads if isinstance(self.mixer, AttentionSettings) else 1
        if self.width % heads:
            raise Refused(
                f"model.mixer.heads must divide model.width; {heads} does not divide {self.width}",
                f"The next width that fits is {-(-self.width // heads) * heads}",
            )
        return self

    @model_validator(mode="after")
    def _check_position_fits_mixer(self) -> "ModelSettings":
        on_scores = isinstance(self.position, RelativeSettings | RotarySettings | AlibiSettings)
        if on_scores and not isinstance(self.mixer, AttentionSettings):
            raise Refused(
                f'model.position.kind "{self.position.kind}" works with attention only, but '
                f'model.mixer.kind is "{self.mixer.kind}"',
                'Choose position "sinusoidal", "learned" or "none", or mixer "attention"',
            )
        return self

    @model_validator(mode="after")
    def _check_tied_with_concatenation(self) -> "ModelSettings":
        concatenated = getattr(self.position, "joined", "added") == "concatenated"
        if concatenated and self.tied:
            raise Refused(
                'model.position.joined = "concatenated" makes token embeddings narrower than '
                "states, so they cannot be the output layer, but model.tied is true",
                "Set model.tied to false",
            )
        return self

    @model_validator(mode="after")
    def _check_documents(self) -> "ModelSettings":
        read, pooling, mixer = self.documents.read, self.head.pooling, self.mixer.kind
        if read == "sentences" and pooling != "attention":
            raise Refused(
                'model.documents.read = "sentences" needs attention pooling of sentences, but '
                f'model.head.pooling is "{pooling}"',
                'Set model.head.pooling to "attention"',
            )
        if self.states is not None and not (self.bare and mixer == "recurrent"):
            raise Refused(
                f"model.states = {self.states} needs a bare recurrent mixer, but model.bare is "
                f'{str(self.bare).lower()} and model.mixer.kind is "{mixer}"',
                "Set bare to true and the mixer to recurrent, or take states out",
            )
        return self

    @model_validator(mode="after")
    def _check_lexicon_is_tied(self) -> "ModelSettings":
        if self.start.lexicon and not self.tied:
            raise Refused(
                "model.start.lexicon needs a shared embedding table, but model.tied is false",
                "Set model.tied to true or model.start.lexicon to false",
            )
        return self

    @model_validator(mode="after")
    def _check_rotary_pairs(self) -> "ModelSettings":
        rotary = isinstance(self.position, RotarySettings)
        heads = self.mixer.heads if isinstance(self.mixer, AttentionSettings) else 1
        if rotary and (features := self.width // heads) % 2:
            raise Refused(
                'model.position.kind "rotary" rotates pairs of features, so model.width over '
                f"model.mixer.heads must be even; {self.width} / {heads} is {features}",
                f"The next width that fits is {heads * (features + 1)}",
            )
        return self
