"""HAN: size, attention, and sentences encoded in isolation (D1 Q3)."""

import torch
from torch import Tensor

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.counters import count_parameters
from regard.claims.precision import difference, exact
from regard.claims.table import tabulate
from regard.draw.picture import Picture
from regard.layers.embedding import Embedding
from regard.layers.tap import listen
from regard.models.build.labels import hierarchy
from regard.models.han import Han, unfold
from regard.recipe.documents import DocumentSettings
from regard.recipe.head import HeadSettings
from regard.recipe.model import ModelSettings, NoPositionSettings, RecurrentSettings
from regard.text.special import CLS, SEP

CONTEXTS: dict[str, dict[str, object]] = {
    "HAN": {},
    "mean of earlier": {"context": "earlier"},
    "sum of earlier": {"context": "earlier", "gather": "sum"},
    "gated": {"context": "earlier", "gated": True},
    "both sides": {"context": "both"},
}
SENTENCES = ((11, 12, 13, 14), (15, 16), (17, 18, 19, 20, 21))


def settings(width: int, states: int, **documents: object) -> ModelSettings:
    """Give the paper's architecture: bidirectional GRUs, word attention, sentence attention."""
    return ModelSettings(
        width=width,
        states=states,
        depth=1,
        bare=True,
        dropout=0.0,
        scaled_embedding=False,
        mixer=RecurrentSettings(kind="recurrent", cell="gru"),
        position=NoPositionSettings(kind="none"),
        head=HeadSettings(pooling="attention"),
        documents=DocumentSettings.model_validate({"read": "sentences", **documents}),
    )


@claim(
    numbers=(64,),
    source="D1 Q3; Yang et al. 2016, §3.3",
    statement="Word GRU, word attention, sentence GRU, sentence attention: a small model apart "
    "from its embedding table.",
    layer="models/han.py",
    meaning="142,105 with the paper's sizes and five labels; a table of 50,000 words of 200 has "
    "10M.",
    next_step='Set model.documents.read = "sentences" in a recipe.',
)
def han_size() -> Measurement:
    """Build it with word vectors of 200, GRUs of 50 each way, attention of 100 and five labels."""
    with torch.device("meta"):
        model = hierarchy(settings(200, 100), 1000, 5)
    table = model.body.reading.table.numel()
    found = count_parameters(model) - table
    return Measurement(
        f"{found:,} parameters without the embedding table",
        (Figure("parameters without the table", found, found == 142_105, given=142_105),),
    )


def _make_document() -> tuple[Tensor, Tensor]:
    row = [CLS]
    for sentence in SENTENCES:
        row += [*sentence, SEP]
    return torch.tensor([row]), torch.tensor([len(row)])


@claim(
    numbers=(64, 65),
    source="D1 Q3; Yang et al. 2016, eq. 5-9",
    statement="A document's attention can be drawn: the weights of each sentence's words sum to "
    "1, and so do those of the sentences.",
    layer="models/han.py",
    meaning="Sums of exactly one, nothing on padding: the weights can be displayed as they are. "
    "Whether the answer depends on them is another question: documents-faithful.",
    next_step="`regard explain RUN TEXT` draws words by sentences.",
)
@exact()
def han_attention() -> Measurement:
    """Encode a document of three sentences, padded, and sum the weights of words and sentences."""
    model = hierarchy(settings(16, 12), 31, 3).eval()
    ids, lengths = _make_document()
    padded = torch.cat([ids, torch.zeros(1, 5, dtype=torch.long)], dim=1)
    with listen(model, "word_weights", "head.pool.weights") as recorded:
        logits = model(padded, lengths=lengths)
        plain = model(ids, lengths=lengths)
    words, sentences = recorded["word_weights"][0], recorded["head.pool.weights"][0].flatten()
    sums = (words.sum(dim=1) - 1).abs().max().item()
    whole = abs(sentences.sum().item() - 1)
    behind = max(words[index, len(one) :].sum().item() for index, one in enumerate(SENTENCES))
    gap = difference(logits, plain)
    return Measurement(
        f"word weights sum to 1 to {sums:.0e}, sentence weights to {whole:.0e}; padding gets "
        f"{behind:g}",
        (
            Figure("words: error of the sum", sums, sums < 1e-12),
            Figure("sentences: error of the sum", whole, whole < 1e-12),
            Figure("weight on padding", behind, behind == 0.0),
            Figure("logits with and without padding", gap, gap < 1e-12),
        ),
        Picture(
            ["first", "second", "third"],
            [f"word {place + 1}" for place in range(words.shape[1])],
            (words * sentences[:, None]).tolist(),
            "Attention of an untrained network: word times sentence",
        ),
    )


