"""From a recipe to its ledger: what runs in one step of its task, and in which order."""

from collections.abc import Callable

from regard.account.blocks import bare_stack, embedding, stack
from regard.account.documents import hierarchy, pointer
from regard.account.facts import Facts, Load
from regard.account.heads import (
    label_head,
    label_logits,
    light_decoder,
    pair_head,
    replaced_head,
    token_head,
)
from regard.account.ledger import FLOAT, Entry, Ledger, Seq, again, renamed
from regard.errors import UsageError
from regard.recipe.model import ModelSettings
from regard.recipe.recipe import ENCODER_DECODERS, Recipe
from regard.recipe.scaled_settings import generator_of, light_decoder_of


def refuse_unplanned(recipe: Recipe) -> None:
    """Say so where a task has no account."""
    if recipe.task not in PLANS:
        raise UsageError(
            f'the account of task "{recipe.task}" is not written yet.',
            f"Tasks with an account: {', '.join(PLANS)}.",
        )


def ledger_of(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Enter everything that one shard of a training step does."""
    refuse_unplanned(recipe)
    entries = PLANS[recipe.task](recipe, facts, load)
    start = recipe.model.start
    if start.freeze and start.unfreeze_after is None and start.carry == "body":
        entries = [_frozen(entry) if entry.body else entry for entry in entries]
    training = recipe.training
    if (training.consistency or training.adversarial) and recipe.task in PASSES_TWICE:
        first = [_sloped(entry) if training.adversarial else entry for entry in entries]
        entries = [*again(first), *entries]  # the way back meets the second pass first
    return entries


def _sloped(entry: Entry) -> Entry:
    """Book the way back to what entered, which says where to push; matrices are left alone.

    Scores are products of states on either side, and a norm's kernel does not ask what is wanted.
    """
    whole = entry.part in ("scores", "norms")
    return entry._replace(again=entry.again + (entry.macs_back if whole else entry.macs))


def _translation(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    model = recipe.model
    source, target = load.seq, Seq(load.rows, load.written)
    context = FLOAT * source.tokens * model.width
    writing = embedding(model, facts.vocabulary, target)
    if model.tied:
        writing = [entry._replace(parameters=0) for entry in writing]
    copying = pointer(model.width, target, source) if model.copying else []
    return [
        *embedding(model, facts.vocabulary, source),
        *stack(model, model.depth, source, causal=False),
        Entry("context", saved=context),
        *writing,
        *stack(model, model.decoder_depth, target, causal=True, context=source),
        *copying,
        *token_head(recipe, model, facts, load.asked or target.tokens),
    ]


def _language_modelling(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    model = recipe.model
    return [
        *_body(model, facts, load.seq, causal=True),
        *token_head(recipe, model, facts, load.seq.tokens, told=load.told),
    ]


def _labelled(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    model = recipe.model
    if model.documents.read == "sentences":
        told = label_logits(model.ends_in, facts.labels, load.rows)
        return [*hierarchy(model, facts, load), told]
    return [
        *_body(model, facts, load.seq, causal=bool(model.causal)),
        *label_head(model, facts.labels, load.seq),
    ]


def _document_pretraining(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Every word is a label of the text."""
    return _labelled(recipe, facts._replace(labels=facts.vocabulary), load)


def _retrieval(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    """Texts that ask and texts that answer pass the same body, then meet."""
    model = recipe.model
    passed = [_one_side(recipe, facts, seq) for seq in (load.asking, load.seq)]
    wide = 2 * model.width if model.head.pooling == "mean-max" else model.ends_in
    # What answers is passed last, so the way back meets it first: there gradients appear.
    likeness = Entry("likeness", 0, load.asking.rows * load.rows * wide, body=False)
    return [*again(passed[0]), *passed[1], likeness]


def _one_side(recipe: Recipe, facts: Facts, seq: Seq) -> Ledger:
    model, settings = recipe.model, recipe.retrieval
    passed = _body(model, facts, seq, causal=bool(model.causal))
    if settings.term_weights == "even":
        return [*passed, *label_head(model, 0, seq)]
    return [*passed, _weighted(facts, model, seq, learns=settings.term_weights == "learned")]


def _weighted(facts: Facts, model: ModelSettings, seq: Seq, *, learns: bool) -> Entry:
    """Book a mean in which every token has a number of its own."""
    macs, saved = seq.tokens * model.width, FLOAT * seq.tokens * model.width
    entry = Entry("pooling", facts.vocabulary, macs, saved=saved, body=False, learns=learns)
    return entry if learns else entry._replace(back=macs)


def _masked_pretraining(recipe: Recipe, facts: Facts, load: Load) -> Ledger:
    model, settings = recipe.model, recipe.pretraining
    pairs = pair_head(model, load.seq) if settings.pairs != "none" else []
    whole = facts._replace(written=facts.vocabulary)
    if settings.objective == "replaced":
        small = generator_of(model, settings)
        proposing = [
            *_body(small, whole, load.seq, causal=False),
            *token_head(recipe, small, whole, load.asked, drawn=True),
        ]
        body = _body(model, whole, load.seq, causal=False)
        head = replaced_head(model, load.seq)
        return [*renamed(proposing, "generator", body=False), *body, *head, *pairs]
    if settings.objective == "autoencoder":
        light = light_decoder_of(model, settings)
        seen = Seq(load.rows, load.kept)
        decoder = light_decoder(model, light, seen, load.seq)
        body = _body(model, whole, seen, causal=False)
        return [*body, *decoder, *token_head(recipe, model, whole, load.asked)]
    body = _body(model, whole, load.seq, causal=False)
    return [*body, *token_head(recipe, model, whole, load.asked), *pairs]


def _body(model: ModelSettings, facts: Facts, seq: Seq, *, causal: bool) -> Ledger:
    read = bare_stack if model.bare else stack
    return [
        *embedding(model, facts.vocabulary, seq),
        *read(model, model.depth, seq, causal=causal),
    ]


def _frozen(entry: Entry) -> Entry:
    return entry._replace(back=0, saved=0, passing=0, matrices=(), learns=False)


PASSES_TWICE = (*ENCODER_DECODERS, "classification", "sentence-pair")
"""Tasks whose passes can be drawn together (R-Drop)."""
PLANS: dict[str, Callable[[Recipe, Facts, Load], Ledger]] = {
    "translation": _translation,
    "language-modelling": _language_modelling,
    "masked-pretraining": _masked_pretraining,
    "document-pretraining": _document_pretraining,
    "classification": _labelled,
    "sentence-pair": _labelled,
    "summarization": _translation,
    "denoising": _translation,
    "retrieval": _retrieval,
}
