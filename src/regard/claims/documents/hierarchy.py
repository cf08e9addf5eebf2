"""HAN: its size, its looks, and sentences that are read alone (D1 Q3)."""

from typing import Any

import torch
from torch import Tensor

from regard.claims.claim import Figure, Measured, claim
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

CONTEXTS: dict[str, dict[str, Any]] = {
    "HAN": {},
    "mean of earlier": {"context": "earlier"},
    "sum of earlier": {"context": "earlier", "gather": "sum"},
    "gated": {"context": "earlier", "gated": True},
    "both sides": {"context": "both"},
}
SENTENCES = ((11, 12, 13, 14), (15, 16), (17, 18, 19, 20, 21))


def settings(width: int, states: int, **documents: Any) -> ModelSettings:  # noqa: ANN401
    """Give the paper's shape: bare GRUs both ways, a look at words and one at sentences."""
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
        documents=DocumentSettings(read="sentences", **documents),
    )


@claim(
    numbers=(64,),
    source="D1 Q3; Yang et al. 2016, §3.3",
    statement="Word GRU, look at words, sentence GRU, look at sentences: a small model beside its "
    "table of words.",
    layer="models/han.py",
    reading="142,105 with the paper's sizes and five labels; a table of 50,000 words of 200 "
    "has 10M.",
    then='Set model.documents.read = "sentences" in a recipe.',
)
def han_size() -> Measured:
    """Build it with word vectors of 200, GRUs of 50 each way, attention of 100 and five labels."""
    with torch.device("meta"):
        model = hierarchy(settings(200, 100), 1000, 5)
    table = model.body.reading.table.numel()
    found = count_parameters(model) - table
    return Measured(
        f"{found:,} parameters beside the table of words",
        (Figure("parameters without the table", found, found == 142_105, given=142_105),),
    )


def _document() -> tuple[Tensor, Tensor]:
    row = [CLS]
    for sentence in SENTENCES:
        row += [*sentence, SEP]
    return torch.tensor([row]), torch.tensor([len(row)])


@claim(
    numbers=(64, 65),
    source="D1 Q3; Yang et al. 2016, eq. 5-9",
    statement="A document's looks can be drawn: each sentence's words share 1, and so do the "
    "sentences.",
    layer="models/han.py",
    reading="Sums of exactly one, nothing on padding: such coefficients can be shown as they are. "
    "Whether the answer rests on them is another question: documents-faithful.",
    then="`regard explain RUN TEXT` draws words by sentences.",
)
@exact()
def han_looks() -> Measured:
    """Read a document of three sentences, padded, and sum what its words and sentences get."""
    model = hierarchy(settings(16, 12), 31, 3).eval()
    ids, lengths = _document()
    padded = torch.cat([ids, torch.zeros(1, 5, dtype=torch.long)], dim=1)
    with listen(model, "word_weights", "head.pool.weights") as heard:
        logits = model(padded, lengths=lengths)
        plain = model(ids, lengths=lengths)
    words, sentences = heard["word_weights"][0], heard["head.pool.weights"][0].flatten()
    sums = (words.sum(dim=1) - 1).abs().max().item()
    whole = abs(sentences.sum().item() - 1)
    behind = max(words[place, len(one) :].sum().item() for place, one in enumerate(SENTENCES))
    gap = difference(logits, plain)
    return Measured(
        f"looks at words sum to 1 to {sums:.0e}, at sentences to {whole:.0e}; padding gets "
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
            "Where an untrained network looks: word times sentence",
        ),
    )