def _measure_influence(model: Han) -> Tensor:
    """Give the size of the gradient of each sentence's vector into the words of every sentence."""
    ids, lengths = _make_document()
    inputs: list[Tensor] = []

    def keep(_module: Embedding, _arguments: object, states: Tensor) -> Tensor:
        inputs.append(states.detach().requires_grad_())
        return inputs[-1]

    reading = model.body.reading
    hook = reading.register_forward_hook(keep)
    unfolded = unfold(ids, lengths, separators=model.separators)
    vectors = model.vectors(unfolded)
    hook.remove()
    # Sentences are encoded in groups, sorted by length: restore the order of the rows.
    order = unfolded.lengths.argsort(stable=True).tolist()
    influence = torch.zeros(len(SENTENCES), len(SENTENCES))
    for vector in range(len(SENTENCES)):
        gradients = torch.autograd.grad(
            vectors[vector].square().sum(), inputs, retain_graph=True, allow_unused=True
        )
        rows = [
            row
            for group, gradient in zip(inputs, gradients, strict=True)
            for row in (torch.zeros_like(group) if gradient is None else gradient)
        ]
        for place, row in zip(order, rows, strict=True):
            influence[vector, place] = row.abs().sum()
    return influence


@claim(
    numbers=(66,),
    source="D1 Q3; Remy et al. 2019",
    statement="HAN encodes each sentence in isolation; the context-aware network does not.",
    layer="models/han.py",
    meaning="Exactly 0: a sentence's vector does not depend on the others. With preceding context "
    "three of the six ordered pairs depend on each other; with context from both sides all six.",
    next_step="reviews-need-context trains both where a sentence's meaning depends on another.",
)
@exact()
def han_isolation() -> Measurement:
    """Take the Jacobian of each sentence's vector with respect to the words of every other.

    Three sentences; for HAN, for the context-aware network with preceding sentences, and for the
    one with both sides.
    """
    influence = {
        name: _measure_influence(hierarchy(settings(16, 12, **documents), 31, 3).eval())
        for name, documents in {
            "HAN": {},
            "earlier": {"context": "earlier"},
            "both": {"context": "both"},
        }.items()
    }
    off = {name: found - found.diag().diag() for name, found in influence.items()}
    isolated, preceding = off["HAN"].max().item(), int((off["earlier"] > 0).sum())
    both = int((off["both"] > 0).sum())
    return Measurement(
        f"gradient into other sentences {isolated:g} in HAN; {preceding} of 6 pairs depend with "
        f"preceding context, {both} of 6 with both sides",
        (
            Figure("HAN: largest derivative into another sentence", isolated, isolated == 0.0),
            Figure("context-aware, preceding: dependent pairs, of 6", preceding, preceding == 3),
            Figure("context-aware, both sides: dependent pairs, of 6", both, both == 6),
        ),
        Picture(
            ["vector 1", "vector 2", "vector 3"],
            ["words 1", "words 2", "words 3"],
            (influence["both"] / influence["both"].max()).tolist(),
            "Context-aware: gradient of each vector into words",
        ),
    )


@claim(
    numbers=(67,),
    source="D1 Q3; Remy et al. 2019, §3",
    statement="With context, the attention within a sentence depends on the preceding sentences: "
    "by sum, by mean, or gated.",
    layer="layers/context.py",
    meaning="0 in HAN. Every way of gathering context changes the attention.",
    next_step="Set model.documents.context, gather and gated in a recipe.",
)
@exact()
def context_changes_attention() -> Measurement:
    """Encode the same sentence in two documents that differ only in the preceding sentence.

    Measurement is the largest change of its word weights: HAN, context by mean, by sum, and gated.
    """
    ids, lengths = _make_document()
    other = ids.clone()
    other[0, 1] = 25  # the first word of the first sentence
    moved = {}
    for name, documents in CONTEXTS.items():
        model = hierarchy(settings(16, 12, **documents), 31, 3).eval()
        weights = []
        for row in (ids, other):
            with listen(model, "word_weights") as recorded:
                model(row, lengths=lengths)
            weights.append(recorded["word_weights"][0][2])
        moved[name] = difference(*weights)
    han = moved.pop("HAN")
    return Measurement(
        f"attention in the third sentence changes by {han:g} in HAN, by "
        f"{min(moved.values()):.1g} or more with context",
        (Figure("HAN", han, han == 0.0), *tabulate("{}", moved, lambda change: change > 0.0)),
    )