def _influence(model: Han) -> Tensor:
    """Say which sentence's vector feels the words of which."""
    ids, lengths = _document()
    entered: list[Tensor] = []

    def keep(_module: Embedding, _inputs: object, states: Tensor) -> Tensor:
        entered.append(states.detach().requires_grad_())
        return entered[-1]

    reading = model.body.reading
    hook = reading.register_forward_hook(keep)
    unfolded = unfold(ids, lengths, marks=model.marks)
    vectors = model.vectors(unfolded)
    hook.remove()
    # Sentences are read in groups, sorted by length: find each one's rows again.
    order = unfolded.lengths.argsort(stable=True).tolist()
    felt = torch.zeros(len(SENTENCES), len(SENTENCES))
    for vector in range(len(SENTENCES)):
        gradients = torch.autograd.grad(
            vectors[vector].square().sum(), entered, retain_graph=True, allow_unused=True
        )
        rows = [
            row
            for group, gradient in zip(entered, gradients, strict=True)
            for row in (torch.zeros_like(group) if gradient is None else gradient)
        ]
        for place, row in zip(order, rows, strict=True):
            felt[vector, place] = row.abs().sum()
    return felt


@claim(
    numbers=(66,),
    source="D1 Q3; Remy et al. 2019",
    statement="HAN encodes each sentence in isolation; the context-aware network does not.",
    layer="models/han.py",
    reading="Exactly 0: whatever the others say, a sentence's vector is the same. With "
    "context from "
    "before, three of the six ordered pairs are felt; from both sides all six.",
    then="reviews-need-context trains both where a sentence's meaning stands in another.",
)
@exact()
def han_isolation() -> Measured:
    """Take the Jacobian of each sentence's vector with respect to the words of every other.

    Three sentences; for HAN, for the context-aware network that hears earlier sentences, and for
    the one that hears both sides.
    """
    felt = {
        name: _influence(hierarchy(settings(16, 12, **documents), 31, 3).eval())
        for name, documents in {
            "HAN": {},
            "earlier": {"context": "earlier"},
            "both": {"context": "both"},
        }.items()
    }
    off = {name: found - found.diag().diag() for name, found in felt.items()}
    alone, before = off["HAN"].max().item(), int((off["earlier"] > 0).sum())
    both = int((off["both"] > 0).sum())
    return Measured(
        f"another sentence's words are felt by {alone:g} in HAN; {before} of 6 pairs are with "
        f"earlier context, {both} of 6 with both sides",
        (
            Figure("HAN: largest derivative into another sentence", alone, alone == 0.0),
            Figure("context-aware, earlier: pairs felt, of 6", before, before == 3),
            Figure("context-aware, both sides: pairs felt, of 6", both, both == 6),
        ),
        Picture(
            ["vector 1", "vector 2", "vector 3"],
            ["words 1", "words 2", "words 3"],
            (felt["both"] / felt["both"].max()).tolist(),
            "Context-aware: which vector feels which words",
        ),
    )


@claim(
    numbers=(67,),
    source="D1 Q3; Remy et al. 2019, §3",
    statement="With context, where a sentence is looked at depends on the sentences before it: by "
    "sum, by mean, or gated.",
    layer="layers/context.py",
    reading="0 in HAN. Every way of gathering context moves the look.",
    then="Set model.documents.context, gather and gated in a recipe.",
)
@exact()
def context_moves_the_look() -> Measured:
    """Read the same sentence in two documents that differ only in the sentence before.

    Looked at is the largest change of its word weights: HAN, context by mean, by sum, and gated.
    """
    ids, lengths = _document()
    other = ids.clone()
    other[0, 1] = 25  # the first word of the first sentence
    moved = {}
    for name, documents in CONTEXTS.items():
        model = hierarchy(settings(16, 12, **documents), 31, 3).eval()
        looks = []
        for row in (ids, other):
            with listen(model, "word_weights") as heard:
                model(row, lengths=lengths)
            looks.append(heard["word_weights"][0][2])
        moved[name] = difference(*looks)
    han = moved.pop("HAN")
    return Measured(
        f"the third sentence's look moves by {han:g} in HAN and by {min(moved.values()):.1g} or "
        "more with context",
        (Figure("HAN", han, han == 0.0), *tabulate("{}", moved, lambda change: change > 0.0)),
    )
